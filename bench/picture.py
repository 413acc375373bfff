"""How a step grows, as one SVG: four log-log panels, ours and numpy's."""

import math

WIDTH, HEIGHT = 880, 250
LEFT, TOP, PANEL, TALL, GAP = 62, 44, 168, 150, 42
TITLES = {"n": "rows", "d": "features", "m": "members", "threads": "threads"}
LINES = {"theirs": ("numpy", "#b5651d"), "ours": ("udeed", "#1f5fa8")}
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.small{font-size:11px;fill:#555}.grid{stroke:#ddd}.axis{stroke:#888}"
    ".guide{stroke:#999;stroke-dasharray:2 4}polyline{fill:none;stroke-width:2}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.small{fill:#aaa}.grid{stroke:#444}}"
)


def draw(growth: dict) -> str:
    times = [point[side] for points in growth.values() for point in points for side in LINES]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))

    def y(milliseconds):
        return TOP + TALL * (high - math.log10(milliseconds)) / (high - low)

    parts = [f'<text x="{LEFT - 46}" y="18">milliseconds a step, both axes logarithmic; dotted: proportional</text>']
    parts += legend()
    for place, (axis, points) in enumerate(growth.items()):
        parts += panel(axis, points, LEFT + place * (PANEL + GAP), y, range(low, high + 1), place == 0)
    body = "\n".join(parts)
    title = "Time of a step by rows, features, members and threads"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n{body}\n</svg>\n"
    )


def legend():
    for place, (name, colour) in enumerate(reversed(LINES.values())):
        left = WIDTH - 180 + 90 * place
        yield f'<line x1="{left}" x2="{left + 24}" y1="14" y2="14" stroke="{colour}" stroke-width="2"/>'
        yield f'<circle cx="{left + 12}" cy="14" r="3" fill="{colour}"/>'
        yield f'<text x="{left + 32}" y="18">{name}</text>'


def panel(axis, points, left, y, decades, first):
    sizes = [point["at"] for point in points]
    span = math.log(sizes[-1] / sizes[0]) or 1.0

    def x(size):
        return left + PANEL * math.log(size / sizes[0]) / span

    bottom = y(10.0 ** decades[0])
    for decade in decades:
        at = y(10.0**decade)
        yield f'<line class="grid" x1="{left}" x2="{left + PANEL}" y1="{at:.1f}" y2="{at:.1f}"/>'
        if first:
            yield f'<text class="small" x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0**decade:g}</text>'
    yield f'<line class="axis" x1="{left}" x2="{left + PANEL}" y1="{bottom:.1f}" y2="{bottom:.1f}"/>'
    for size in sizes:
        yield f'<text class="small" x="{x(size):.1f}" y="{bottom + 16:.1f}" text-anchor="middle">{short(size)}</text>'
    yield f'<text x="{left + PANEL / 2}" y="{bottom + 36:.1f}" text-anchor="middle">{TITLES[axis]}</text>'
    if len(points) > 1:
        yield guide(axis, points, x, y)
    for side, (_, colour) in LINES.items():
        path = " ".join(f"{x(point['at']):.1f},{y(point[side]):.1f}" for point in points)
        yield f'<polyline points="{path}" stroke="{colour}"/>'
        for point in points:
            yield f'<circle cx="{x(point["at"]):.1f}" cy="{y(point[side]):.1f}" r="3" fill="{colour}"/>'


def guide(axis, points, x, y):
    """Where our last point would have come from, were the time proportional (to threads: inversely)."""
    begin, end = points[0]["at"], points[-1]["at"]
    power = -1 if axis == "threads" else 1
    origin = points[-1]["ours"] * (begin / end) ** power
    return (
        f'<line class="guide" x1="{x(begin):.1f}" y1="{y(origin):.1f}" '
        f'x2="{x(end):.1f}" y2="{y(points[-1]["ours"]):.1f}"/>'
    )


def short(size: int) -> str:
    return f"{size / 1000:g}k" if size >= 1000 else str(size)
