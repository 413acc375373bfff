#!/usr/bin/env python3
"""Writes the estimators, the base learners, and their descriptions and parameters in the documentation, from their cards.

``make generate`` runs it; ``--check`` writes nothing and fails with a diff where a committed file differs. The cards
are what ``udeed methods --json`` prints. A new method, base learner or setting needs no line here: how a parameter
looks follows from the kind of its setting.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import runpy
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "src" / "udeed"
PAGES = ROOT / "docs" / "python"
WIDTH = 120

_shared = runpy.run_path(str(PACKAGE / "_shared.py"))
DOCUMENTATION: dict[str, str] = _shared["DOCUMENTATION"]
RENAMED: dict[str, str] = _shared["RENAMED"]

# The parameters that all estimators have beside the settings of their method: name, type, default.
RUNNING = [
    ("class_weight", "Mapping[Any, float] | str | None", "None"),
    ("threshold", "float | str", "0.0"),
    ("random_state", "int | np.random.RandomState | None", "None"),
    ("unlabeled", "object", "-1"),
    ("n_jobs", "int | None", "None"),
    ("memory", "int", "0"),
    ("verbose", "int | bool", "False"),
    ("callback", "Callback | None", "None"),
]
# Parameters of ``UDEEDClassifierCV``: name, type, default, rule, and the parameter that they are candidates for.
CANDIDATES = [
    ("members", "Sequence[int]", "(20,)", '["array-like"]', "members"),
    ("gammas", "Sequence[float]", "(0.5, 1.0, 2.0, 4.0)", '["array-like"]', "gamma"),
    ("Cs", "Sequence[float]", "(0.1, 1.0, 10.0)", '["array-like"]', "C"),
    ("scalings", "Sequence[str]", '("minmax", "standard")', '["array-like"]', "scaling"),
    ("cv", "Any", "5", '["cv_object"]', None),
]
# The parameter of methods that can run on a device: no setting, as models know nothing of it.
DEVICE = {
    "name": "device",
    "doc": "Where the descent runs. What comes before and after it runs on the processor, and models of all devices are alike.",
    "kind": "device",
    "range": None,
    "default": "cpu",
    "words": [
        ["cpu", "The processor."],
        ["cuda", "The first NVIDIA card."],
        ["cuda:N", "The card of this number, from 0."],
    ],
}
# Settings that many methods share: they stand before those of a method itself.
COMMON = ("members", "lambda", "scaling", "fourier")


@dataclass(frozen=True)
class Setting:
    """A setting of a method or a base learner, as its card has it."""

    name: str
    doc: str
    kind: str
    range: dict[str, Any] | None
    default: Any
    words: list[list[str]]
    # The defaults of the settings of each base learner.
    bases: dict[str, dict[str, Any]]

    @property
    def parameter(self) -> str:
        """Its name in Python."""
        return RENAMED.get(self.name, self.name)

    @property
    def listed(self) -> str:
        """Its words, as code."""
        return ", ".join(code(word) for word, _ in self.words)

    @property
    def learners(self) -> list[str]:
        """The classes of base learners."""
        return [class_name(name) for name, settings in self.bases.items() if settings]


@dataclass(frozen=True)
class Kind:
    """How parameters look that are settings of one kind."""

    annotation: str
    # Its values in numpydoc.
    values: Callable[[Setting], str]
    # The rule for its values, as code.
    rule: Callable[[Setting], str]
    # Its default, as code.
    default: Callable[[Setting], str] = lambda setting: code(setting.default)
    # What is said beyond the card, in docstrings and in pages.
    more: Callable[[Setting], str] = lambda _: ""
    page: Callable[[Setting], str] | None = None


def class_name(base: str) -> str:
    """The class of a base learner that has settings."""
    return base.title().replace("-", "")


def joined(words: list[str], last: str) -> str:
    """Words as a sentence has them."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def code(value: Any) -> str:
    """A value of JSON as Python code."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        items = [code(item) for item in value]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if isinstance(value, dict):
        raise ValueError(f"{value} cannot be a default in Python")
    return repr(value)


def bound(value: float | None) -> str:
    """A bound of a range as code."""
    return str(int(value)) if value is not None and float(value).is_integer() else repr(value)


def number(kind: str, setting: Setting, *others: str) -> str:
    """The rule for a number, or something else."""
    # Whole numbers without a range have 64 bits in the library.
    unlimited = {"low": 0, "above": False, "high": 2**64 - 1, "below": False} if kind == "Integral" else {}
    found = setting.range or unlimited
    low, high = found.get("low"), found.get("high")
    if (kind, high) == ("Integral", 2**32 - 1):
        return f"at_least({bound(low)})"
    from_low, to_high = low is not None and not found["above"], high is not None and not found["below"]
    closed = {(True, True): "both", (True, False): "left", (False, True): "right", (False, False): "neither"}
    rule = f'Number({kind}, {bound(low)}, {bound(high)}, closed="{closed[from_low, to_high]}")'
    return f"[{', '.join([rule, *others])}]"


def tree(setting: Setting) -> str:
    """The default of a tree."""
    usual = setting.bases["tree"]
    own = [f"{name}={code(value)}" for name, value in setting.default.items() if value != usual[name]]
    return f"None means `Tree({', '.join(own)})`."


def base_words(setting: Setting) -> str:
    """The words for base learners, as code."""
    return ", ".join(code(name) for name in setting.bases)


def classes_of(setting: Setting, last: str) -> str:
    """The classes of base learners on a page."""
    return joined([f"`{name}`" for name in setting.learners], last)


KINDS = {
    "whole": Kind("int", lambda _: "int", lambda setting: number("Integral", setting)),
    "number": Kind("float", lambda _: "float", lambda setting: number("Real", setting)),
    "number-or-auto": Kind(
        "float | str", lambda _: 'float or "auto"', lambda setting: number("Real", setting, '*one_of("auto")')
    ),
    "whole-or-null": Kind(
        "int | None", lambda _: "int or None", lambda setting: f"[*{number('Integral', setting)}, None]"
    ),
    "flag": Kind("bool", lambda _: "bool", lambda _: '["boolean"]'),
    "word": Kind("str", lambda setting: f"{{{setting.listed}}}", lambda setting: f"one_of({setting.listed})"),
    "some-words": Kind(
        "Sequence[str]", lambda setting: f"sequence of {{{setting.listed}}}", lambda _: '["array-like"]'
    ),
    "columns": Kind(
        "Sequence[str | int]",
        lambda _: "sequence of str or int",
        lambda _: '["array-like"]',
        more=lambda _: "Columns are given by name, or by number from 0.",
    ),
    "base": Kind(
        "Base",
        lambda setting: f"{{{base_words(setting)}}}, {joined([*setting.learners, 'classifier'], 'or')}",
        lambda _: "[*one_of(*BASES), *LEARNERS.values(), IsClassifier()]",
        more=lambda setting: f"{joined([f':class:`udeed.{name}`' for name in setting.learners], 'and')} have parameters "
        "of their own, such as `base__depth` in a grid search. A classifier of scikit-learn, or one that behaves like it, "
        "is cloned for each member; its model cannot be saved, only pickled.",
        page=lambda setting: f"One of {quoted(setting.bases)}, a [{classes_of(setting, 'or')}](bases.md), "
        "or [a classifier of scikit-learn](bases.md#classifiers-of-scikit-learn).",
    ),
    "bases": Kind(
        "Sequence[Base]",
        lambda setting: f"sequence of str, {joined([*setting.learners, 'classifier'], 'or')}",
        lambda _: '["array-like"]',
        lambda _: "BASES",
        page=lambda setting: f"Some of {quoted(setting.bases)}, [{classes_of(setting, 'and')}](bases.md), "
        "or [classifiers of scikit-learn](bases.md#classifiers-of-scikit-learn).",
    ),
    "tree": Kind(
        "Tree | None",
        lambda _: "Tree or None",
        lambda _: "[Tree, None]",
        lambda _: "None",
        tree,
        lambda setting: f"{tree(setting)} See [base learners](bases.md).",
    ),
    "features": Kind(
        "str | int | float",
        lambda setting: f"{{{setting.listed}}}, int or float",
        lambda setting: f"[*one_of({setting.listed}), *count_or_share()]",
        more=lambda _: "The words stand for all, the square root of their number, its binary logarithm, and one more than "
        "that; an int is a number, a float a share of them.",
        page=lambda setting: f"{quoted(word for word, _ in setting.words)}, a number, or a share such as 0.5.",
    ),
    "device": Kind(
        "str",
        lambda setting: f"{{{setting.listed}}}",
        lambda _: "[str]",
        more=lambda _: "What a card cannot do is refused, never done by the processor instead.",
    ),
    "prior": Kind(
        "str | Sequence[float] | None",
        lambda _: '"labeled", sequence of float or None',
        lambda _: '[*one_of("labeled"), "array-like", None]',
        lambda _: "None",
        lambda _: 'One share for each class, in the order of `classes_`; `"labeled"`: those of the labeled rows; '
        "None: unknown.",
    ),
}


def quoted(words: Any) -> str:
    """Words in backticks."""
    return ", ".join(f"`{code(word)}`" for word in words)


def declared_in(card: dict[str, Any], bases: dict[str, Any]) -> list[Setting]:
    """The settings of a card."""
    return [Setting(**{"words": [], **setting}, bases=bases) for setting in card["settings"]]


def settings_of(card: dict[str, Any], bases: dict[str, Any]) -> list[Setting]:
    """The settings of a method in the order of the parameters: ``members``, what a declaration names before it after
    those that many methods share, and the others as they are declared. Seed and memory are parameters of all estimators,
    the device is one of those that can run on one."""
    declared = [setting for setting in declared_in(card, bases) if setting.name not in ("seed", "memory")]
    declared += [Setting(**DEVICE, bases=bases)] if card["on_device"] else []
    names = [setting.name for setting in declared]
    if "members" not in names:
        return declared
    first = names.index("members")
    common = 1 + max(place for place, name in enumerate(names) if name in COMMON)
    return declared[first:common] + declared[:first] + declared[common:]


def wrapped(text: str, indent: int, first: str = "") -> Iterator[str]:
    """A paragraph in lines; ``first`` stands before it, and indents the others."""
    left = " " * indent
    indents = {"initial_indent": left + first, "subsequent_indent": left + " " * len(first)}
    yield from textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False, **indents)


def in_python(text: str, setting: Setting | None = None) -> str:
    """Text of a card with the names of parameters, and words as they are written in Python."""
    words = [word for word, _ in setting.words] + ["auto"] if setting else []

    def name(found: re.Match[str]) -> str:
        inner = found[1]
        return f"`{code(inner)}`" if inner in words else f"`{RENAMED.get(inner, inner)}`"

    return re.sub(r"`([^`]+)`", name, text)


def doubled(text: str) -> str:
    """Single backticks, unless they belong to a role, become double ones."""
    return re.sub(r"(:\w+:`[^`]+`)|`([^`]+)`", lambda found: found[1] or f"``{found[2]}``", text)


def lowered(text: str) -> str:
    """A sentence that goes on after a colon."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def parameter_lines(setting: Setting) -> Iterator[str]:
    """The documentation of a parameter in a docstring."""
    kind = KINDS[setting.kind]
    default = code(list(setting.bases)) if setting.kind == "bases" else kind.default(setting)
    yield f"    {setting.parameter} : {kind.values(setting)}, default={default}"
    text = " ".join(filter(None, [in_python(setting.doc, setting), kind.more(setting)]))
    for paragraph in text.split("\n"):
        yield from wrapped(doubled(paragraph), 8)
    explained = [(word, doc) for word, doc in setting.words if doc]
    if explained:
        yield ""
        for word, doc in explained:
            text = f"``{code(word)}``: {doubled(in_python(lowered(doc), setting))}"
            yield from wrapped(text.replace("\n", " "), 8, "- ")


