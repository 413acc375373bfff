"""Every example in the documentation runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
import udeed

ROOT = Path(__file__).parents[2]
# Every page of these folders that has an example; those of docs/python must have one.
OTHERS = (page for folder in (ROOT, ROOT / "python", ROOT / "docs") for page in sorted(folder.glob("*.md")))
HAS_EXAMPLE = re.compile(r"^```(python|pycon)$", re.MULTILINE)
PAGES = [
    *sorted((ROOT / "docs" / "python").glob("*.md")),
    *(page for page in OTHERS if HAS_EXAMPLE.search(page.read_text(encoding="utf-8"))),
]
# The estimators belong to the package itself.
MODULES = ["udeed", *(f"udeed.{name}" for _, name, _ in pkgutil.iter_modules(udeed.__path__) if name != "_core")]
# `make spark` runs what needs Spark.
SPARK = "udeed.spark", "spark.md"


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    if name in SPARK:
        pytest.importorskip("pyspark", reason="no pyspark: `make spark` tests it")
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0 and (found.attempted > 80 or name != "udeed")


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python blocks of a page are one program; blocks of a session are compared with what they show."""
    if page.name in SPARK:
        pytest.importorskip("pyspark", reason="no pyspark: `make spark` tests it")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = re.findall(r"^```(python|pycon)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert blocks, f"{page.name} has no example"
    for kind, code in blocks:
        if kind == "python":
            exec(compile(code, page.name, "exec"), names)
            continue
        example = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        assert runner.run(example, clear_globs=False).failed == 0
        names.update(example.globs)


def test_pages_of_every_folder_are_found() -> None:
    assert {ROOT / page for page in ("README.md", "python/README.md", "docs/guide.md", "docs/start.md")} <= set(PAGES)


def test_every_estimator_has_a_page() -> None:
    pages = {page.stem for page in PAGES}
    assert {name for name in udeed.__all__ if "Classifier" in name} <= pages
