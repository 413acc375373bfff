"""Runs docs/start.md as a newcomer would, in an empty folder: its Python, its calls of the command, or its Rust.

python release/start_page.py --python venv/bin/python --seconds 20
python release/start_page.py --command dist/udeed
python release/start_page.py --rust --seconds 600
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "start.md"


def blocks(kind: str) -> list[str]:
    found = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return found or sys.exit(f"{PAGE}: no block of {kind}")


def console(program: str) -> list[str]:
    """The calls of a program."""
    lines = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith(f"$ {program} ")]
    return lines or sys.exit(f"{PAGE}: no call of `{program}`")


def rust() -> tuple[str, str]:
    """What makes the page's program in an empty folder, and the figure that it prints."""
    # Until it is on an index.
    making = "\n".join(console("cargo")).replace("cargo add udeed", f"cargo add --quiet --path '{ROOT}/crates/udeed'")
    run = re.search(r"`(cargo run [^`]*)` prints ([0-9.]+)", PAGE.read_text(encoding="utf-8"))
    if not run:
        sys.exit(f"{PAGE}: nothing says what `cargo run` prints")
    return f"{making}\ncat > src/main.rs\n{run[1]}\nmv model.safetensors ..", run[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, help="a Python that has the package")
    parser.add_argument("--command", type=Path, help="the binary")
    parser.add_argument("--rust", action="store_true", help="a new package that depends on the library")
    parser.add_argument("--seconds", type=float, default=60, help="the longest that it may take")
    arguments = parser.parse_args()
    code, figure = None, ""
    if arguments.python:
        # Not resolved: the link of a virtual environment is what makes it one.
        call = [str(arguments.python.absolute()), "-c", "\n".join(blocks("python"))]
    elif arguments.command:
        call = ["sh", "-euc", "\n".join(console("udeed"))]
    elif arguments.rust:
        script, figure = rust()
        call, code = ["sh", "-euc", script], "".join(blocks("rust,no_run"))
    else:
        parser.error("expected --python, --command or --rust")
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        if arguments.command:
            environment["PATH"] = f"{arguments.command.resolve().parent}{os.pathsep}{environment['PATH']}"
        began = time.perf_counter()
        done = subprocess.run(call, cwd=folder, env=environment, input=code, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{done.stdout}{done.stderr}the start page fails")
        if figure not in done.stdout:
            sys.exit(f"{done.stdout}the start page says that its program prints {figure}")
        taken = time.perf_counter() - began
        if not (Path(folder) / "model.safetensors").stat().st_size:
            sys.exit("the start page saves no model")
    print(f"the start page takes {taken:.1f} s")
    if taken > arguments.seconds:
        sys.exit(f"expected at most {arguments.seconds:.0f} s")


if __name__ == "__main__":
    main()
