"""What is heard of a fit while it runs: callbacks, and a progress bar on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

_WIDTH = 30
_PAUSE = 0.1


@dataclass(frozen=True)
class Event:
    """What a ``callback`` hears of a fit.

    Attributes
    ----------
    what : str
        What is being done: ``"members"`` are fitted, ``"candidates"`` for settings are tried, or the stage of a descent in
        words.
    done : int
        How many are done, or the number of the step.
    total : int or None
        Of how many, where that is known.
    step : dict or None
        The step of a descent, as in ``history_``: stage, step, losses, and whether it was accepted.
    """

    what: str
    done: int
    total: int | None
    step: dict[str, Any] | None = None


Callback: TypeAlias = Callable[[Event], object]


class Listener:
    """Hands on what the core tells: to a progress bar, and to a callback, which ends the fit by True."""

    def __init__(self, bar: Progress | None, callback: Callback | None, steps: int | None) -> None:
        """``steps`` is the total of steps, which the core does not tell."""
        self._bar = bar
        self._callback = callback
        self._steps = steps

    def __call__(
        self, what: str, done: int, total: int | None, losses: tuple[str, float, float, float, bool] | None
    ) -> bool:
        step = None if losses is None else step_of(losses[0], done, *losses[1:])
        event = Event(what, done, self._steps if total is None else total, step)
        if self._bar is not None:
            self._bar(event)
        # Only True ends it: what a callback returns by the way does not.
        return self._callback is not None and self._callback(event) is True


def step_of(stage: str, step: int, empirical: float, diversity: float, total: float, accepted: bool) -> dict[str, Any]:
    """A step of the descent as ``history_`` has it."""
    return {
        "stage": stage,
        "step": step,
        "empirical": empirical,
        "diversity": diversity,
        "total": total,
        "accepted": accepted,
    }


class Progress:
    """Shows what a fit is doing: by tqdm where it is installed, else by a line of text, ten times a second at most."""

    def __init__(self, only: str | None = None) -> None:
        """``only`` names the one thing to show."""
        self._only = only
        self._bar: Any = None
        self._shown = 0.0
        self._length = 0
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._tqdm = None
        else:
            self._tqdm = tqdm

    def __call__(self, event: Event) -> None:
        if self._only not in (None, event.what):
            return
        if self._tqdm is None:
            self._write(event)
            return
        # Where the total changes it is about other members.
        if self._bar is None or (self._bar.desc, self._bar.total) != (event.what, event.total):
            self._close()
            self._bar = self._tqdm(total=event.total, desc=event.what)
        self._bar.update(event.done - self._bar.n)

    def _write(self, event: Event) -> None:
        what, done, total = event.what, event.done, event.total
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

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        # The line stays as it is.
        if self._length:
            sys.stderr.write("\n")
            sys.stderr.flush()