def example(estimator: str) -> list[str]:
    """An example for any method."""
    return [
        "from sklearn.datasets import load_breast_cancer",
        f"from udeed import {estimator}, mask_labels",
        "X, y = load_breast_cancer(return_X_y=True)",
        "few = mask_labels(y, 40, random_state=0)",
        f"model = {estimator}(random_state=0).fit(X, few)",
    ]


def estimator(card: dict[str, Any], bases: dict[str, Any]) -> Iterator[str]:
    """The class of a method."""
    settings = settings_of(card, bases)
    yield f"class {card['python']}(Ensemble):"
    summary = list(wrapped(f'"""{doubled(in_python(card["sentence"]))}', 4))
    yield from summary
    for paragraph in filter(None, card["details"].split("\n")):
        yield ""
        yield from wrapped(doubled(in_python(paragraph)), 4)
    yield from ["", "    Parameters", "    ----------"]
    for setting in settings:
        yield from parameter_lines(setting)
    yield from indented(DOCUMENTATION["running"])
    yield from ["", "    Attributes", "    ----------"]
    yield from indented(DOCUMENTATION["attributes"])
    if card["paper"]:
        yield from ["", "    References", "    ----------"]
        yield from wrapped(f"{card['paper']}.", 4)
    yield from ["", "    Examples", "    --------"]
    yield from (f"    >>> {line}" for line in example(card["python"]))
    yield from ["    >>> model.score(X, y) > 0.8", "    True", '    """', ""]
    yield from body(card, [parameter(setting) for setting in settings])


