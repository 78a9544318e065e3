#!/usr/bin/env bash
# ray 2.60.0 with joblib 1.6.0
#
# ray.util.joblib.register_ray() makes a cluster a backend of joblib.
# Expected: Parallel(return_as="generator_unordered") gives results as they come, as on this
#   machine's processes; pre_dispatch bounds how far the jobs are read ahead.
# Seen: ValueError, "does not support return_as": on Ray all results come at the end, in a list,
#   so a corpus that is too large for one list has to be given in parts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q ray==2.60.0 joblib==1.6.0
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
import joblib
import ray
from ray.util.joblib import register_ray


def square(number: int) -> int:
    return number * number


def squares(backend: str, shape: str) -> list[int] | str:
    with joblib.parallel_config(backend):
        try:
            jobs = (joblib.delayed(square)(number) for number in range(4))
            return sorted(joblib.Parallel(n_jobs=2, return_as=shape)(jobs))
        except ValueError as error:
            return str(error)


ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
register_ray()
for shape in ("list", "generator", "generator_unordered"):
    local, cluster = squares("loky", shape), squares("ray", shape)
    print(shape, local, cluster)
    assert local == [0, 1, 4, 9]
    assert cluster == local if shape == "list" else "does not support return_as" in cluster
PY
