"""Writes the data of the site's search: the sections of its pages, as the script search_data.js. Used by
make_site.py."""
import html
import json
import re

# Parts of a page that are not its own text: scripts, links to other pages, code that another page also has.
LEFT_OUT = re.compile(r'<(script|nav)\b.*?</\1>|<table class="diff.*?</table>|<section class="stepper.*?</section>'
                      r'|<p class="origin">.*?</p>|<div hidden>.*?</div>|<div class="toc">.*?</div>\s*(?=<div|<p)|<!--.*?-->', re.S)
HEADING = re.compile(r"<h[1-6]\b[^>]*>(.*?)</h[1-6]>", re.S)
# The search weights of the course's pages and of Doxygen's pages about source files.
COURSE, REFERENCE = 1, 0.3


def _plain(text):
    """Returns the words of an HTML fragment; the end of a line or of a table cell also ends a word."""
    text = re.sub(r"</?(?:p|div|li|t[dhr]|d[dt]|pre|br|summary|caption|figure)\b[^>]*>", " ", text)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def _sections(page):
    """Yields the heading, anchor and text of each section of a page; the first section has neither heading nor
    anchor."""
    content = re.search(r'<div class="contents">(.*)</div><!-- contents -->', page, re.S)
    parts = HEADING.split(LEFT_OUT.sub(" ", content[1])) if content else []
    for heading, text in zip(["", *parts[1::2]], parts[::2]):
        anchor = re.search(r'\bid="([^"]+)"|href="#([^"]+)"', heading)
        title = _plain(re.sub(r'<span class="permalink">.*?</span>', "", heading))
        if title or _plain(text):
            yield title, (anchor[1] or anchor[2]) if anchor else "", _plain(text)


def write_search_data(folder, course):
    """Writes search_data.js for the pages in the site's folder. `course` names the course's own pages, which are not
    about source files."""
    pages, sections = [], []
    for path in sorted(folder.glob("*.html")):
        text = path.read_text()
        title = re.search(r"<title>(?:[^<]*?: )?([^<]*)</title>", text)
        if path.stem in course or re.search(r"_8(c|h|cu|cuh|py)$|^struct|^class", path.stem):
            sections += [[len(pages), *section] for section in _sections(text)]
            pages.append([html.unescape(title[1]), path.name, COURSE if path.stem in course else REFERENCE])
    data = json.dumps({"pages": pages, "sections": sections}, ensure_ascii=False, separators=(",", ":"))
    (folder / "search_data.js").write_text(f"const searchData = {data};\n")
