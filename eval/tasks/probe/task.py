"""Ask which layers of a model know the labels of examples.

Every segment of text becomes a vector a layer; a classifier of them is trained for each layer on
``train``, and ``validation`` chooses penalty and layer. Beside the accuracy on test stand baselines
that need no model, or no training of it (Hewitt and Liang 2019).
"""

from __future__ import annotations

from typing import Any

from coherencegym.eval.tasks.probe import results
from coherencegym.eval.tasks.probe.data import ProbeTable, probe_table_of, read_probe_tables
from coherencegym.eval.tasks.probe.options import COMMAND, check_probe
from coherencegym.eval.tasks.probe.probe import Probed, settled
from coherencegym.eval.tasks.probe.report import probe_sections
from coherencegym.eval.tasks.probe.results import (
    ANY_SENSE,
    FIRST_OF_SENSES,
    LABELS_FILE,
    LAYERS_FILE,
    label_rows,
    layer_rows,
    write_probe_files,
)
from coherencegym.eval.tasks.results import rows_in_folder
from coherencegym.eval.tasks.task import Task


def facts(table: ProbeTable, detail: Probed) -> dict[str, Any]:
    """The number of rows left out, by reason: without vectors, or of a label not trained on."""
    left_out = dict(results.left_out_of(detail))
    return {"left_out": left_out | ({"label": table.other_labels} if table.other_labels else {})}


TASK = Task(
    command=COMMAND,
    metrics=(ANY_SENSE, FIRST_OF_SENSES),
    run=results.probe_table,
    names=lambda configs, options: [
        *configs,
        *[options.train_on] * bool(configs and options.train_on),
    ],
    inputs=lambda source, configs, split, most, options: read_probe_tables(
        source, configs, split, most, options.train_on
    ),
    given=lambda rows, split, options: probe_table_of(rows, split, options.train_on),
    table=lambda one: one.table,
    digests=lambda one: one.digests,
    check=check_probe,
    settle=settled,
    summary=results.probe_figures,
    headline=results.probe_headline,
    sections=probe_sections,
    notes=results.probe_notes,
    facts=facts,
    more=lambda found: {"probes": found.summary},
    files=write_probe_files,
    frames={
        "layers": lambda found: rows_in_folder(found, LAYERS_FILE) or layer_rows(found),
        "predictions": lambda found: (
            rows_in_folder(found, LABELS_FILE) or label_rows(found.details)
        ),
    },
)
