"""What the site shows besides the pages of docs/: files of the repository, the gallery, the help of the command, the Python reference.

Everything is declared where it stands; here it becomes pages. A link to a file of the repository leads to its page where it has one,
else to the repository; one to a file that is not there fails the build.
"""

from __future__ import annotations

import ast
import json
import os
import posixpath
import re
import subprocess
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Made before the pages by `gallery.py`.
GALLERY = Path(os.environ["UDEED_GALLERY"])
# Files of the repository that are pages of the site.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "bench/README.md": "bench.md",
    "crates/udeed/README.md": "rust.md",
}
LINK = re.compile(r"(?P<before>!?\[(?:[^\]\[]|\[[^\]]*\])*\]\()(?P<target>[^)\s]+)(?P<after>\))")


def command(*arguments: str) -> str:
    call = [os.environ["UDEED_COMMAND"], *arguments]
    return subprocess.run(call, check=True, capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"}).stdout


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    for entry in config.nav:
        for title, value in entry.items():
            if value == "gallery/":
                entry[title] = ["gallery/index.md", *(f"gallery/{example}.md" for example in examples())]
            elif value == "python/":
                pages = sorted((ROOT / "docs" / "python").glob("*.md"), key=lambda page: page.name.casefold())
                entry[title] = [f"python/{page.name}" for page in pages if page.stem != "README"]
                entry[title].insert(0, "python/README.md")
    return config


def examples() -> list[str]:
    return json.loads((GALLERY / "examples.json").read_text(encoding="utf-8"))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    def add(name: str, **content: object) -> None:
        files.append(File.generated(config, name, **content))

    for source, name in PAGES.items():
        add(name, content=(ROOT / source).read_text(encoding="utf-8"))
    for path in sorted(GALLERY.iterdir()):
        if path.suffix in (".md", ".svg", ".py"):
            add(f"gallery/{path.name}", abs_src_path=str(path))
    add("reference/command.md", content=command_reference())
    add("reference/python.md", content=python_reference())
    for name in ("site.css", "iframe-worker.js"):
        add(name, abs_src_path=str(ROOT / "site" / name))
    return files


def command_reference() -> str:
    """The whole help of every verb."""
    parts = ["# The command\n\nEvery verb with all of its options, as `udeed VERB --help-all` prints them.\n"]

    def describe(words: list[str]) -> None:
        parts.append(f"## {' '.join(['udeed', *words])}\n\n```text\n{command(*words, '--help-all').rstrip()}\n```\n")

    describe([])
    for verb in verbs([]):
        describe([verb])
        for inner in verbs([verb]):
            describe([verb, inner])
    return "\n".join(parts)


def verbs(words: list[str]) -> list[str]:
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", command(*words, "--help"), re.MULTILINE)
    return re.findall(r"^  ([a-z][a-z-]*)(?: |$)", listed[1], re.MULTILINE) if listed else []


def python_reference() -> str:
    """Every public name of the package and of its modules."""
    package = ROOT / "python" / "src" / "udeed"
    names = public_names(package / "__init__.py")
    blocks = [f"::: udeed.{name}\n" for name in names]
    for module in ("activeml", "distributed"):
        blocks += [f"::: udeed.{module}.{name}\n" for name in public_names(package / f"{module}.py")]
    for name in public_names(package / "spark" / "__init__.py"):
        local = name.removesuffix("Model")
        if local in names:
            # Their docstrings are made where Spark is.
            what = f"[`{local}`][udeed.{local}] on [Spark](../python/spark.md)"
            blocks.append(f"## `udeed.spark.{name}`\n\n{what if name == local else f'A model of {what}'}.\n")
        else:
            blocks.append(f"::: udeed.spark.{name}\n")
    return "# Python reference\n\nEvery name of the package `udeed`, from its docstrings.\n\n" + "\n".join(blocks)


def public_names(path: Path) -> list[str]:
    """Those of `__all__`, or the public classes and functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lists = [
        node.value for node in tree.body if isinstance(node, (ast.Assign, ast.AugAssign)) and "__all__" in ast.unparse(node)
    ]
    names = {name for each in lists for name in ast.literal_eval(each)}
    names = names or {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    return sorted((name for name in names if not name.startswith("_")), key=str.casefold)


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """No page that nobody finds."""
    named = {page.file.src_uri for page in nav.pages}
    lost = sorted(page.src_uri for page in files.documentation_pages() if page.src_uri not in named)
    if lost:
        raise PluginError(f"not in the navigation of site/mkdocs.yml: {', '.join(lost)}")
    return nav


def on_page_markdown(text: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    sources = {name: source for source, name in PAGES.items()}
    here = page.file.src_uri
    source = sources.get(here, f"docs/{here}")

    def led(match: re.Match[str]) -> str:
        target, _, anchor = match["target"].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        return f"{match['before']}{address(path, here, config)}{'#' + anchor if anchor else ''}{match['after']}"

    if here in ("index.md", "start.md"):
        # They have no neighbours.
        page.meta["hide"] = ["navigation"]
    if here.startswith(("gallery/", "reference/")):
        return text
    # What rustdoc is told beside the language.
    text = re.sub(r"^```rust,\w+$", "```rust", text, flags=re.MULTILINE)
    parts = re.split(r"(^```.*?^```$|`[^`\n]*`)", text, flags=re.DOTALL | re.MULTILINE)
    parts[::2] = [LINK.sub(led, part) for part in parts[::2]]
    return "".join(parts)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to the site itself, as files outside of it have them, lead to the pages beside."""

    def beside(match: re.Match[str]) -> str:
        path, anchor, rest = re.fullmatch(r"([^#]*)(#?)(.*)", match[1]).groups()
        return f'href="{posixpath.relpath(path or "index.html", posixpath.dirname(page.url) or ".")}{anchor}{rest}"'

    return re.sub(rf'href="{re.escape(config.site_url)}(?!source)([^"]*)"', beside, html)


def address(path: str, here: str, config: MkDocsConfig) -> str:
    """Where a file of the repository is, seen from a page."""
    name = PAGES.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
    if name:
        # A folder is its overview; what the site makes is no file of the repository.
        if (ROOT / path).is_dir():
            name = f"{name}/README.md"
        return posixpath.relpath(name, posixpath.dirname(here) or ".")
    if not (ROOT / path).exists():
        raise PluginError(f"{here}: a link leads to {path}, which is not there")
    return f"{config.repo_url}/blob/main/{path}"
