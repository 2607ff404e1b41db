"""Checks the documentation site for broken links and anchors, files loaded from other hosts, images without alternative
text, and headings that skip a level.

python3 tests/check_site.py build/docs/html   prints one line for each fault; exits 1 if there are any
"""

import html.parser
import os
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The anchors, links, loaded files and faults of a page."""

    def __init__(self):
        super().__init__()
        self.anchors = set()
        self.links = []
        self.loads = []
        self.faults = []
        self.level = 0

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors.update(attrs[name] for name in ("id", "name") if attrs.get(name))
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        if tag in ("script", "img", "iframe", "object", "source", "embed") and (attrs.get("src") or attrs.get("data")):
            self.loads.append(attrs.get("src") or attrs.get("data"))
        if tag == "link" and attrs.get("rel") in ("stylesheet", "icon") and "href" in attrs:
            self.loads.append(attrs["href"])
        if tag == "img" and "alt" not in attrs:
            self.faults.append(f"the picture {attrs.get('src')} has no alternative text")
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            level = int(tag[1])
            if level > self.level + 1:
                self.faults.append(f"a heading of level {level} follows one of level {self.level}")
            self.level = level


def read_page(path):
    page = Page()
    with open(path, encoding="utf-8", errors="replace") as file:
        page.feed(file.read())
    return page


def leads_nowhere(folder, pages, name, link):
    """Returns the reason why a link from a page is broken, or None."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme in ("http", "https", "mailto", "javascript"):
        return None
    target = os.path.normpath(
        os.path.join(os.path.dirname(name), urllib.parse.unquote(parts.path))) if parts.path else name
    if not os.path.exists(os.path.join(folder, target)):
        return "no such file"
    anchor = urllib.parse.unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "no such anchor"
    return None


def find_faults(folder):
    names = [os.path.relpath(os.path.join(at, file), folder)
             for at, _, files in os.walk(folder) for file in sorted(files) if file.endswith(".html")]
    pages = {name: read_page(os.path.join(folder, name)) for name in names}
    for name, page in pages.items():
        yield from (f"{name}: {fault}" for fault in page.faults if not name.startswith("search/"))
        for link in page.links + page.loads:
            reason = leads_nowhere(folder, pages, name, link)
            if reason:
                yield f"{name}: {link}: {reason}"
        for load in page.loads:
            if urllib.parse.urlsplit(load).netloc:
                yield f"{name}: it fetches {load}"


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit("usage: python3 tests/check_site.py build/docs/html")
    faults = list(dict.fromkeys(find_faults(sys.argv[1])))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
