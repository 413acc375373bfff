"""The estimators and the tables of their parameters are what their generator makes of the cards of the methods."""

from __future__ import annotations

import copy
import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from command import needs_command, run
from udeed import _core
from udeed._base import BASES

GENERATOR = Path(__file__).parents[1] / "generate.py"


@pytest.fixture(scope="module")
def generator() -> dict[str, Any]:
    """What the generator defines."""
    return runpy.run_path(str(GENERATOR))


def test_what_is_committed_is_what_is_generated(generator: dict[str, Any]) -> None:
    made = generator["files"](json.loads(_core.cards()))
    assert generator["differences"](made) == "", "`make generate` writes these files"


@needs_command
def test_the_command_prints_the_cards_of_the_package() -> None:
    assert json.loads(run("methods", "--json")) == json.loads(_core.cards())


def test_a_new_method_needs_no_other_line(generator: dict[str, Any]) -> None:
    cards = json.loads(_core.cards())
    new = copy.deepcopy(next(card for card in cards if card["name"] == "adaboost"))
    new |= {"name": "newboost", "python": "NewBoostClassifier", "sentence": "NewBoost: one more."}
    setting = {"name": "depth", "doc": "Depth with `lambda`.", "kind": "whole", "range": None, "default": 3}
    new["settings"].insert(-1, setting)
    made = {path.name: text for path, text in generator["files"]([*cards, new]).items()}
    module: dict[str, Any] = {"__name__": "new"}
    exec(compile(made["_estimators.py"], "_estimators.py", "exec"), module)
    kind = module["ESTIMATORS"]["newboost"]
    assert '    "NewBoostClassifier",\n' in made["__init__.py"] and "    NewBoostClassifier,\n" in made["__init__.py"]
    assert kind(depth=5).depth == 5 and "Depth with ``C``." in kind.__doc__
    assert "| `depth` | 3 | Depth with `C`. |" in made["NewBoostClassifier.md"]
    assert "[NewBoostClassifier](NewBoostClassifier.md) | NewBoost: one more. |" in made["README.md"]


def test_the_base_learners_are_those_of_the_library() -> None:
    bases = next(card for card in json.loads(_core.cards()) if card["name"] == "stacking")["settings"][0]
    names = [base if isinstance(base, str) else next(iter(base)) for base in bases["default"]]
    assert bases["kind"] == "bases" and tuple(names) == BASES