def learner(card: dict[str, Any], bases: dict[str, Any]) -> Iterator[str]:
    """The class of a base learner."""
    settings, name = declared_in(card, bases), class_name(card["name"])
    yield f"class {name}(BaseEstimator):"
    yield from wrapped(f'"""{doubled(in_python(card["about"]))}.', 4)
    yield ""
    yield from wrapped(f'A ``base`` of estimators, where ``"{card["name"]}"`` is the one with default parameters.', 4)
    yield from ["", "    Parameters", "    ----------"]
    for setting in settings:
        yield from parameter_lines(setting)
    yield from ["", "    Examples", "    --------"]
    yield "    >>> from sklearn.datasets import load_breast_cancer"
    yield f"    >>> from udeed import BaggingClassifier, {name}, mask_labels"
    yield "    >>> X, y = load_breast_cancer(return_X_y=True)"
    yield f"    >>> model = BaggingClassifier(base={name}(), random_state=0).fit(X, mask_labels(y, 40, random_state=0))"
    yield from ["    >>> model.score(X, y) > 0.8", "    True", '    """', "", '    __module__ = "udeed"']
    yield f'    _name: ClassVar[str] = "{card["name"]}"'
    yield from constructor([parameter(setting) for setting in settings])


def parameter(setting: Setting) -> tuple[str, str, str, str]:
    """The name, type, default and rule of a parameter."""
    kind = KINDS[setting.kind]
    return setting.parameter, kind.annotation, kind.default(setting), kind.rule(setting)


