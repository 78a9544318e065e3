"""What all tests share: no network, one torch thread, hypothesis without deadlines."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

# Before any Hub client is imported: no test may reach the real Hub, whatever it does.
os.environ.setdefault("HF_HUB_OFFLINE", "0")
os.environ.setdefault("HF_ENDPOINT", "http://127.0.0.1:9")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("HF_HUB_DISABLE_XET", "1")
os.environ.setdefault("HF_UPDATE_DOWNLOAD_COUNTS", "0")
# Nor may one read or write what a user keeps.
os.environ["COHERENCEGYM_CACHE"] = tempfile.mkdtemp(prefix="coherencegym-test-")
atexit.register(shutil.rmtree, os.environ["COHERENCEGYM_CACHE"], ignore_errors=True)
os.environ["COHERENCEGYM_MIRROR"] = "http://127.0.0.1:9"  # nor the origin of a corpus
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
for secret in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "COHERENCEGYM_DATA"):
    os.environ.pop(secret, None)

# A shell that runs tests in the background ignores Ctrl-C, and so would the commands under test.
signal.signal(signal.SIGINT, signal.default_int_handler)

# As rarely as in a command.
gc.set_threshold(200_000, 20, 20)

# Rewriting the assertions of all tests takes each process ten seconds; what was rewritten is kept,
# as is what the commands under test compile, also for who asks Python not to.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from coherencegym.loaders.discourse import Discourse

# A run of all tests has to be quick; `COHERENCEGYM_EXAMPLES=1000` looks further.
settings.register_profile(
    "project",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    max_examples=int(os.environ.get("COHERENCEGYM_EXAMPLES", "25")),
)
settings.load_profile("project")

REPOSITORY = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take ``--write-digests``: tests/test_digests.py then writes down what it finds."""
    parser.addoption("--write-digests", action="store_true")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real corpora and models beside the checkout; skips where it is missing."""
    folder = Path(os.environ.get("COHERENCEGYM_SHARED", REPOSITORY.parent / "shared"))
    if not (folder / "corpora").is_dir():
        pytest.skip("the folder of real corpora (../shared) is not there")
    return folder


@pytest.fixture(scope="session")
def real_gum(shared: Path) -> list[Discourse]:
    """The documents of GUM, which take seconds to read."""
    from coherencegym.loaders.read import read
    from coherencegym.loaders.registry import corpus

    return list(read(corpus("gum"), data_dir=shared / "corpora"))


@pytest.fixture(scope="session")
def real_build(
    shared: Path, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Callable[[str, str], Path]:
    """``real_build(suite, corpus)``: a build of a real corpus, without artefact scores.

    It is made once, for all tests and all processes that run them; nobody writes into it.
    """
    from filelock import FileLock

    from coherencegym.builders.making.build import BuildOptions, build
    from coherencegym.builders.making.sources import find_sources
    from coherencegym.builders.registry import load_suite
    from coherencegym.builders.release import quality

    temporary = tmp_path_factory.getbasetemp()
    root = (temporary if worker_id == "master" else temporary.parent) / "real"
    root.mkdir(exist_ok=True)

    def make(suite: str, corpus: str) -> Path:
        data = shared / "corpora" / corpus
        if not data.is_dir():
            pytest.skip(f"the files of {corpus} are not there")
        folder = root / f"{suite}-{corpus}"
        with FileLock(f"{folder}.lock"), pytest.MonkeyPatch.context() as patched:
            if not (folder / "manifest.json").is_file():
                # The classifiers take most of the time, and change no row.
                patched.setattr(quality, "FEWEST_DISCOURSES", 10**9)
                patched.setattr(quality, "FEWEST_INTRUDED", 10**9)
                folder.mkdir()
                declared = load_suite(suite)
                sources = find_sources(declared, (corpus,), data)
                build(declared, sources, BuildOptions(data_dir=data), folder)
        return folder

    return make


#: Modules with a test that starts processes, trains models or reads whole corpora (measured: two
#: seconds and more), that with the longest test first. They come last, so that a broken line shows
#: within seconds; and at the very end no process waits long for another's last test.
SLOW = (
    "test_digests",
    "test_gpu_benchmark",
    "test_benchmarks",
    "test_journey",
    "test_matched_orders",
    "test_antecedents",
    "test_train_detector",
    "test_discourse_relations",
    "test_docs",
    "test_implicit_relations",
    "test_export_babylm",
    "test_judgement_command",
    "test_distributed",
    "test_library_docs",
    "test_export_syntaxgym",
    "test_vllm",
    "test_intruder_sentences",
    "test_command",
    "test_discourse_windows",
    "test_builders_cli",
    "test_train_spans",
    "test_pdtb",
    "test_gum",
    "test_checkpoints",
    "test_discoeval",
    "test_same_document",
    "test_correlate",
    "test_architecture",
    "test_board_site",
    "test_saved",
    "test_publish",
    "test_detect_command",
    "test_judgement_sheet",
    "test_coreference",
    "test_masked_command",
    "test_wheel",
    "test_compare_page",
    "test_html_browser",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the slow modules behind the quick ones; the rest keeps its order."""
    place = {name: number for number, name in enumerate(SLOW, start=1)}
    items.sort(key=lambda item: place.get(item.path.stem, 0))


def pytest_collection_finish() -> None:
    """Keep the garbage collector from what stays until the end: a million objects of libraries."""
    gc.collect()
    gc.freeze()


#: What is loaded once a test needs it, and is as large.
_HEAVY = {"datasets", "matplotlib.figure", "sklearn.linear_model", "spacy", "torch", "transformers"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, None, None]:
    """Keep the garbage collector from libraries that this test was the first to load, too."""
    yield
    # Not `intersection`, which goes through all the modules that there are, after every test.
    if loaded := {name for name in _HEAVY if name in sys.modules}:
        _HEAVY.difference_update(loaded)
        pytest_collection_finish()
