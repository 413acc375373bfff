"""Peak memory of the command: of files that are made to fill it, and of predictions of very many rows.

`make peaks` runs it and `make peaks PEAKS=--write` puts its figures into docs/limits.md. Linux alone counts as is done here.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Process
from pathlib import Path

# Peaks may be as high as this, in MB.
OF_HOSTILE, OF_PREDICTIONS = 300, 100
N_ROWS, N_COLUMNS = 2_000_000, 20
HEADER, FOOTER = "| | peak |\n| --- | --- |\n", "\n\n"


@dataclass
class Call:
    name: str
    """As a row of the table."""
    lines: list[str]
    """What is called one after the other, without `udeed`; the highest peak counts."""
    fails: bool = True
    bar: int = OF_HOSTILE


FORMATS = ("csv", "arff", "libsvm")
CALLS = [
    Call(
        f"`predict` of {N_ROWS:_} x {N_COLUMNS} rows, CSV to CSV".replace("_", " "),
        ["predict model rows.csv --quiet --out predictions.csv"],
        fails=False,
        bar=OF_PREDICTIONS,
    ),
    Call(
        "`data describe` of 10 GB of zeros, gzipped, as CSV, ARFF or LIBSVM",
        [f"data describe zeros.gz --format {format}" for format in FORMATS],
    ),
    Call("the same of 2 GB of commas, gzipped", [f"data describe commas.gz --format {format}" for format in FORMATS]),
    Call("the same of `/dev/zero`", [f"data describe /dev/zero --format {format}" for format in FORMATS]),
    Call("the same of 20 MB of commas", ["data describe commas.csv"]),
    Call("the same, `--memory 100M`, of 300 different words of 1 MB", ["data describe words.csv.gz --memory 100M"]),
    Call("`inspect /dev/zero`", ["inspect /dev/zero"]),
    Call("`fit --members 1000000000`", ["fit few.csv --label y --members 1000000000 --out other"]),
]


def gzipped(pieces: Iterator[bytes]) -> bytes:
    """Pieces as one gzipped file: its members are unzipped one after the other."""
    return b"".join(gzip.compress(piece, 6) for piece in pieces)


def make_files(folder: Path) -> None:
    (folder / "zeros.gz").write_bytes(gzip.compress(b"0" * 100_000_000) * 100)
    (folder / "commas.gz").write_bytes(gzip.compress(b"," * 100_000_000) * 20)
    (folder / "commas.csv").write_bytes(b"," * 20_000_000)
    words = (f"{i % 7},{i}{'w' * 1_000_000}\n".encode() for i in range(300))
    (folder / "words.csv.gz").write_bytes(gzip.compress(b"x,word\n") + gzipped(words))
    names = ",".join(f"x{column}" for column in range(N_COLUMNS))
    cells = [",".join(f"{(row * 31 + column * 17) % 9973 / 997:.6f}" for column in range(N_COLUMNS)) for row in range(1000)]
    labeled = "".join(f"{line},{'ab'[row % 2]}\n" for row, line in enumerate(cells))
    (folder / "few.csv").write_text(f"{names},y\n{labeled}")
    with (folder / "rows.csv").open("w") as rows:
        rows.write(f"{names}\n")
        block = "".join(f"{line}\n" for line in cells)
        for _ in range(N_ROWS // len(cells)):
            rows.write(block)


def peak(binary: Path, line: str, folder: Path) -> tuple[int, int]:
    """The exit code of a call, and the memory that it held at most, in MB."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([binary, *line.split()], cwd=folder, **silent)  # type: ignore[call-overload]
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, round(used.ru_maxrss * 1024 / 1e6)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/limits.md")
    options = parser.parse_args()
    binary, table, failures = options.binary.resolve(), HEADER, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        # In a process of its own: a call begins as a copy of this one, and what that holds would count.
        maker = Process(target=make_files, args=(folder,))
        maker.start()
        maker.join()
        code, _ = peak(binary, "fit few.csv --label y --folds 0 --quiet --out model", folder)
        if code != 0:
            raise SystemExit("no model to predict by")
        for call in CALLS:
            found = [peak(binary, line, folder) for line in call.lines]
            highest = max(used for _, used in found)
            row = f"| {call.name} | {highest} MB |\n"
            print(row, end="", flush=True)
            table += row
            codes = {code for code, _ in found}
            if highest > call.bar or codes != {1 if call.fails else 0}:
                failures += 1
                print(f"FAILED: exit codes {codes}, expected a peak of at most {call.bar} MB", file=sys.stderr)
    if options.write:
        limits = Path("docs/limits.md")
        before, rest = limits.read_text().split(HEADER)
        after = rest.partition(FOOTER)[2]
        limits.write_text(before + (table + "\n" + after if after else table))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
