"""The documents of a release, which are rendered from its manifest alone."""

from __future__ import annotations

from coherencegym.builders.release.manifest import Manifest, dump_manifest
from coherencegym.cards.render import dataset_card
from coherencegym.eval.data.benchmark import EVAL_YAML, eval_yaml

#: Their names.
RELEASE_DOCUMENTS = ("manifest.json", "README.md", EVAL_YAML)


def release_documents(manifest: Manifest) -> dict[str, str]:
    """Name -> text: manifest, card, and ``eval.yaml`` where there is a task."""
    texts = (dump_manifest(manifest), dataset_card(manifest), eval_yaml(manifest))
    return {name: text for name, text in zip(RELEASE_DOCUMENTS, texts, strict=True) if text}
