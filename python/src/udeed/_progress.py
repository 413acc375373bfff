"""A progress bar on standard error."""

from __future__ import annotations

import sys
import time

_WIDTH = 30
_PAUSE = 0.1


class Progress:
    """Shows what a fit is doing, ten times a second at most."""

    def __init__(self, steps: int | None = None, only: str | None = None) -> None:
        """``steps`` is the total where none is given; ``only`` names the one thing to show."""
        self._steps = steps
        self._only = only
        self._shown = 0.0
        self._length = 0

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if self._only not in (None, what):
            return
        total = self._steps if total is None else total
        now = time.monotonic()
        if now - self._shown < _PAUSE and done != total:
            return
        self._shown = now
        bar = ""
        if total:
            filled = _WIDTH * min(done, total) // total
            bar = f" [{'#' * filled}{'.' * (_WIDTH - filled)}]"
        line = f"{what} {done}{f'/{total}' if total else ''}{bar}"
        sys.stderr.write("\r" + line.ljust(self._length))
        sys.stderr.flush()
        self._length = len(line)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        # The line stays as it is.
        if self._length:
            sys.stderr.write("\n")
            sys.stderr.flush()
