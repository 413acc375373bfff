"""Learning curves as one SVG: a panel a learner, a line a strategy, the mean over sets and repetitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from picture import STYLE

WIDTH, HEIGHT = 880, 330
LEFT, TOP, PANEL, TALL, GAP = 52, 56, 370, 220, 60
COLOURS = {
    "random": "#888888",
    "variance-reduction": "#1f5fa8",
    "margin": "#2a8a57",
    "committee": "#b5651d",
    "scikit-activeml, max herding": "#8a3fa0",
}


def means(found: list[dict[str, Any]], strategy: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of labels, and the mean score in percent. A curve that ends early, as its pool is small, keeps its last score."""
    curves = [np.array(row["points"]) for row in found if row["strategy"] == strategy]
    labels = max((curve[:, 0] for curve in curves), key=len)
    return labels, 100.0 * np.mean([np.interp(labels, curve[:, 0], curve[:, 1]) for curve in curves], axis=0)


def draw(learners: dict[str, list[dict[str, Any]]]) -> str:
    curves = {
        name: {strategy: means(found, strategy) for strategy in COLOURS if any(r["strategy"] == strategy for r in found)}
        for name, found in learners.items()
    }
    scores = np.concatenate([score for lines in curves.values() for _, score in lines.values()])
    low, high = int(scores.min()) // 5 * 5, -(-int(np.ceil(scores.max())) // 5) * 5
    parts = [f'<text x="{LEFT - 40}" y="18">mean accuracy in percent, by the number of labels bought</text>']
    for place, (strategy, colour) in enumerate(COLOURS.items()):
        left = LEFT - 40 + [0, 90, 245, 325, 430][place]
        parts.append(f'<line x1="{left}" x2="{left + 20}" y1="36" y2="36" stroke="{colour}" stroke-width="2.5"/>')
        parts.append(f'<text x="{left + 26}" y="40">{strategy}</text>')
    for place, (name, lines) in enumerate(curves.items()):
        parts += panel(name, lines, LEFT + place * (PANEL + GAP), low, high)
    title = "Learning curves of strategies that buy labels"
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n{body}\n</svg>\n"
    )


def panel(name: str, lines: dict[str, tuple[np.ndarray, np.ndarray]], left: float, low: int, high: int) -> list[str]:
    most = max(labels[-1] for labels, _ in lines.values())

    def x(labels: float) -> float:
        return left + PANEL * labels / most

    def y(score: float) -> float:
        return TOP + TALL * (high - score) / (high - low)

    parts = []
    for tick in range(low, high + 1, 5):
        parts.append(f'<line class="grid" x1="{left}" x2="{left + PANEL}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(f'<text class="small" x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick}</text>')
    for tick in range(0, int(most) + 1, 20):
        parts.append(f'<text class="small" x="{x(tick):.1f}" y="{TOP + TALL + 16}" text-anchor="middle">{tick}</text>')
    parts.append(f'<line class="axis" x1="{left}" x2="{left + PANEL}" y1="{TOP + TALL}" y2="{TOP + TALL}"/>')
    parts.append(f'<text x="{left + PANEL / 2}" y="{TOP + TALL + 38}" text-anchor="middle">labels, learner {name}</text>')
    for strategy, (labels, scores) in lines.items():
        path = " ".join(f"{x(n):.1f},{y(score):.1f}" for n, score in zip(labels, scores, strict=True))
        parts.append(f'<polyline points="{path}" stroke="{COLOURS[strategy]}"/>')
    return parts
