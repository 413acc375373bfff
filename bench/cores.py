"""A step of the descent on t threads beside t processes of one thread each, which have the same rows between them.

The cores of a large machine are shared and noisy: what the processes take on the mean is what the threads could take at best,
measured in the same run. Exit status 1 if a step on t threads takes more than 1.1 times that.
"""

import argparse
import os
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
import numpy as np  # noqa: E402
from worker import Worker  # noqa: E402

MOST = 1.1


class Steps:
    """A process with rows of its own, and steps over them."""

    def __init__(self, binary, folder, threads, rows, columns, members, precision):
        folder.mkdir()
        self.worker = Worker(binary, folder, threads)
        draw = np.random.default_rng(rows)
        X = draw.standard_normal((rows, columns))
        self.worker.put("rows", X)
        self.worker.put("labeled", X[:2])
        self.details = {
            "rows": "rows", "labeled": "labeled", "members": members, "gamma": 1.0, "precision": precision,
            "targets": self.worker.write("targets", [-1.0, 1.0]), "to": folder / "gradient",
            "weights": self.worker.write("weights", 0.1 * draw.standard_normal((columns + 1, members))),
        }  # fmt: skip

    def seconds(self, repeats):
        return [self.worker.ask("step", **self.details)["seconds"] for _ in range(repeats)]

    def close(self):
        self.worker.close()


def on_threads(make, threads, repeats):
    one = make("threads", threads, 1)
    seconds = one.seconds(repeats)
    one.close()
    return seconds


def in_processes(make, processes, repeats):
    """The mean time of a step in each process, all of them at work at once."""
    several = [make(f"process-{i}", 1, processes) for i in range(processes)]
    with ThreadPoolExecutor(processes) as pool:
        seconds = list(pool.map(lambda steps: steps.seconds(repeats), several))
    for steps in several:
        steps.close()
    return [statistics.median(own) for own in seconds]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path, help="a `udeed-bench`")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=54)
    parser.add_argument("--members", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--threads", type=int, nargs="*", default=[t for t in (1, 2, 4, 8, 12, 16) if t <= os.cpu_count()])
    options = parser.parse_args()
    missed = False
    print("| precision | threads | t processes, ms | t threads, ms | ratio | share of the bound |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for precision in ("double", "single"):
        for threads in options.threads:
            with tempfile.TemporaryDirectory() as folder:

                def make(name, own_threads, divided_by, folder=folder, precision=precision):
                    rows = options.rows // divided_by
                    place = Path(folder) / name
                    return Steps(options.binary, place, own_threads, rows, options.columns, options.members, precision)

                alone = in_processes(make, threads, options.repeats)
                together = on_threads(make, threads, options.repeats)
                worker = Worker(options.binary, Path(folder), threads)
                best = worker.ask("bounds", seconds=0.5)
                worker.close()
            work = options.rows * options.members
            bound = 4.0 * work * options.columns / best[f"fma_{precision}"] + work / best[f"tanh_{precision}"]
            mean, ours = statistics.mean(alone), statistics.median(together)
            missed |= ours > MOST * mean
            print(
                f"| {precision} | {threads} | {1e3 * mean:.1f} ({1e3 * min(alone):.1f} to {1e3 * max(alone):.1f}) "
                f"| {1e3 * ours:.1f} | {ours / mean:.2f} | {100 * bound / ours:.0f} % |",
                flush=True,
            )
    sys.exit(missed)


if __name__ == "__main__":
    main()
