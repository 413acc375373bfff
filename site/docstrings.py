"""Docstrings as the package has them once it is imported: some have parts in common, which are put together then."""

import importlib
import inspect
import re
from typing import Any

import griffe

# A name as Sphinx marks it.
ROLE = re.compile(r":[a-z]+:`~?([^`]+)`")


class Imported(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is None and obj.is_class and obj.module.path == "udeed._core":
            # Its stubs have none.
            obj.docstring = griffe.Docstring(imported(obj), parent=obj)
        if obj.docstring is None:
            return
        if "{" in obj.docstring.value:
            obj.docstring.value = imported(obj)
        obj.docstring.value = ROLE.sub(r"``\1``", obj.docstring.value)


def imported(obj: griffe.Object) -> str:
    found: Any = importlib.import_module(obj.module.path)
    for name in obj.path.removeprefix(f"{obj.module.path}.").split("."):
        found = getattr(found, name)
    return inspect.getdoc(found) or ""