def body(card: dict[str, Any], parameters: list[tuple[str, str, str, str]]) -> Iterator[str]:
    """What the class of a method holds after its documentation."""
    yield '    __module__ = "udeed"'
    yield f'    _method: ClassVar[str] = "{card["name"]}"'
    yield from constructor(parameters, ["        **Ensemble._parameter_constraints,"], RUNNING)


def constructor(
    parameters: list[tuple[str, str, str, str]],
    rules: Sequence[str] = (),
    running: Sequence[tuple[str, str, str]] = (),
) -> Iterator[str]:
    """The rules for parameters, and the constructor; both after those that other classes have, too."""
    yield "    _parameter_constraints: ClassVar[dict[str, Any]] = {"
    yield from rules
    yield from (f'        "{name}": {rule},' for name, _, _, rule in parameters)
    yield from ["    }", "", "    def __init__(", "        self,"]
    every = [(name, annotation, default) for name, annotation, default, _ in parameters] + list(running)
    for place, (name, annotation, default) in enumerate(every):
        yield f"        {name}: {annotation} = {default},"
        if place == 0 and len(every) > 1:
            yield "        *,"
    yield "    ) -> None:"
    yield from (f"        self.{name} = {name}" for name, *_ in every)


def search(card: dict[str, Any], bases: dict[str, Any]) -> Iterator[str]:
    """The parameters of a search: candidates for some of those of a method, the others as they are."""
    chosen = [of for *_, of in CANDIDATES]
    fixed = [parameter(setting) for setting in settings_of(card, bases) if setting.parameter not in chosen]
    yield f"class {card['python']}Search(Ensemble):"
    yield f'    """Parameters of :class:`udeed.{card["python"]}CV`, which chooses among candidates for some of them."""'
    yield ""
    candidates = ", ".join(f"{code(of)}: {code(name)}" for name, *_, of in CANDIDATES if of)
    yield f"    _chosen: ClassVar[dict[str, str]] = {{{candidates}}}"
    yield from list(body(card, [(name, *rest) for name, *rest, _ in CANDIDATES] + fixed))[1:]


def indented(text: str) -> Iterator[str]:
    """Lines of shared documentation."""
    return (f"    {line}" if line else "" for line in text.strip().split("\n"))


