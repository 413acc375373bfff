"""A step of the descent on t threads beside t processes of one thread each, which have the same rows between them.

The cores of a large machine are shared and noisy: what the processes take on the mean is what the threads could take at best,
measured in the same run, in turn and on the same cores. Exit status 1 if a step on t threads takes more than 1.1 times that.
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
    """A process on some cores with rows of its own, and steps over them."""

    def __init__(self, binary, folder, cores, rows, columns, members):
        folder.mkdir()
        self.worker = Worker(binary, folder, len(cores))
        # Before it has any thread but the first.
        os.sched_setaffinity(self.worker.process.pid, cores)
        draw = np.random.default_rng(rows)
        X = draw.standard_normal((rows, columns))
        self.worker.put("rows", X)
        self.worker.put("labeled", X[:2])
        self.details = {
            "rows": "rows", "labeled": "labeled", "members": members, "gamma": 1.0,
            "targets": self.worker.write("targets", [-1.0, 1.0]), "to": folder / "gradient",
            "weights": self.worker.write("weights", 0.1 * draw.standard_normal((columns + 1, members))),
        }  # fmt: skip

    def seconds(self, precision, repeats):
        return [self.worker.ask("step", precision=precision, **self.details)["seconds"] for _ in range(repeats)]

    def close(self):
        self.worker.close()


def cores():
    """The cores of the machine; those that share the arithmetic of another come last."""

    def place(core):
        siblings = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        others = siblings.read_text().replace("-", ",").split(",") if siblings.exists() else [core]
        return core != int(others[0]), core

    return sorted(os.sched_getaffinity(0), key=place)


def measured(several, together, precision, rounds, repeats):
    """The times of a step in each process, all of them at work at once, and on threads: in turn, so that both meet the same noise."""
    alone, ours = [[] for _ in several], []
    with ThreadPoolExecutor(len(several)) as pool:
        for _ in range(rounds):
            found = pool.map(lambda steps: steps.seconds(precision, repeats), several)
            for own, seconds in zip(alone, found, strict=True):
                own += seconds
            ours += together.seconds(precision, repeats)
    return [statistics.median(own) for own in alone], statistics.median(ours)


def main():
    available = cores()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path, help="a `udeed-bench`")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=54)
    parser.add_argument("--members", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3, help="steps of a round")
    parser.add_argument("--threads", type=int, nargs="*", default=[t for t in (1, 2, 4, 8, 12, 16) if t <= len(available)])
    options = parser.parse_args()
    missed = False
    print("| threads | precision | t processes, ms | t threads, ms | ratio | share of the bound |")
    print("| ---: | --- | ---: | ---: | ---: | ---: |")
    for threads in options.threads:
        own = available[:threads]
        with tempfile.TemporaryDirectory() as folder:

            def make(name, cores, rows, folder=folder):
                return Steps(options.binary, Path(folder) / name, cores, rows, options.columns, options.members)

            several = [make(f"process-{core}", [core], options.rows // threads) for core in own]
            together = make("threads", own, options.rows)
            for precision in ("double", "single"):
                alone, ours = measured(several, together, precision, options.rounds, options.repeats)
                best = together.worker.ask("bounds", seconds=0.5)
                work = options.rows * options.members
                bound = 4.0 * work * options.columns / best[f"fma_{precision}"] + work / best[f"tanh_{precision}"]
                mean = statistics.mean(alone)
                missed |= ours > MOST * mean
                print(
                    f"| {threads} | {precision} | {1e3 * mean:.1f} ({1e3 * min(alone):.1f} to {1e3 * max(alone):.1f}) "
                    f"| {1e3 * ours:.1f} | {ours / mean:.2f} | {100 * bound / ours:.0f} % |",
                    flush=True,
                )
            for steps in [*several, together]:
                steps.close()
    sys.exit(missed)


if __name__ == "__main__":
    main()
