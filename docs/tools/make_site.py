"""Makes the documentation site in BUILD/docs/html: python3 docs/tools/make_site.py --build BUILD, from the root.

The programs that the pages run must have been built (ninja docs). The tool fails with a one-line message if a page
names something that does not exist, if a committed table or figure is out of date, or if Doxygen prints a warning.
--steppers makes only the pages on which a reader steps through a run, which work without the site:
BUILD/docs/stepper/stepper_NN.html.
"""
import fcntl
from html import escape
import os
import pathlib
import re
import shutil
import subprocess
import sys

import files
import page_text
import pages
import results
import search_data
import step_pages
import stepper_pages

TOOLS = pathlib.Path(__file__).parent
AWESOME = pathlib.Path(os.environ.get("DOXYGEN_AWESOME", "/usr/share/doxygen-awesome-css"))
LUNR = pathlib.Path(os.environ.get("LUNR", "/usr/share/javascript/lunr"))

# Each patch consists of the files that it changes, a pattern, and the replacement for its matches.
PATCHES = (
    # The title becomes a heading.
    ("*.html", r'<div class="title">(.*)</div></div>', r'<h1 class="title">\1</h1></div>'),
    # The list of a page's sections gets a heading one level below the title.
    ("*.html", r'<div class="toc"><h\d>Table of Contents</h\d>', '<div class="toc"><h2>On this page</h2>'),
    ("doxygen-awesome-interactive-toc.js", r"toc > h3", "toc > h2"),
    ("doxygen-awesome.css", r"(\.toc[.a-z]*(?: >)?) h3", r"\1 h2"),
    # The list of sections is in a sidebar only if 120 characters of code fit beside it.
    ("doxygen-awesome.css", r"\(min-width: 1000px\)", "(min-width: 1560px)"),
    ("doxygen-awesome.css", r"\(max-width: 999px\)", "(max-width: 1559px)"),
    # This link is broken on a page that has only macros without a description.
    ("*.html", r'.*<a href="#define-members">Macros</a>.*\n(?![\s\S]*id="define-members")', ""),
    # Repeated attributes and empty rows are removed, to make the site's 800 files smaller.
    ("*.html", r'( id="([^"]*)") name="\2"', r"\1"),
    ("*.html", r'<tr class="separator:[^>]*><td[^>]*>&#160;</td></tr>\n?', ""),
    # The navigation tree lists the pages; the bar at the top links to the pages that readers open from anywhere.
    ("menudata.js", r'{text:"[^"]*",url:"pages.html"}',
     ",".join(f'{{text:"{page.title()}",url:"{page}.html"}}' for page in ("chapters", "exercises", "glossary"))),
    # The navigation tree names variables after files, and a name in JavaScript cannot begin with a digit.
    ("[0-9]*.js", r"\Avar (?=[0-9])", "var _"),
    ("navtree.js", re.escape(r"eval(n.replace(/\-/g,'_'))"), "eval(n.replace(/-/g,'_').replace(/^(?=[0-9])/,'_'))"),
)


def _drop_wrong_links(html, page_ids):
    """Removes links whose text is not the name of their target. Doxygen 1.9.8 makes thousands of them, for example from
    `float` to a kernel."""
    pages = {path.name: path.read_text() for path in html.glob("*.html")}
    names = {name + member[1]: member[2] for name, text in pages.items()
             for member in re.finditer(r'<h2 class="memtitle">.*?href="(#a[0-9a-f]{32})">.*?</span>(\w+)', text)}
    for name, text in pages.items():
        if name.removesuffix(".html") not in page_ids:
            right = re.sub(r'<a class="(?:code|el)[^"]*" href="([^"]+)">(\w+)</a>',
                           lambda link: link[0] if names.get(link[1], link[2]) == link[2] else link[2], text)
            if right != text:
                (html / name).write_text(right)


def _documented_files(text):
    """Returns the paths of the source files that a Doxygen page documents: a single file, or all files that declare a
    structure of this name."""
    made_from = re.search(r"was generated from the following files?:<ul>(.*?)</ul>", text, re.DOTALL)
    items = re.findall(r"<li>(.*?)</li>", made_from[1]) if made_from else [
        "/".join(re.findall(r'<li class="navelem">(.*?)</li>', text))]
    return {re.sub(r"<[^>]*>", "", item) for item in items}


def _included_by(folder):
    """Returns the paths of the course's headers that sources in the folder include, directly or not."""
    found, new = set(), {path for path in pathlib.Path(folder).glob("*.*") if path.suffix in (".c", ".h", ".cu", ".cuh")}
    while new:
        found |= new
        named = {place / name for path in new for name in re.findall(r'(?m)^#include "(.*)"', path.read_text())
                 for place in (path.parent, pathlib.Path("common"))}
        new = {path for path in named if path.is_file()} - found
    return {os.path.normpath(path) for path in found}


# A link that Doxygen makes, in code or in text: its classes, its address and its text.
LINK = re.compile(r'<a class="((?:code|el)[^"]*)" href="([^"]+)"[^>]*>([^<]*)</a>')


def _declares(code, name):
    """Checks whether the code declares a function or a variable of this name."""
    found = re.findall(rf"(\w+|[*&>)])\s+[*&]*(?:const )?{name}\s*[(\[=;]", code)
    return any(before not in ("return", "struct", "enum", "class", "union", "else", "case") for before in found)


