#!/usr/bin/env bash
# coreference 0.0.3
#
# LEA (Moosavi and Strube 2016) gives an entity with one mention a link to itself, so that it
# counts as long as it is found.
# Expected: a perfect answer has an F1 of 1, whatever the entities; an entity that is found
#   raises LEA.
# Seen: entities with one mention are left out of both sides. Perfect answers for documents of
#   them alone have an F1 of 0, and wrong ones cost nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q coreference==0.0.3 scipy numpy
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
from coreference.evaluation import OfficialCoNLL2012CorefEvaluator


def lea(answer: list[list[int]], gold: list[list[int]]) -> float:
    def entity_of(entities: list[list[int]]) -> dict[int, int]:
        return {mention: number for number, entity in enumerate(entities) for mention in entity}

    evaluator = OfficialCoNLL2012CorefEvaluator()
    evaluator.update(answer, gold, entity_of(answer), entity_of(gold))
    return evaluator.get_f1("lea")


pair = [[1, 2]]
perfect, alone = lea(pair, pair), lea([[1], [2]], [[1], [2]])
missed, spurious = lea(pair, [*pair, [3]]), lea([*pair, [3], [4]], pair)
print("perfect", perfect, "one mention each", alone, "one missed", missed, "two invented", spurious)
assert (perfect, alone, missed, spurious) == (1.0, 0, 1.0, 1.0)
PY
