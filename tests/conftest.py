"""What all tests share: no network, one torch thread, hypothesis without deadlines."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Before any Hub client is imported: no test may reach the real Hub, whatever it does.
os.environ.setdefault("HF_HUB_OFFLINE", "0")
os.environ.setdefault("HF_ENDPOINT", "http://127.0.0.1:9")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("HF_HUB_DISABLE_XET", "1")
os.environ.setdefault("HF_UPDATE_DOWNLOAD_COUNTS", "0")
# Nor may one read or write what a user keeps.
os.environ["COHERENCEGYM_CACHE"] = tempfile.mkdtemp(prefix="coherencegym-test-")
atexit.register(shutil.rmtree, os.environ["COHERENCEGYM_CACHE"], ignore_errors=True)
os.environ["COHERENCEGYM_MIRROR"] = "http://127.0.0.1:9"  # nor the source of a corpus
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
for secret in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "COHERENCEGYM_DATA"):
    os.environ.pop(secret, None)

# A shell that runs tests in the background ignores Ctrl-C, as `nohup` does the end of a terminal,
# and so would the commands under test.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# As rarely as in a command.
gc.set_threshold(200_000, 20, 20)

# Rewriting the assertions of all tests takes each process ten seconds; what was rewritten is kept,
# as is what the commands under test compile, also for who asks Python not to.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import pytest
from hypothesis import settings
from support.sketches import drawn, saving, sketch

if TYPE_CHECKING:
    from support.suites import Sample

    from coherencegym.loaders.discourse import Discourse
    from coherencegym.loaders.read import Reading

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
    """Take ``--write-digests`` and ``--write-goldens``: their tests write down what they find."""
    parser.addoption("--write-digests", action="store_true")
    parser.addoption("--write-goldens", action="store_true")
    parser.addoption("--exact", action="store_true", help="goldens: equal to the last digit")


@pytest.fixture(scope="session", autouse=True)
def sketches() -> Iterator[None]:
    """Of a figure only its texts and points are written, where a test does not look at it."""
    with saving(sketch):
        yield


@pytest.fixture
def real_figures() -> Iterator[None]:
    """Figures as they are."""
    with drawn():
        yield


@pytest.fixture(scope="session")
def demo_models() -> Iterator[dict[str, Any]]:
    """What was read of the demo model, by how it was asked for; nobody has changed its weights."""
    import torch

    kept: dict[str, Any] = {}
    yield kept
    for model, before in (value for key, value in kept.items() if key.startswith("_weights")):
        after = model.state_dict()
        assert all(torch.equal(weights, after[name]) for name, weights in before.items())


@pytest.fixture(scope="module")
def demo_once(demo_models: dict[str, Any]) -> Iterator[None]:
    """In a module the files of the demo model are read once a process."""
    from coherencegym.eval.models import adapters, load

    def once(read: Callable[..., Any]) -> Callable[..., Any]:
        def remembered(of: Any, *how: Any, **more: Any) -> Any:
            if getattr(of, "name", of) != "demo":
                return read(of, *how, **more)
            key = f"{read.__name__} {how} {more}"
            if key not in demo_models:
                found = read(of, *how, **more)
                before = {}
                if read is load_weights:
                    before = {k: v.clone() for k, v in found.state_dict().items()}
                demo_models[key] = found, before
            return demo_models[key][0]

        return remembered

    load_weights, adapted = load._weights, adapters.with_adapter
    with pytest.MonkeyPatch.context() as patched:
        for read in (load._read, load_weights):
            patched.setattr(load, read.__name__, once(read))
        # An adapter changes the layers in place.
        patched.setattr(load, "with_adapter", lambda model, *how: adapted(deepcopy(model), *how))
        yield


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
def gum_once() -> Callable[[pytest.MonkeyPatch], None]:
    """``gum_once(patched)``: where that holds, GUM, which takes seconds, is read once a process."""
    from coherencegym.loaders.read import Reading

    iterate = Reading.__iter__
    kept: dict[Any, tuple[list[Discourse], Counter[str]]] = {}

    def each(reading: Reading) -> Iterator[Discourse]:
        if reading.corpus.name != "gum":
            yield from iterate(reading)
            return
        key = reading.corpus.reader, reading.found.files, reading.skip_bad_rows, reading.limit
        if key not in kept:
            kept[key] = list(iterate(reading)), Counter(reading.skipped)
        found, skipped = kept[key]
        reading.skipped.clear()
        reading.skipped.update(skipped)
        yield from found

    return lambda patched: patched.setattr(Reading, "__iter__", each)


@pytest.fixture(scope="session")
def real_corpus(
    shared: Path, gum_once: Callable[[pytest.MonkeyPatch], None]
) -> Callable[[str], tuple[Reading, list[Discourse]]]:
    """``real_corpus(name)``: a corpus in all the splits that are there, read once a process."""
    from coherencegym.loaders.read import read
    from coherencegym.loaders.registry import corpus

    @cache
    def found(name: str) -> tuple[Reading, list[Discourse]]:
        with pytest.MonkeyPatch.context() as patched:
            gum_once(patched)
            own = corpus(name)
            reading = read(own, data_dir=shared / "corpora", splits=own.splits)
            return reading, list(reading)

    return found


@pytest.fixture(scope="session")
def real_gum(real_corpus: Callable[[str], tuple[Reading, list[Discourse]]]) -> list[Discourse]:
    """The documents of GUM."""
    return real_corpus("gum")[1]


@pytest.fixture(scope="session")
def made_once(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, Callable[[Path], object]], Path]:
    """``made_once(name, make)``: the folder of that name, which ``make`` was given to fill.

    It is made once, for all tests and all processes that run them; nobody writes into it.
    """
    from filelock import FileLock

    temporary = tmp_path_factory.getbasetemp()
    # With xdist each process has a folder of its own in that of the run.
    root = (temporary.parent if "PYTEST_XDIST_WORKER" in os.environ else temporary) / "once"
    root.mkdir(exist_ok=True)

    def once(name: str, make: Callable[[Path], object]) -> Path:
        folder = root / name
        with FileLock(f"{folder}.lock"):
            if not (folder / "manifest.json").is_file():
                folder.mkdir()
                make(folder)
        return folder

    return once


@pytest.fixture(scope="session")
def real_build(
    shared: Path,
    made_once: Callable[[str, Callable[[Path], object]], Path],
    gum_once: Callable[[pytest.MonkeyPatch], None],
) -> Callable[[str, str], Path]:
    """``real_build(suite, corpus)``: a build of a real corpus, without partial-input baselines."""
    from support.suites import build_from, no_classifiers

    from coherencegym.builders.registry import load_suite

    def make(suite: str, corpus: str) -> Path:
        data = shared / "corpora" / corpus
        if not data.is_dir():
            pytest.skip(f"the files of {corpus} are not there")

        def fill(folder: Path) -> None:
            with pytest.MonkeyPatch.context() as patched:
                no_classifiers(patched)
                gum_once(patched)
                # Half of DiscoEval's rows at hand are training data.
                splits = ("validation", "test") if corpus == "discoeval" else ()
                build_from(load_suite(suite), corpus, folder, data_dir=data, splits=splits)

        return made_once(f"{suite}-{corpus}", fill)

    return make


@pytest.fixture(scope="session")
def built_sample(
    made_once: Callable[[str, Callable[[Path], object]], Path],
) -> Sample:
    """``built_sample(suite)``: a build of its sample as a user makes it, and the manifest."""
    from support.suites import build_from

    from coherencegym.builders.registry import load_suite
    from coherencegym.eval.data.source import read_manifest

    def make(suite: str) -> tuple[Path, dict[str, Any]]:
        folder = made_once(
            f"{suite}-sample", lambda folder: build_from(load_suite(suite), "sample", folder)
        )
        return folder, dict(read_manifest(folder / "manifest.json"))

    return make


#: Modules with a test that starts processes, trains models or reads whole corpora (measured: two
#: seconds and more), that with the longest test first. They come last, so that a broken line shows
#: within seconds; and at the very end no process waits long for another's last test.
SLOW = (
    "test_digests",
    "test_conformance",
    "test_goldens",
    "test_gpu_benchmark",
    "test_benchmarks",
    "test_journey",
    "test_matched_orders",
    "test_train_detector",
    "test_discourse_relations",
    "test_docs",
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


#: The number of modules when the garbage collector was last kept from what there was.
_frozen = 0


def pytest_collection_finish() -> None:
    """Keep the garbage collector from what stays until the end: a million objects of libraries."""
    global _frozen
    gc.collect()
    gc.freeze()
    _frozen = len(sys.modules)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, None, None]:
    """Keep it from libraries that this test was the first to load, too."""
    yield
    if len(sys.modules) > _frozen + 50:
        pytest_collection_finish()