def module(cards: list[dict[str, Any]], bases: dict[str, Any]) -> str:
    """All estimators."""
    lines: list[str] = []
    for card in cards:
        lines += ["", "", *estimator(card, bases)]
        if card["name"] == "udeed":
            lines += ["", "", *search(card, bases)]
    listed = [f'    "{card["name"]}": {card["python"]},' for card in cards]
    lines += ["", "", "# The estimators by the names of their methods."]
    lines += ["ESTIMATORS: dict[str, type[Ensemble]] = {", *listed, "}"]
    sources = {
        "collections.abc": ["Mapping", "Sequence"],
        "numbers": ["Integral", "Real"],
        "typing": ["Any", "ClassVar"],
        "numpy": ["np"],
        "udeed._bases": ["BASES", "LEARNERS", "Base", *sorted(map(class_name, bases))],
        "udeed._ensemble": ["Ensemble"],
        "udeed._progress": ["Callback"],
        "udeed._rules": ["IsClassifier", "Number", "at_least", "one_of"],
    }
    return headed("The estimators. Generated from the cards of the methods", lines, sources)


def learners(cards: list[dict[str, Any]], bases: dict[str, Any]) -> str:
    """All base learners that have settings."""
    lines: list[str] = []
    classes = {card["name"]: class_name(card["name"]) for card in cards if card["settings"]}
    for card in cards:
        if card["settings"]:
            lines += ["", "", *learner(card, bases)]
    lines += ["", "", "# All base learners by name, and the classes of those that have settings."]
    lines += [f"BASES = {code(list(bases))}", "LEARNERS: dict[str, type[BaseEstimator]] = {"]
    lines += [*(f'    "{name}": {kind},' for name, kind in classes.items()), "}"]
    lines += [f"Base: TypeAlias = {' | '.join(['str', *classes.values(), 'Classifier'])}"]
    sources = {
        "typing": ["Any", "ClassVar", "TypeAlias"],
        "sklearn.base": ["BaseEstimator"],
        "udeed._rules": ["Classifier", "Number", "at_least", "count_or_share", "one_of"],
    }
    return headed("The base learners that have settings. Generated from their cards", lines, sources)


def headed(what: str, lines: list[str], sources: dict[str, list[str]]) -> str:
    """A module of these lines, which imports what they use."""
    used = set(re.findall(r"\w+", re.sub('""".*?"""', "", "\n".join(lines), flags=re.DOTALL)))
    head = [f'"""{what} by ``make generate``: do not edit."""', "", "from __future__ import annotations", ""]
    # The standard library, others, and the package itself.
    groups: list[list[str]] = [[], [], []]
    for source, names in sources.items():
        group = groups[2 if source.startswith("udeed") else 1 if source in ("numpy", "sklearn.base") else 0]
        if found := [name for name in names if name in used]:
            group.append("import numpy as np" if source == "numpy" else f"from {source} import {', '.join(found)}")
    for group in filter(None, groups):
        head += [*group, ""]
    return "\n".join(head[:-1] + lines) + "\n"


def rows(settings: list[Setting], bases: dict[str, Any]) -> list[str]:
    """A table of parameters."""
    lines = ["| name | default | |", "| --- | --- | --- |"]
    for setting in settings:
        kind = KINDS[setting.kind]
        default = code(list(bases)) if setting.kind == "bases" else kind.default(setting)
        shown = f"`{default}`" if re.search("[\"']", default) else default
        parts = [in_python(setting.doc, setting), (kind.page or kind.more)(setting)]
        explained = [f"`{code(word)}`: {in_python(lowered(doc), setting)}" for word, doc in setting.words if doc]
        parts += explained or [f"One of {quoted(word for word, _ in setting.words)}."] * (setting.kind == "word")
        text = " ".join(filter(None, parts)).replace("\n", " ").replace("|", "\\|")
        lines.append(f"| `{setting.parameter}` | {shown} | {text} |")
    return lines


def table(card: dict[str, Any], bases: dict[str, Any]) -> str:
    """The parameters of a method for its page."""
    lines = rows(settings_of(card, bases), bases)
    names = [f"`{name}`" for name, *_ in RUNNING]
    shared = f"{', '.join(names[:-1])} and {names[-1]} are those of [all estimators](README.md)."
    return "\n".join([*lines, "", shared])


def base_learners(cards: list[dict[str, Any]], bases: dict[str, Any]) -> str:
    """All base learners, and the parameters of those that have some."""
    lines = ["| name | |", "| --- | --- |"]
    lines += [f"| `{code(card['name'])}` | {in_python(card['about'])}. |" for card in cards]
    for card in cards:
        if card["settings"]:
            lines += ["", f"## {class_name(card['name'])}", "", *rows(declared_in(card, bases), bases)]
    return "\n".join(lines)


