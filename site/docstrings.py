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
        if obj.docstring is None:
            return
        obj.docstring.value = ROLE.sub(r"``\1``", obj.docstring.value)
        if "{" not in obj.docstring.value:
            return
        found: Any = importlib.import_module(obj.module.path)
        for name in obj.path.removeprefix(f"{obj.module.path}.").split("."):
            found = getattr(found, name)
        obj.docstring.value = ROLE.sub(r"``\1``", inspect.getdoc(found) or "")