def _drop_links_to_namesakes(html, texts, folders):
    """Removes links that Doxygen adds to names on the course's pages, in listings and in text, if they lead to
    functions and structures that merely have the same names. The correct targets are in the page's own folder, in the
    folder of one of its listings, or in a header that the sources in these folders include. Links that the pages
    themselves contain, and links from the names of files, stay."""
    course = {"index", *(pathlib.Path(name).stem for name in texts)}
    documented = {path.name: _documented_files(path.read_text()) for path in html.glob("*.html")
                  if path.stem not in course}
    for name, text in texts.items():
        path = html / f"{pathlib.Path(name).stem}.html"
        listings = set(map(os.path.normpath, re.findall(r"(?m)^\\snippet\S* (\S+)", text)))
        right = set().union(*map(_included_by, {folders.get(path.stem), *map(os.path.dirname, listings)} - {None}))
        code = "\n".join(pathlib.Path(listing).read_text() for listing in sorted(listings))
        own = set(re.findall(r"\]\(([^) ]+)\)", text))

        def checked(link, listings=listings, right=right, code=code, own=own):
            address, shown = link[2], link[3]
            declared = documented.get(address.partition("#")[0])
            if declared is None or address in own or "." in shown and any(file.endswith(shown) for file in declared):
                return link[0]
            # A declaration in a listing hides a type of the same name, except after `struct` or `enum`.
            hidden = (re.search("hl_(struct|class|enumeration)", link[1]) and not declared <= listings
                      and not re.search(r"(struct|enum) (</span>)?$", link.string[:link.start()][-20:])
                      and _declares(code, re.match(r"\w*", shown)[0]))
            return link[0] if len(declared) == 1 and declared <= right and not hidden else shown

        if path.is_file():
            path.write_text(LINK.sub(checked, path.read_text()))


def _patch(html, page_ids):
    """Makes changes to Doxygen's output for which Doxygen has no option."""
    for path in (*html.glob("globals*.html"), html / "pages.html"):
        path.unlink(missing_ok=True)  # lists that no page links to
    for path in [path for path in html.iterdir() if path.suffix in (".html", ".js", ".css")]:
        text = path.read_text()
        if path.stem in page_ids:  # Doxygen does not treat the title as a heading, and puts sections at the first level
            text = re.sub(r"(</?h)([1-4])>", lambda heading: f"{heading[1]}{int(heading[2]) + 1}>", text)
        for name, pattern, replacement in PATCHES:
            if path.match(name):
                text = re.sub(pattern, replacement, text)
        path.write_text(text)


def _define_terms(html, definitions):
    """Gives each link to a glossary term the term's definition as its title, which browsers show as a tooltip."""
    titles = {term: escape(text, quote=True) for term, text in definitions.items()}
    for path in html.glob("*.html"):
        text = path.read_text()
        defined = re.sub(r'(<a class="el" href="glossary\.html#(\w+)")>',
                         lambda link: f'{link[1]} title="{titles[link[2]]}">' if link[2] in titles else link[0], text)
        if defined != text:
            path.write_text(defined)


def _write_files(folder, texts):
    """Replaces the folder with one that contains only these files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / name).write_text(text)


def check_what_is_committed(build):
    """Checks that all tables and figures are up to date, and ends the tool if any is not."""
    for tool in ("tables.py", "figures.py"):
        subprocess.run([sys.executable, TOOLS / tool, "--check", "--build", build], check=True)


def make_site(build, check=check_what_is_committed):
    """Builds the site and returns the path of its start page."""
    styles_and_search = AWESOME / "doxygen-awesome.css", LUNR / "lunr.min.js"
    if not shutil.which("doxygen") or not all(path.is_file() for path in styles_and_search):
        raise ValueError("doxygen, doxygen-awesome-css or libjs-lunr is missing: sh common/setup.sh docs installs it")
    check(build)
    out, html = build / "docs", build / "docs" / "html"
    site = page_text.Site(pages.find_pages(), page_text.find_sources(), page_text.read_terms(),
                          page_text.read_term_pages())
    recorded = results.load()
    of_steps = step_pages.write_pages(site, recorded, build) | stepper_pages.write_pages(build)
    texts = of_steps | pages.write_pages(site, recorded, {name.removesuffix(".md") for name in of_steps})
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # otherwise two processes could overwrite each other's pages
        _write_files(out / "pages", texts)
        shutil.rmtree(html, ignore_errors=True)
        environment = {**os.environ, "SITE_OUT": str(out), "DOXYGEN_AWESOME": str(AWESOME), "LUNR": str(LUNR)}
        subprocess.run(["doxygen", "docs/Doxyfile"], env=environment, check=True)
        course = {"index", *(name.removesuffix(".md") for name in texts)}
        _patch(html, course)
        _drop_wrong_links(html, course)
        _drop_links_to_namesakes(html, texts, {page.id: os.path.dirname(page.path) for page in site.pages})
        _define_terms(html, page_text.read_definitions())
        search_data.write_search_data(html, course)
        shutil.copytree("docs/figures", html / "figures")
        (html / "files").mkdir()
        for address, path in site.files.items():
            shutil.copyfile(path, html / address)
    return html / "index.html"


def make_steppers(build):
    """Builds the pages that play back a run, each as a separate HTML file, and returns their folder."""
    folder = build / "docs" / "stepper"
    _write_files(folder, stepper_pages.write_pages(build, ".html"))
    for path in ("docs/stepper/stepper.js", "docs/stepper/stepper.css"):
        shutil.copy(path, folder)
    return folder


@files.errors_in_one_line("make_site")
def main():
    arguments = files.parser(__doc__, "steppers", build=pathlib.Path("build")).parse_args()
    print((make_steppers if arguments.steppers else make_site)(arguments.build))


if __name__ == "__main__":
    main()