def description(card: dict[str, Any]) -> str:
    """What a method is, for the beginning of its page."""
    reference = f"Reference: {card['paper']}." if card["paper"] else ""
    paragraphs = filter(None, [card["sentence"], *card["details"].split("\n"), reference])
    return "\n\n".join("\n".join(wrapped(in_python(text), 0)) for text in paragraphs)


def new_page(card: dict[str, Any]) -> str:
    """The page of a method that has none yet."""
    lines = [f"# {card['python']}", "", *marked("description", ""), "", "```python", *example(card["python"])]
    lines += ["assert model.score(X, y) > 0.8", "```", "", "## Parameters", ""]
    return "\n".join([*lines, *marked("parameters", ""), ""])


def marked(what: str, text: str) -> list[str]:
    """Generated text of a page between its markers."""
    return [f"<!-- {what}: generated by `make generate` -->", "", text, "", f"<!-- end of {what} -->"]


def marked_code(what: str, text: str) -> list[str]:
    """Generated code between its markers."""
    return [f"# {what}: generated by `make generate`", text, f"# end of {what}"]


def between_markers(page: str, lines: list[str]) -> str:
    """A page, or code, with other text between markers; these are the first and the last line."""
    start, *_, end = lines
    before, _, rest = page.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"a file has no `{start}` and `{end}`")
    return before + "\n".join(lines) + after


def package(text: str, cards: list[dict[str, Any]], bases: dict[str, Any]) -> str:
    """The package with the names of the estimators and base learners."""
    names = sorted(card["python"] for card in cards)
    learners = sorted(class_name(name) for name, settings in bases.items() if settings)
    imported = [f"from udeed._bases import {', '.join(learners)}"]
    imported += ["from udeed._estimators import (", *(f"    {name}," for name in names), ")"]
    exported = ["__all__ += [", *(f'    "{name}",' for name in sorted(names + learners)), "]"]
    text = between_markers(text, marked_code("estimators", "\n".join(imported)))
    return between_markers(text, marked_code("names", "\n".join(exported)))


def classes(cards: list[dict[str, Any]]) -> str:
    """The list of estimators."""
    lines = ["| class | method |", "| --- | --- |"]
    for card in cards:
        sentence = in_python(card["sentence"]).replace("|", "\\|")
        lines.append(f"| [{card['python']}]({card['python']}.md) | {sentence} |")
    return "\n".join(lines)


def files(every: dict[str, list[dict[str, Any]]]) -> dict[Path, str]:
    """All generated files, and what they hold."""
    cards = every["methods"]
    bases: dict[str, dict[str, Any]] = {}
    for card in every["bases"]:
        bases[card["name"]] = {setting["name"]: setting["default"] for setting in card["settings"]}
    path = PACKAGE / "__init__.py"
    made = {
        PACKAGE / "_bases.py": learners(every["bases"], bases),
        PACKAGE / "_estimators.py": module(cards, bases),
        path: package(path.read_text(encoding="utf-8"), cards, bases),
    }
    path = PAGES / "bases.md"
    tables = marked("base learners", base_learners(every["bases"], bases))
    made[path] = between_markers(path.read_text(encoding="utf-8"), tables)
    for card in cards:
        path = PAGES / f"{card['python']}.md"
        page = path.read_text(encoding="utf-8") if path.exists() else new_page(card)
        page = between_markers(page, marked("description", description(card)))
        made[path] = between_markers(page, marked("parameters", table(card, bases)))
    path = PAGES / "README.md"
    made[path] = between_markers(path.read_text(encoding="utf-8"), marked("estimators", classes(cards)))
    return made


def differences(made: dict[Path, str]) -> str:
    """What is different in the files as they are, as a diff; empty if nothing is."""
    found: list[str] = []
    for path, text in made.items():
        is_there = path.read_text(encoding="utf-8") if path.exists() else ""
        name = str(path.relative_to(ROOT))
        found += difflib.unified_diff(is_there.splitlines(True), text.splitlines(True), name, f"{name}, generated")
    return "".join(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only, and fail where a file differs")
    parser.add_argument("cards", nargs="?", type=argparse.FileType(), default=sys.stdin, help="the cards as JSON")
    arguments = parser.parse_args()
    made = files(json.load(arguments.cards))
    if arguments.check:
        if diff := differences(made):
            sys.exit(f"{diff}\nhint: `make generate` writes these files")
        return
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
