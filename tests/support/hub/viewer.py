"""What the Hub makes of a dataset's parquet: Croissant metadata, and the dataset viewer's answers.

On the real Hub the viewer has an origin of its own (``datasets-server``). Here both are computed
from the files that the card's ``configs`` name, as there.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from support.hub.site import Context, Route
from support.hub.store import Commit, HubError
from support.hub.wire import Answer, json_answer

#: The first rows that are shown, and what a row may have in bytes of JSON.
_FIRST, _MOST = 100, 2_000_000
#: Arrow types and the data types of Croissant.
_TYPES = {"string": "sc:Text", "bool": "sc:Boolean"}


class _File(NamedTuple):
    config: str
    split: str
    path: str
    content: bytes

    @property
    def metadata(self) -> Any:
        return pq.read_metadata(io.BytesIO(self.content))


def _files(commit: Commit) -> Iterator[_File]:
    block = commit.files["README.md"].data.decode().split("---\n")[1]
    for config in yaml.safe_load(block)["configs"]:
        for entry in config["data_files"]:
            for path, blob in sorted(commit.files.items()):
                if fnmatch(path, entry["path"]):
                    yield _File(config["config_name"], entry["split"], path, blob.data)


def _asked(context: Context) -> Commit:
    names = context.call.query.get("dataset", [""])
    repo = context.site.repos.get(names[0])
    if repo is None or repo.private:
        raise HubError(404, "The dataset does not exist, or is not accessible")
    return repo.resolve("main")


def size(context: Context) -> Answer:
    """Rows, columns and bytes of every split."""
    splits = [
        {
            "dataset": context.call.query["dataset"][0],
            "config": file.config,
            "split": file.split,
            "num_bytes_parquet_files": len(file.content),
            "num_rows": file.metadata.num_rows,
            "num_columns": len(file.metadata.schema.to_arrow_schema().names),
        }
        for file in _files(_asked(context))
    ]
    total = {
        key: sum(one[key] for one in splits) for key in ("num_rows", "num_bytes_parquet_files")
    }
    return json_answer({"size": {"dataset": total, "splits": splits}, "partial": False})


def first_rows(context: Context) -> Answer:
    """Features and the first rows of a split, read by the page index alone."""
    wanted = tuple(context.call.query[name][0] for name in ("config", "split"))
    found = [file for file in _files(_asked(context)) if (file.config, file.split) == wanted]
    if not found:
        raise HubError(404, "The split does not exist")
    table = pa.concat_tables(pq.read_table(io.BytesIO(file.content)) for file in found)
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    rows = table.slice(0, _FIRST).to_pylist()
    if any(len(json.dumps(row)) > _MOST for row in rows):
        raise HubError(501, "Rows are too big to be shown")
    for file in found:
        column = file.metadata.row_group(0).column(0)
        if not column.has_offset_index:
            raise HubError(501, "The parquet has no page index")
    return json_answer(
        {
            "features": [{"name": name, "type": of} for name, of in features.items()],
            "rows": [
                {"row_idx": n, "row": row, "truncated_cells": []} for n, row in enumerate(rows)
            ],
            "truncated": table.num_rows > _FIRST,
        }
    )


def croissant(context: Context) -> Answer:
    """JSON-LD: a file set and a record set for each config."""
    files = list(_files(context.repo.resolve("main")))
    configs = dict.fromkeys(file.config for file in files)
    schemas = {file.config: file.metadata.schema.to_arrow_schema() for file in files}
    return json_answer(
        {
            "@type": "sc:Dataset",
            "conformsTo": "http://mlcommons.org/croissant/1.1",
            "name": context.args["id"].replace("/", "_"),
            "url": f"{context.site.url}/datasets/{context.args['id']}",
            "distribution": [
                {
                    "@type": "cr:FileSet",
                    "@id": f"parquet-files-for-config-{config}",
                    "encodingFormat": "application/x-parquet",
                    "includes": f"{config}/*/*.parquet",
                }
                for config in configs
            ],
            "recordSet": [
                {
                    "@type": "cr:RecordSet",
                    "@id": config,
                    "field": [
                        {
                            "@id": f"{config}/{field.name}",
                            "dataType": _TYPES.get(str(field.type), "cr:Json"),
                        }
                        for field in schemas[config]
                    ],
                }
                for config in configs
            ],
        }
    )


ROUTES = [
    Route("GET", "/api/datasets/{id}/croissant", croissant),
    Route("GET", "/size", size),
    Route("GET", "/first-rows", first_rows),
]
