"""Whether every link of the built site leads somewhere, and whether its pages load nothing from other hosts.

python site/links.py target/site
"""

import re
import sys
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

# What a style sheet loads from another host, or another sheet.
FOREIGN = re.compile(r"""url\(\s*["']?\s*(https?:)?//|@import""", re.IGNORECASE)


class Page(HTMLParser):
    """The links, the loaded files and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.anchors.update(given[name] for name in ("id", "name") if given.get(name))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel", "").split() != ["canonical"] and "href" in given:
            relation = given["rel"].split()
            (self.links if set(relation) & {"prev", "next", "alternate"} else self.loaded).append(given["href"])
        self.loaded += [given["src"]] if "src" in given else []
        self.loaded += [image.split()[0] for image in given.get("srcset", "").split(",") if image.strip()]


def check(site: Path) -> list[str]:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        # The pages of rustdoc are checked by rustdoc; links into them are checked here.
        if path.relative_to(site).parts[0] == "rust-api":
            continue
        name = path.relative_to(site)
        wrong += [f"{name}: loads {url}" for url in page.loaded if is_elsewhere(url)]
        local = [url for url in page.links + page.loaded if not is_elsewhere(url) and not url.startswith(("mailto:", "data:"))]
        wrong += [f"{name}: {url} leads nowhere" for url in local if not leads(url, path, site, pages)]
    return [*wrong, *styles(site)] if pages else [f"{site}: no pages"]


def is_elsewhere(url: str) -> bool:
    return url.startswith(("http://", "https://", "//"))


def leads(url: str, path: Path, site: Path, pages: dict[Path, Page]) -> bool:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "javascript":
        return False
    base = site if parts.path.startswith("/") else path.parent
    target = (base / urllib.parse.unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    anchor = urllib.parse.unquote(parts.fragment)
    return not anchor or target not in pages or anchor in pages[target].anchors or anchor.startswith("__")


def styles(site: Path) -> list[str]:
    """Style sheets that load from other hosts."""
    sheets = ((path, path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.css")))
    return [f"{path.relative_to(site)}: loads from another host" for path, text in sheets if FOREIGN.search(text)]


if __name__ == "__main__":
    faults = check(Path(sys.argv[1]).resolve())
    print("\n".join(faults) or "every link leads somewhere, nothing is loaded from other hosts")
    sys.exit(bool(faults))
