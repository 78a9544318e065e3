"""Builds and retrieval on a Ray cluster of two nodes on this machine, one of which is killed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coherencegym.builders.command.cli import main
from coherencegym.engines import ray_cluster
from coherencegym.engines.blocks import WorkFolder, run_blocks
from coherencegym.engines.engine import Done, Engine, EngineError, Task
from coherencegym.engines.start import started
from coherencegym.errors import EvaluationError
from coherencegym.manipulations.intruders import neighbours as module
from coherencegym.manipulations.intruders.neighbours import nearest, text_vectors

# Not imported to see whether it is there: it would be before it is told to be quiet.
pytestmark = pytest.mark.skipif(
    find_spec("ray") is None, reason="Ray is not installed (the extra cluster)"
)

NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80_000_000}
#: A lost node is noticed after a second, not after a quarter of a minute.
NOTICED = {
    "health_check_initial_delay_ms": 200,
    "health_check_period_ms": 250,
    "health_check_timeout_ms": 5_000,
    "health_check_failure_threshold": 4,
}


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A cluster of two nodes of one core each."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ray_cluster._QUIET.items():
            patch.setenv(name, value)
        from ray.cluster_utils import Cluster

        head = {**NODE, "include_dashboard": False, "_system_config": NOTICED}
        made = Cluster(initialize_head=True, head_node_args=head)
        made.add_node(**NODE)
        yield made
        made.shutdown()


@pytest.fixture
def engine(nodes: Any) -> Iterator[Engine]:
    with started("ray", address=nodes.address) as running:
        yield running


def kill_one(cluster: Any) -> None:
    """Kill the processes of a node that is not the driver's, as a machine is lost."""
    import ray

    own = ray.get_runtime_context().get_node_id()
    other = next(each for each in cluster.worker_nodes if each.node_id != own)
    cluster.remove_node(other, allow_graceful=False)


def zipf(number: int) -> list[list[str]]:
    generator = np.random.default_rng(0)
    return [
        [" ".join(f"w{min(w, 3000)}" for w in generator.zipf(1.3, size=14)) for _ in range(5)]
        for _ in range(number)
    ]


def wrong(number: int) -> int:
    raise EvaluationError(f"block {number} is wrong; expected a right one")


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


