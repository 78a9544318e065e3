"""The table kind ``items``: minimal pairs and sets, of which a model's surprisal is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coherencegym.eval.kinds.items import Item, item_from_row, item_to_row, validate_item
from coherencegym.eval.kinds.predictions import check_predictions
from coherencegym.eval.kinds.table_kind import Column, Row, TableKind, of_modest_length

#: Characters that a condition of a card's example has at most, where there is such an item.
MODEST = 450

_REGION = {"region_number": "int32", "content": "string"}
_CONDITION = {"condition_name": "string", "content": "string", "regions": [_REGION]}
_PREDICTION = {"formula": "string", "metric": "string", "groups": ["string"]}
_EDIT = {
    "condition_name": "string",
    "operator": "string",
    "unit": "int32",
    "start": "int32",
    "before": "string",
    "after": "string",
    "source_discourse": "string",
    "source_unit": "int32",
}


def read_item(row: Row) -> Item:
    """An item whose regions stand in its texts and whose formulas can be read.

    Raises:
        SuiteError: the row is none.
        EvaluationError: a formula cannot be read, or asks for what the item does not have.
    """
    item = item_from_row(row)
    validate_item(item)
    check_predictions(item)
    return item


def _texts(item: Item) -> Iterator[str]:
    return (condition.content for condition in item.conditions)


def _example(rows: Sequence[Row]) -> Row:
    return of_modest_length(
        rows, lambda row: max(len(each["content"]) for each in row["conditions"]), MODEST
    )


ITEMS = TableKind(
    name="items",
    row="an item: two or more versions of one text (conditions), cut into numbered regions, and "
    "one or more predictions about them. A prediction is met if the model's surprisal (bits) is "
    "higher in the region of the incoherent condition, as its formula says. The share of items "
    "whose prediction is met is the CD score (Beyer et al. 2021); chance is 50 %.",
    columns={
        "item_id": Column("string", "`<discourse id>/<variant>`, unique in its config and split"),
        "item_number": Column("int32", "from 1"),
        "conditions": Column(
            [_CONDITION],
            "`condition_name`, `content` (the exact text), `regions` (`region_number`, `content`)",
        ),
        "predictions": Column(
            [_PREDICTION], "`formula` (SyntaxGym's language), `metric`, `groups`"
        ),
        "discourse_id": Column("string", "the document that the row was made from"),
        "corpus": Column("string", "the corpus of that document"),
        "edits": Column(
            [_EDIT], "what was changed, in which condition, and what stood there before"
        ),
    },
    mark="predictions",
    from_row=read_item,
    to_row=item_to_row,
    texts=_texts,
    example=_example,
    task="score",
    command="python -m eval",
    ask="Score a causal language model on it",
)
