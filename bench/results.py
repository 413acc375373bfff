"""What was measured: the table, the JSON, and whether anything disagrees."""

import json
import statistics
from dataclasses import asdict, dataclass, field

import numpy as np


@dataclass
class Row:
    """One line of the table: how our time compares with a peer's, or another figure with its bar."""

    name: str
    unit: str = "x"
    value: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    def __post_init__(self):
        if self.value is None and self.ours and self.theirs:
            self.value = statistics.median(self.theirs) / statistics.median(self.ours)

    @property
    def met(self) -> bool | None:
        if self.value is None or (self.at_least is None and self.at_most is None):
            return None
        above = self.at_least is None or self.value >= self.at_least
        return above and (self.at_most is None or self.value <= self.at_most)

    @property
    def bar(self) -> str:
        low, high = (None if bar is None else f"{bar:g}" for bar in (self.at_least, self.at_most))
        if low and high:
            return f"{low}-{high}"
        return f">= {low}" if low else f"<= {high}" if high else ""

    def line(self) -> str:
        figure = "" if self.value is None else f"{three_digits(self.value)} {self.unit}"
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        return f"{self.name:<30} {timing(self.ours):>12} {timing(self.theirs):>12} {figure:>8} {self.bar:>7} {verdict}"


def timing(seconds: list[float]) -> str:
    """The median, and how far the extremes are apart at most from it."""
    if not seconds:
        return ""
    middle = statistics.median(seconds)
    text = f"{three_digits(middle * 1e3)} ms" if middle < 1 else f"{three_digits(middle)} s"
    if len(seconds) > 1:
        spread = max(max(seconds) / middle - 1, 1 - min(seconds) / middle)
        text += f" {100 * spread:3.0f}%"
    return text


def three_digits(value: float) -> str:
    return f"{value:.{max(0, 2 - int(np.floor(np.log10(abs(value) or 1))))}f}" if abs(value) < 1000 else f"{value:.0f}"


class Results:
    def __init__(self):
        self.machine: dict = {}
        self.versions: dict = {}
        self.rows: list[Row] = []
        self.checks: list[dict] = []
        self.growth: dict = {}
        self.skipped: list[str] = []

    def add(self, name: str, **details) -> Row:
        row = Row(name, **details)
        self.rows.append(row)
        return row

    def check(self, what: str, ours, theirs, tolerance: float) -> None:
        """Whether numbers agree: the largest difference against the largest of theirs."""
        ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
        if ours.shape != theirs.shape:
            difference = float("inf")
        else:
            largest = float(np.abs(theirs).max()) or 1.0
            difference = float(np.abs(ours - theirs).max()) / largest
        # A difference that is no number is none within tolerance.
        agrees = bool(difference <= tolerance)
        self.checks.append({"what": what, "difference": difference, "tolerance": tolerance, "agrees": agrees})

    @property
    def disagreements(self) -> list[dict]:
        return [check for check in self.checks if not check["agrees"]]

    def table(self) -> str:
        lines = [f"{'work':<30} {'ours':>12} {'theirs':>12} {'figure':>8} {'bar':>7}"]
        lines += [row.line().rstrip() for row in self.rows]
        if self.growth:
            lines += ["", f"{'growth, ms a step':<30} {'udeed':>12} {'numpy':>12}"]
        for axis, points in self.growth.items():
            for point in points:
                name = f"{axis} = {point['at']}"
                lines.append(f"{name:<30} {three_digits(point['ours']):>12} {three_digits(point['theirs']):>12}")
        lines += ["", f"{'agreement with the peer':<46} {'difference':>10} {'tolerance':>10}"]
        for check in self.checks:
            verdict = "" if check["agrees"] else " DIFFERS"
            lines.append(f"{check['what']:<46} {check['difference']:>10.1e} {check['tolerance']:>10.0e}{verdict}")
        return "\n".join(lines + [f"skipped: {notice}" for notice in self.skipped])

    def json(self) -> str:
        rows = [{**asdict(row), "bar": row.bar, "met": row.met} for row in self.rows]
        parts = {"machine": self.machine, "versions": self.versions, "rows": rows, "checks": self.checks}
        return json.dumps({**parts, "growth": self.growth, "skipped": self.skipped}, indent=1)
