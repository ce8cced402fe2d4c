"""Checks the links of a finished site: each leads to a file that is there, and to a place inside it.

    docs/site/links.py FOLDER

Pages that Doxygen makes are checked as targets alone.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.places.add(value)


def defects(root):
    pages = {path: Page(path.read_text(errors="replace")) for path in root.rglob("*.html")}
    for path, page in sorted(pages.items()):
        if path.is_relative_to(root / "cpp"):
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{path.relative_to(root)}: links to {link}, which does not exist"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                yield f"{path.relative_to(root)}: links to {link}; the page has no such place"


def main():
    root = Path(sys.argv[1]).resolve()
    found = list(defects(root))
    print("\n".join(found) if found else f"links: all links inside {len(list(root.rglob('*.html')))} pages lead somewhere")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
