"""Estimators, base learners and the tables of their parameters are what their generator makes of the cards."""

from __future__ import annotations

import copy
import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from command import needs_command, run
from udeed import _core

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
    new = copy.deepcopy(next(card for card in cards["methods"] if card["name"] == "adaboost"))
    new |= {"name": "newboost", "python": "NewBoostClassifier", "sentence": "NewBoost: one more."}
    setting = {"name": "depth", "doc": "Depth with `lambda`.", "kind": "whole", "range": None, "default": 3}
    new["settings"].insert(-1, setting)
    made = {path.name: text for path, text in generator["files"]({**cards, "methods": [*cards["methods"], new]}).items()}
    module: dict[str, Any] = {"__name__": "new"}
    exec(compile(made["_estimators.py"], "_estimators.py", "exec"), module)
    kind = module["ESTIMATORS"]["newboost"]
    assert '    "NewBoostClassifier",\n' in made["__init__.py"] and "    NewBoostClassifier,\n" in made["__init__.py"]
    assert kind(depth=5).depth == 5 and "Depth with ``C``." in kind.__doc__
    assert "| `depth` | 3 | Depth with `C`. |" in made["NewBoostClassifier.md"]
    assert "[NewBoostClassifier](NewBoostClassifier.md) | NewBoost: one more. |" in made["README.md"]


def test_a_new_base_learner_needs_no_other_line(generator: dict[str, Any]) -> None:
    cards = json.loads(_core.cards())
    size = {"name": "size", "doc": "Largest size; null for none.", "kind": "whole-or-null", "default": None}
    size["range"] = {"low": 2.0, "above": False, "high": float(2**32 - 1), "below": False, "text": "at least 2"}
    new = {"name": "rule-list", "about": "List of rules", "settings": [size]}
    made = {path.name: text for path, text in generator["files"]({**cards, "bases": [*cards["bases"], new]}).items()}
    module: dict[str, Any] = {"__name__": "new"}
    exec(compile(made["_bases.py"], "_bases.py", "exec"), module)
    kind = module["LEARNERS"]["rule-list"]
    assert kind.__name__ == "RuleList" and module["BASES"][-1] == "rule-list"
    kind(size=None)._validate_params()
    with pytest.raises(ValueError, match="The 'size' parameter of RuleList must be"):
        kind(size=1)._validate_params()
    assert "from udeed._bases import Neighbors, RuleList, Tree\n" in made["__init__.py"]
    assert '"bayes", "rule-list"}, Tree, Neighbors, RuleList or classifier, default="logistic"' in made["_estimators.py"]
    assert "| `size` | None | Largest size; null for none. |" in made["bases.md"]