#: A suite of one's own: workers cannot import it. It waits, so that there is a middle to kill.
OWN_SUITE = """
import time
from dataclasses import replace
from pathlib import Path

from coherencegym.builders.story_cloze import SUITE as OTHER

SLOW = {slow}


class Slow:
    def __init__(self, inner):
        self.inner, self.recipe, self.contrasts = inner, inner.recipe, inner.contrasts

    def __call__(self, discourse, context):
        time.sleep(SLOW)
        yield from self.inner(discourse, context)


one = next(each for each in OTHER.configs if not each.by and not hasattr(each.generator, "fit"))
slow = replace(one, generator=Slow(one.generator), controls=())
SUITE = replace(OTHER, name="own", configs=(slow,))
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COHERENCEGYM_CACHE", str(tmp_path / "cache"))  # no blocks of another test
    path = tmp_path / f"{tmp_path.name}.py"  # no two modules of one name
    path.write_text(OWN_SUITE.format(slow=0.01))
    return path


def built(own: Path, output: Path, *options: str) -> int:
    return main([str(own), "--corpus", "sample", "--output", str(output), *options])


def kept_blocks() -> dict[Path, int]:
    """The blocks that builds keep, and when each was written."""
    folder = Path(os.environ["COHERENCEGYM_CACHE"]) / "generated"
    return {path: path.stat().st_mtime_ns for path in folder.glob("*/*.gz")}


def wait_for_blocks(number: int) -> None:
    end = time.monotonic() + 60
    while len(kept_blocks()) < number:
        assert time.monotonic() < end, "no block was kept"
        time.sleep(0.02)


def test_a_search_in_a_grid_finds_what_one_process_finds(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = zipf(400)
    alone, _ = text_vectors(texts, 2**14)
    vectors, _ = text_vectors(texts, 2**14, engine=engine)
    assert (alone != vectors).nnz == 0
    group_of = [i // 3 for i in range(400)]
    whole = nearest(alone, 5, group_of)
    monkeypatch.setattr(module, "BLOCK", 60)
    monkeypatch.setattr(module, "BLOCK_COLUMNS", 90)
    told: list[str] = []

    def progress(done: int, cost: Any) -> None:
        told.append(str(cost))

    parts = nearest(vectors, 5, group_of, engine=engine, progress=progress)
    assert np.array_equal(whole.indices, parts.indices)
    assert np.array_equal(whole.similarities, parts.similarities)
    assert told[-1].startswith("35 of 35 blocks")
    assert "MB sent" in told[-1]
    # And what a block raises is raised here, as it is.
    with pytest.raises(EvaluationError, match="is wrong; expected a right one"):
        run_blocks(engine, wrong, [(n,) for n in range(3)])
    monkeypatch.setattr(ray_cluster, "program", lambda: "another")
    with pytest.raises(EngineError, match="has another version of this package, or none"):
        run_blocks(engine, wrong, [(1,)])


def test_a_build_whose_driver_is_killed_goes_on_and_loses_a_node(
    own: Path,
    nodes: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("coherencegym.builders.pipeline.generation.CHUNK", 20)
    assert built(own, tmp_path / "one") == 0
    one = capfd.readouterr()
    command = (
        "from coherencegym.builders.pipeline import build, generation; import sys;"
        "build.CHUNK = generation.CHUNK = 20;"
        "from coherencegym.builders.command.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    words = [str(own), "--corpus", "sample", "--engine", "ray", "--address", nodes.address]
    words += ["--output", str(tmp_path / "ray")]
    driver = subprocess.Popen([sys.executable, "-c", command, *words])
    wait_for_blocks(2)
    driver.kill()
    driver.wait()
    capfd.readouterr()
    before, after = kept_blocks(), dict[Path, int]()
    assert not (tmp_path / "ray").exists()
    own_blocks: list[int] = []
    monkeypatch.setattr("coherencegym.builders.pipeline.build.CHUNK", 20)
    counted, finish = ray_cluster.RayCluster.run, WorkFolder.done

    def run(
        self: Any, function: Callable[..., Any], tasks: Iterable[Task], *, memory: int = 0
    ) -> Iterator[Done]:
        for done in counted(self, function, tasks, memory=memory):
            own_blocks.append(done.number)
            yield done

    def done(self: WorkFolder) -> None:
        after.update(kept_blocks())
        finish(self)

    def kill() -> None:
        wait_for_blocks(len(before) + 2)
        kill_one(nodes)

    monkeypatch.setattr(ray_cluster.RayCluster, "run", run)
    monkeypatch.setattr(WorkFolder, "done", done)
    with ThreadPoolExecutor(1) as pool:
        killed = pool.submit(kill)
        assert built(own, tmp_path / "ray", "--engine", "ray", "--address", nodes.address) == 0
        killed.result()
    assert not nodes.worker_nodes
    assert digests(tmp_path / "ray") == digests(tmp_path / "one")
    assert before.items() <= after.items(), "a block is written once"
    assert len(own_blocks) == len(after) - len(before)
    assert len(own_blocks) > 2
    assert not kept_blocks(), "what is complete is not kept"
    # Nothing of Ray's own is printed, not even of the lost node.
    said = capfd.readouterr()
    assert said.err == ""
    assert said.out.replace(str(tmp_path / "ray"), "") == one.out.replace(str(tmp_path / "one"), "")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", "no Ray cluster at 127.0.0.1:1 \\(Connection refused\\); expected one"),
        ("ray://127.0.0.1:10001", "expected HOST:PORT of the head of a Ray cluster"),
        ("nowhere.invalid:6379", "no Ray cluster at nowhere.invalid:6379"),
        ("127.0.0.1:99999", "no Ray cluster at 127.0.0.1:99999"),
    ],
)
def test_a_cluster_that_is_not_there(address: str, said: str) -> None:
    with pytest.raises(EngineError, match=said), started("ray", address=address):
        pass
