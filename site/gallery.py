"""Runs the examples of the gallery and writes a page for each: its words, its code, what it printed and drew.

    python site/gallery.py target/gallery

An example is a script. Its docstring begins with a title; a comment after `# %%` is text, in Markdown, what follows is code. Pictures
are drawn once and kept in a light and a dark form. An example that fails ends the build.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import time
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from udeed import UdeedWarning

# In the order of the overview.
EXAMPLES = ["few_labels", "text", "images", "imbalance", "calibration", "comparing", "labeling", "streaming"]
# What lines and words are drawn in, and what stands for it on a light and on a dark page.
INK = "#123456"
SCHEMES = {"light": "#303030", "dark": "#d0d0d0"}
STYLE = {
    "figure.figsize": (7.2, 3.4),
    "figure.constrained_layout.use": True,
    "savefig.transparent": True,
    "svg.fonttype": "path",
    "svg.hashsalt": "udeed",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": matplotlib.cycler(color=["#3f6fd8", "#e0792b", "#2fa36b", "#b04fc0", "#c9a227", "#808080"]),
    "legend.frameon": False,
    **dict.fromkeys(["text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"], INK),
}


class Example:
    def __init__(self, path: Path) -> None:
        source = path.read_text(encoding="utf-8")
        self.name, self.source = path.stem, source
        docstring = ast.get_docstring(ast.parse(source)) or sys.exit(f"{path}: no docstring")
        self.title, _, self.about = docstring.partition("\n\n")
        # Everything before the first mark is the docstring.
        self.cells = re.split(r"^# %%\n", source, flags=re.MULTILINE)[1:] or sys.exit(f"{path}: no `# %%`")

    def run(self, folder: Path) -> str:
        """The page of the example."""
        parts = [f"# {self.title}\n\n{self.about}\n"]
        names: dict[str, object] = {"__name__": "__main__"}
        began, back = time.perf_counter(), Path.cwd()
        pictures, told = 0, set[str]()
        with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings(), matplotlib.rc_context(STYLE):
            # What a reader would be warned of stands on the page; any other warning is a fault of the example.
            warnings.simplefilter("error")
            warnings.simplefilter("always", UdeedWarning)
            warnings.showwarning = lambda text, kind, *_: tell(f"{kind.__name__}: {text}", told)
            os.chdir(scratch)
            try:
                for number, cell in enumerate(self.cells, 1):
                    words, code = divided(cell)
                    parts.append(words)
                    if not code:
                        continue
                    parts.append(f"```python\n{code}\n```\n")
                    printed = io.StringIO()
                    with contextlib.redirect_stdout(printed):
                        exec(compile(code, f"{self.name}, cell {number}", "exec"), names)
                    if text := printed.getvalue().rstrip():
                        parts.append(f'<div class="printed" markdown>\n\n```text\n{text}\n```\n\n</div>\n')
                    for figure in map(plt.figure, plt.get_fignums()):
                        pictures += 1
                        parts.append(kept(figure, f"{self.name}-{pictures}", folder))
                    plt.close("all")
            finally:
                os.chdir(back)
        if not pictures:
            sys.exit(f"{self.name}: drew nothing")
        seconds = time.perf_counter() - began
        print(f"{self.name}: {seconds:.1f} s, {pictures} pictures", flush=True)
        parts.append(f"It took {seconds:.0f} s. [The whole script]({self.name}.py){{ download }}\n")
        return "\n".join(parts)


def tell(warning: str, told: set[str]) -> None:
    """Prints a warning, once on a page."""
    if warning not in told:
        print(warning)
    told.add(warning)


def divided(cell: str) -> tuple[str, str]:
    """The comment that a cell begins with, and its code."""
    lines = cell.splitlines()
    end = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[:end]) + "\n", "\n".join(lines[end:]).strip()


def kept(figure: plt.Figure, name: str, folder: Path) -> str:
    """Writes a picture in both forms; the Markdown that shows the one that suits the page."""
    axes = figure.axes[0]
    caption = figure.get_label() or axes.get_title() or f"{axes.get_ylabel()} against {axes.get_xlabel()}"
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    shown = []
    for scheme, ink in SCHEMES.items():
        (folder / f"{name}-{scheme}.svg").write_text(re.sub(f"{INK}|#000000", ink, drawn.getvalue()), encoding="utf-8")
        shown.append(f"![{caption}]({name}-{scheme}.svg#only-{scheme})")
    return "\n".join(shown) + "\n"


def overview(examples: list[Example]) -> str:
    lines = ["# Gallery\n\nEach page is a script that ran when this site was built, on real rows that come with a package.\n"]
    for example in examples:
        picture = f"{example.name}-1"
        lines.append(f"## [{example.title}]({example.name}.md)\n\n{example.about}\n")
        lines.extend(f"[![{example.title}]({picture}-{scheme}.svg#only-{scheme})]({example.name}.md)" for scheme in SCHEMES)
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    here = Path(__file__).parent / "gallery"
    if {path.stem for path in here.glob("*.py")} != set(EXAMPLES):
        sys.exit(f"{here}: expected the examples {', '.join(EXAMPLES)}")
    chosen = [Example(here / f"{name}.py") for name in EXAMPLES if name in (sys.argv[2:] or EXAMPLES)]
    for example in chosen:
        (folder / f"{example.name}.md").write_text(example.run(folder), encoding="utf-8")
        (folder / f"{example.name}.py").write_text(example.source, encoding="utf-8")
    (folder / "index.md").write_text(overview(chosen), encoding="utf-8")
    (folder / "examples.json").write_text(json.dumps([example.name for example in chosen]), encoding="utf-8")


if __name__ == "__main__":
    main()
