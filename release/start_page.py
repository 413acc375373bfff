"""Runs docs/start.md as a newcomer would, in an empty folder: its Python, or its calls of the command.

python release/start_page.py --python venv/bin/python --seconds 20
python release/start_page.py --command dist/udeed
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "start.md"


def blocks(kind: str) -> list[str]:
    found = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return found or sys.exit(f"{PAGE}: no block of {kind}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, help="a Python that has the package")
    parser.add_argument("--command", type=Path, help="the binary")
    parser.add_argument("--seconds", type=float, default=60, help="the longest that it may take")
    arguments = parser.parse_args()
    calls = []
    if arguments.python:
        # Not resolved: the link of a virtual environment is what makes it one.
        calls = [[str(arguments.python.absolute()), "-c", "\n".join(blocks("python"))]]
    elif arguments.command:
        lines = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ udeed ")]
        calls = [["sh", "-euc", "\n".join(lines) or sys.exit(f"{PAGE}: no call of `udeed`")]]
    else:
        parser.error("expected --python or --command")
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        if arguments.command:
            environment["PATH"] = f"{arguments.command.resolve().parent}:{environment['PATH']}"
        began = time.perf_counter()
        for call in calls:
            done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{done.stdout}{done.stderr}the start page fails")
        taken = time.perf_counter() - began
        if not (Path(folder) / "model.safetensors").stat().st_size:
            sys.exit("the start page saves no model")
    print(f"the start page takes {taken:.1f} s")
    if taken > arguments.seconds:
        sys.exit(f"expected at most {arguments.seconds:.0f} s")


if __name__ == "__main__":
    main()
