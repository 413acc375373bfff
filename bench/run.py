"""udeed beside numpy, scipy and scikit-learn, in one run. See README.md."""

import importlib.metadata
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

from threadpoolctl import threadpool_limits

sys.dont_write_bytecode = True
from comparisons import COMPARISONS, LARGE_SETS, REGULAR_SETS, Bench  # noqa: E402
from picture import draw  # noqa: E402
from results import Results  # noqa: E402
from sets import Absent, script_options  # noqa: E402
from worker import Worker  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def options():
    parser = script_options(__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: tries the harness, its figures mean nothing")
    parser.add_argument("--only", metavar="NAME,...", help="only these comparisons; --list names them")
    parser.add_argument("--list", action="store_true", help="name the comparisons and end")
    parser.add_argument("--threads", type=int, default=2, help="threads of both sides (2)")
    parser.add_argument("--repeats", type=int, default=7, help="runs of each side, slow ones at most 3 (7)")
    parser.add_argument("--sets", default="regular", help="for `reproduce`: `regular`, `all`, or names with commas")
    parser.add_argument("--docs", action="store_true", help="also write docs/performance.svg")
    return parser.parse_args()


def main() -> int:
    chosen = options()
    # Not by OPENBLAS_NUM_THREADS: joblib's processes would inherit it and have too many threads between them.
    threadpool_limits(chosen.threads)
    if chosen.list:
        print("\n".join(f"{name:<16}{work.__doc__.splitlines()[0]}" for name, work in COMPARISONS.items()))
        return 0
    names = chosen.only.split(",") if chosen.only else [name for name in COMPARISONS if name != "reproduce"]
    unknown = [name for name in names if name not in COMPARISONS]
    if unknown:
        print(f"unknown comparison `{unknown[0]}`, expected some of {', '.join(COMPARISONS)}", file=sys.stderr)
        return 2
    binary = TARGET / "release" / "udeed-bench"
    if not binary.exists():
        print(f"{binary} is not there, `make bench` builds it", file=sys.stderr)
        return 2
    lists = {"regular": REGULAR_SETS, "all": REGULAR_SETS + LARGE_SETS}
    results = Results()
    results.versions = versions()
    out = TARGET / "bench"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as folder:
        worker = Worker(binary, Path(folder), chosen.threads)
        bench = Bench(
            worker=worker, results=results, data=chosen.data, command=TARGET / "release" / "udeed", quick=chosen.quick,
            repeats=chosen.repeats, threads=chosen.threads, reproduce=lists.get(chosen.sets) or chosen.sets.split(","),
        )  # fmt: skip
        try:
            run(bench, [(name, COMPARISONS[name]) for name in names], out)
            worker.close()
        except KeyboardInterrupt:
            results.skipped.append("what was to come after the interrupt")
            report(results, out, docs=False)
            return 130
    return report(results, out, chosen.docs)


def run(bench, comparisons, out: Path):
    for name, work in comparisons:
        print(f"{name}: {work.__doc__.splitlines()[0]} ..", end="", file=sys.stderr, flush=True)
        begin = time.perf_counter()
        try:
            work(bench)
            print(f" {time.perf_counter() - begin:.0f} s", file=sys.stderr)
        except Absent as absent:
            print(f" skipped: {absent}", file=sys.stderr)
            bench.results.skipped.append(f"{name}: {absent}")
        bench.worker.ask("clear")
        (out / "results.json").write_text(bench.results.json() + "\n")


def report(results, out: Path, docs: bool) -> int:
    if results.growth:
        for place in [out / "growth.svg"] + ([ROOT / "docs" / "performance.svg"] if docs else []):
            place.write_text(draw(results.growth))
    best = results.machine
    if best:
        print(
            f"machine: FMA {best['fma_double'] / 1e9:.0f} GFLOP/s double, {best['fma_single'] / 1e9:.0f} single; "
            f"tanh {best['tanh_double'] / 1e9:.2f} G/s;\n"
            f"         memory {best['read'] / 1e9:.0f} GB/s read, {best['triad'] / 1e9:.0f} GB/s triad"
        )
    print(", ".join(f"{name} {version}" for name, version in results.versions.items()), end="\n\n")
    print(results.table())
    print(f"\nAll figures: {out / 'results.json'}")
    for check in results.disagreements:
        found, expected = check["difference"], check["tolerance"]
        print(f"error: {check['what']} differs by {found:.1e}, expected at most {expected:.0e}", file=sys.stderr)
    return 1 if results.disagreements else 0


def versions() -> dict:
    packages = ("numpy", "scipy", "scikit-learn")
    return {"Python": platform.python_version(), **{name: importlib.metadata.version(name) for name in packages}}


if __name__ == "__main__":
    sys.exit(main())
