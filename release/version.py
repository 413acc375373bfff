"""One version everywhere: prepares it, or checks that all agree.

    python release/version.py 0.2.0     writes it into Cargo.toml, Cargo.lock, CITATION.cff and the changelog
    python release/version.py --check   fails where a file has another version, or an address that Cargo.toml does not declare

Cargo.toml declares version and addresses. The Python package takes its version from there while it is built.
"""

import argparse
import datetime
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Where each file has the version; every one of these must be found.
PLACES = {
    "Cargo.toml": r'(?m)^version = "(.*)"$|^udeed[a-z-]* = \{ path = ".*", version = "(.*)" \}$',
    "Cargo.lock": r'name = "udeed[a-z-]*"\nversion = "(.*)"',
    "fuzz/Cargo.lock": r'name = "udeed"\nversion = "(.*)"',
    "CITATION.cff": r"(?m)^version: (.*)$",
}
# The newest version that was released; there is none before the first.
RELEASED = re.compile(r"^## (\d\S*) - \d{4}-\d\d-\d\d$", re.MULTILINE)
# Addresses of our own end in this, until there are others.
OWN = re.compile(r"https?://[\w.-]*udeed\.[\w./#-]*|[\w.]+@udeed\.[a-z]+")


def found(name: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    versions = [next(filter(None, match.groups())) for match in re.finditer(PLACES[name], text)]
    if not versions:
        sys.exit(f"{name}: no version, expected one at `{PLACES[name]}`")
    return versions


def declared(field: str) -> str:
    match = re.search(rf'(?m)^{field} = "(.*)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return match[1] if match else sys.exit(f"Cargo.toml: no `{field}`")


def disagreements() -> Iterator[str]:
    version = declared("version")
    for name in PLACES:
        yield from (f"{name}: version {other}, expected {version}" for other in sorted({*found(name)} - {version}))
    released = RELEASED.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if released and released[1] != version:
        yield f"CHANGELOG.md: the newest version is {released[1]}, expected {version}"
    yield from strange_addresses()


def strange_addresses() -> Iterator[str]:
    """Addresses of the project that are not below those of Cargo.toml."""
    home = declared("homepage")
    host = home.split("://")[1].split("/")[0]
    for name in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0"):
        path = ROOT / name
        if not path.is_file() or path.suffix in (".gz", ".parquet", ".png") or path == Path(__file__).resolve():
            continue
        for match in OWN.finditer(path.read_text(encoding="utf-8", errors="replace")):
            if not match[0].startswith(home) and not match[0].endswith(f"@{host}"):
                yield f"{name}: {match[0]}, expected an address at {home}"


def prepare(version: str) -> None:
    if not re.fullmatch(r"\d+\.\d+\.\d+(-[a-z]+\.\d+)?", version):
        sys.exit(f"`{version}` is no version, expected one such as 0.2.0")
    today = datetime.date.today().isoformat()
    for name in PLACES:
        replace(name, PLACES[name], lambda match: match[0].replace(next(filter(None, match.groups())), version))
    replace("CITATION.cff", r"(?m)^(version: .*)\n(date-released: .*\n)?", rf"\1\ndate-released: {today}\n")
    if f"\n## {version} - " not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        replace("CHANGELOG.md", r"(?m)^## Unreleased\n", f"## Unreleased\n\n## {version} - {today}\n")


def replace(name: str, pattern: str, by: str | Callable[[re.Match[str]], str]) -> None:
    path = ROOT / name
    text, count = re.subn(pattern, by, path.read_text(encoding="utf-8"))
    if not count:
        sys.exit(f"{name}: nothing at `{pattern}`")
    path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", nargs="?", help="the version to prepare, such as 0.2.0")
    parser.add_argument("--check", action="store_true", help="only check that all agree")
    arguments = parser.parse_args()
    if arguments.check == bool(arguments.version):
        parser.error("expected a version to prepare, or --check")
    if arguments.version:
        prepare(arguments.version)
    wrong = list(disagreements())
    print("\n".join(wrong) or f"version {declared('version')} everywhere")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
