"""The version and the addresses of the project, which are declared once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# In parts, as it would otherwise be found here, too.
ELSEWHERE = "https://www." + "udeed.org"
FILES = (
    *("Cargo.toml", "Cargo.lock", "fuzz/Cargo.lock", "CITATION.cff", "CHANGELOG.md"),
    *("python/pyproject.toml", "release/version.py"),
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    subprocess.run(["git", "init", "--quiet", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    return tmp_path


def version(copy: Path, argument: str) -> tuple[int, str]:
    call = [sys.executable, "release/version.py", argument]
    done = subprocess.run(call, cwd=copy, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_all_agree_as_they_are() -> None:
    assert version(ROOT, "--check")[0] == 0


def test_one_command_prepares_a_version_everywhere(copy: Path) -> None:
    assert version(copy, "9.8.7") == (0, "version 9.8.7 everywhere\n")
    assert version(copy, "--check") == (0, "version 9.8.7 everywhere\n")
    changes = (copy / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\n## Unreleased\n\n## 9.8.7 - 20" in changes
    assert "date-released: 20" in (copy / "CITATION.cff").read_text(encoding="utf-8")
    # Once more changes nothing.
    before = {name: (copy / name).read_bytes() for name in FILES}
    assert version(copy, "9.8.7")[0] == 0
    assert before == {name: (copy / name).read_bytes() for name in FILES}


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("CITATION.cff", "version: 0", "version: 7", "CITATION.cff: version 7"),
        ("Cargo.toml", 'crates/udeed-lab", version = "0', 'crates/udeed-lab", version = "7', "Cargo.toml: version 7"),
        ("Cargo.lock", 'name = "udeed-cli"\nversion = "0', 'name = "udeed-cli"\nversion = "7', "Cargo.lock: version 7"),
        ("CHANGELOG.md", "## Unreleased", "## 7.0.0 - 2030-01-01", "CHANGELOG.md: the newest version is 7.0.0"),
        ("python/pyproject.toml", "https://udeed.example/source", ELSEWHERE, f"python/pyproject.toml: {ELSEWHERE}"),
    ],
)
def test_a_file_that_differs_is_named(copy: Path, name: str, old: str, new: str, said: str) -> None:
    text = (copy / name).read_text(encoding="utf-8")
    assert old in text
    (copy / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    code, told = version(copy, "--check")
    assert code == 1 and said in told


@pytest.mark.parametrize("wrong", ["2", "v0.2.0", "0.2", "next"])
def test_what_is_no_version_is_refused(copy: Path, wrong: str) -> None:
    code, told = version(copy, wrong)
    assert code != 0 and "expected one such as 0.2.0" in told
