"""Converts Markdown files of the repository to text for the documentation site. Used by pages.py and make_site.py.

Links lead to pages of the site, to the pages of source files, or to copies of other files; a picture on its own
line becomes a figure; each snippet has a link to its source above it; the first use of each term links to the
glossary; headings have ids, so that links to them stay valid. Functions raise ValueError with a one-line
message that names the file and the line.
"""
import collections
import dataclasses
import fnmatch
import html
import os
import pathlib
import re

import files

SOURCE_FOLDERS = ("chapters", "common", "docs/primer")
SOURCE_SUFFIXES = (".c", ".h", ".cpp", ".cu", ".cuh", ".py")
GLOSSARY = "docs/pages/glossary.md"
LIST_ITEM = re.compile(r"([0-9]+[.)]|[-+*]|#+) ")  # may match by accident, if a line of a paragraph begins with "256. "
COMMENT = re.compile(r"<!--.*?-->")
NO_PROSE = re.compile(r"$|[ #<]|[0-9]+[.)] |[-+*] ")  # lines after which a list or a heading may begin
Page = collections.namedtuple("Page", "path id title")  # a file that becomes a page, whose file is named after the id


@dataclasses.dataclass
class Site:
    """All targets to which a page may refer."""
    pages: list  # a list of Page
    sources: list  # the paths of the source files that the site shows, in order
    terms: dict  # from words in lower case to the id of the glossary term that they link to
    term_pages: dict = dataclasses.field(default_factory=dict)  # from a term's id to its entry in read_term_pages()
    files: dict = dataclasses.field(default_factory=dict)  # the files that pages link to: from addresses to paths

    def has_term(self, term, page_id):
        """Checks whether a term's words have the glossary's meaning on a page."""
        is_only, patterns = self.term_pages.get(term, (False, ()))
        return any(fnmatch.fnmatchcase(page_id, pattern) for pattern in patterns) == is_only


def find_sources():
    """Returns the paths of the sources that the site shows, in alphabetical order within a folder."""
    paths = [path for folder in SOURCE_FOLDERS for path in pathlib.Path(folder).rglob("*")
             if path.suffix in SOURCE_SUFFIXES and path.is_file()]
    shown = [path for path in paths if not any(part == "data" or part.startswith(".") for part in path.parts)]
    return [path.as_posix() for path in sorted(shown, key=lambda path: path.parts)]


def source_url(sources, path):
    """Returns the address of the page that shows a source, or None if the site does not show it. Doxygen names the page
    after the file and as much of its path as is needed to distinguish it from other files of the same name."""
    if path not in sources:
        return None
    parts = path.split("/")
    others = [other.split("/") for other in sources if other != path and other.endswith("/" + parts[-1])]
    shared = min((len(os.path.commonprefix([parts, other])) for other in others), default=len(parts) - 1)
    name = "/".join(parts[shared:])
    return name.replace("_", "__").replace("/", "_2").replace(".", "_8") + "_source.html"


def read_page(path, default_id):
    """Returns the Page for a file. The file's first line, `# Title {#id}`, gives the title and the id; without {#id}
    the page has the default id."""
    first = pathlib.Path(path).read_text().partition("\n")[0]
    title = re.fullmatch(r"# (.*?)( \{#(\w+)\}.*)?", first, re.ASCII)
    if not title:
        raise ValueError(f"{path}:1: the first line must be '# Title {{#id}}'")
    return Page(path, title[3] or default_id, title[1])


def read_terms(path=GLOSSARY):
    """Returns the words that link to the glossary's terms, with the terms' ids, in order. A heading with an {#id} is a
    term; the line after it may list words: `<!-- words: request, requests -->`. Without this line no word links to the
    term automatically. The next line may list phrases in which such a word has another meaning: `<!-- not: pull
    requests -->`. The id of these phrases is ""."""
    terms, term = {}, ""
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("#"):
            term = (re.search(r"\{#([a-z0-9_]+)\}", line) or ["", ""])[1]
        elif words := re.match(r"<!-- (words|not): ([^>]*)", line):
            if not term or " -->" not in line:
                raise ValueError(f"{path}: '{line}' ends without -->, or is behind no heading with an {{#id}}")
            for word in words[2].removesuffix(" --").split(","):
                word, leads_to = word.strip(), term if words[1] == "words" else ""
                if word.lower() in terms:
                    raise ValueError(f"{path}: '{word}' leads to {terms[word.lower()]} and to {leads_to}")
                terms[word.lower()] = leads_to
    return terms


def read_term_pages(path=GLOSSARY):
    """Returns on which pages each term's words have the glossary's meaning. Below the term's heading, `<!-- only on:
    chapter_0*, primer -->` names the pages on which the words link to the term, and `<!-- not on: ... -->` names the
    pages on which they do not. The keys are the terms' ids, and the values are pairs (whether the marker is `only`,
    page id patterns)."""
    found, term = {}, ""
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("#"):
            term = (re.search(r"\{#([a-z0-9_]+)\}", line) or ["", ""])[1]
        elif pages := re.fullmatch(r"<!-- (only|not) on: ([^>]*) -->", line):
            found[term] = (pages[1] == "only", tuple(name.strip() for name in pages[2].split(",")))
    return found


def read_definitions(path=GLOSSARY):
    """Returns the terms' definitions, keyed by the terms' ids, as text without Markdown syntax."""
    found, term = {}, ""
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("#"):
            term = (re.search(r"\{#([a-z0-9_]+)\}", line) or ["", ""])[1]
        elif term and not line.startswith("<!--"):
            found[term] = f"{found.get(term, '')} {line}"
    plain = {term: re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", text) for term, text in found.items()}
    return {term: " ".join(text.split()) for term, text in plain.items() if text.strip()}


@dataclasses.dataclass
class Writer:
    """The state of a page that is being written."""
    site: Site
    page: Page
    expand_marker: object  # takes a comment's text; returns its replacement, or None if it is not a marker
    pieces: re.Pattern
    linked_terms: set = dataclasses.field(default_factory=set)
    words: int = 0
    lines_of_code: int = 0
    fence: str = ""  # the fence of the current code block, or ""
    in_generated: bool = False
    in_bold: bool = False


def _pieces_of_lines(terms):
    """Returns the pattern of the parts of a line that must be converted or skipped: code, a tag, a link's text or
    target, bold, a quotation mark, a term."""
    words = "|".join(re.escape(word) for word in sorted(terms, key=len, reverse=True)) or r"(?!)"
    return re.compile(r"(?P<as_is>(?P<quotes>`+).*?(?P=quotes)|<[A-Za-z/!][^>]*>|\[.*?(?=\]\())"
                      r"|\]\((?P<target>[^) ]*)(?P<end>.?)|(?P<bold>\*\*)|(?P<mark>\")"
                      rf"|(?<![\w-])(?P<term>{words})(?!\w)", re.ASCII | re.IGNORECASE)


def _resolve(writer, target):
    """Returns the path, relative to the repository's root, to which a link or a picture on the page refers."""
    return os.path.normpath(os.path.join(os.path.dirname(writer.page.path), target))


def _link_target(writer, target):
    """Returns the address on the site for a link to `target`."""
    site, (path, _, section) = writer.site, _resolve(writer, target).partition("#")
    if target.startswith(("http://", "https://", "#", "@")):
        return target
    if path.startswith(".."):
        raise ValueError(f"it links to '{target}', which is outside the repository")
    for page in site.pages:
        if page.path in (path, f"{path}/README.md"):
            return f"@ref {section or page.id}"
    if path in site.sources:
        return source_url(site.sources, path)
    if not os.path.isfile(path):
        raise ValueError(f"it links to '{path}': no such file")
    address = "files/" + path.replace("/", "-")
    site.files[address] = path
    return address


def _piece(writer, piece, terms):
    """Returns the replacement for a matched part of a line."""
    if piece.lastgroup == "end":
        if piece["end"] != ")":
            raise ValueError(f"a link without its ')', or with a blank in it: '{piece.string[piece.start():][:40]}'")
        return f"]({_link_target(writer, piece['target'])})"
    if piece.lastgroup == "bold":  # Doxygen 1.9.4 does not convert `**"`
        writer.in_bold = not writer.in_bold
        return "<b>" if writer.in_bold else "</b>"
    if piece.lastgroup == "mark":  # Doxygen recognises neither code nor links between quotation marks
        return "&quot;"
    if piece.lastgroup == "term":
        term = writer.site.terms[piece[0].lower()]
        if not terms or not term or term in writer.linked_terms or not writer.site.has_term(term, writer.page.id):
            return piece[0]
        writer.linked_terms.add(term)
        return f"[{piece[0]}](@ref {term})"
    return piece[0]


def _text_line(writer, line, terms):
    """Converts a line of a paragraph, a list or a table, and links terms to the glossary if `terms` is true."""
    return writer.pieces.sub(lambda piece: _piece(writer, piece, terms), line)


def figure(name, alternative):
    """Returns the HTML of a picture from docs/figures. The picture links to its own file, because at full size it may
    be wider than the page."""
    return (f'\n@htmlonly<figure class="picture"><a href="figures/{name}"><img src="figures/{name}" '
            f'alt="{html.escape(alternative)}" loading="lazy"/></a></figure>@endhtmlonly\n')


def _figure_line(writer, line):
    """Converts `![alternative text](path.svg)`, which must be alone on its line."""
    parts = re.fullmatch(r"!\[([^]]+)\]\(([^) ]+)\)", line)
    if not parts:
        raise ValueError(f"a picture must be '![what it shows](path)' on a line of its own: '{line[:60]}'")
    path = _resolve(writer, parts[2])
    if not os.path.isfile(path):
        raise ValueError(f"the picture '{parts[2]}' does not exist")
    if os.path.dirname(path) != "docs/figures":
        raise ValueError(f"the picture '{parts[2]}' is not in docs/figures")
    return figure(os.path.basename(path), parts[1])


def snippet_lines(path, tag):
    """Returns the range of a snippet's line numbers."""
    marks = [number for number, text in enumerate(pathlib.Path(path).read_text().splitlines(), 1) if f"[{tag}]" in text]
    if len(marks) != 2:
        raise ValueError(f"the tag [{tag}] stands in {path} {len(marks)} times; it must stand there twice")
    return range(marks[0] + 1, marks[1])


def _snippet_line(writer, line):
    r"""Checks `\snippet path tag`, and puts a link to the shown lines above the snippet."""
    words = line.split()
    if len(words) != 3:
        raise ValueError(f"a snippet is '\\snippet path tag': '{line[:60]}'")
    path, tag = words[1:]
    shown = snippet_lines(path, tag)
    url = source_url(writer.site.sources, path)
    if not url:
        raise ValueError(f"{path} is not among the sources that the site shows")
    writer.lines_of_code += len(shown)
    lines = f"lines {shown.start} to {shown.stop - 1}" if len(shown) > 1 else f"line {shown.start}"
    words = f"{os.path.basename(path)}, {lines}"
    return f'\n@htmlonly<p class="origin"><a href="{url}#l{shown.start:05}">{words}</a></p>@endhtmlonly\n\n{line}\n'


def _comment_line(writer, line):
    """Returns the replacement for a comment that is a marker of the site, or None for any other comment."""
    if " -->" not in line:
        raise ValueError("a comment must end on its own line")
    text = line[len("<!-- "):line.index(" -->")]
    expanded = writer.expand_marker(text)
    if text == "end":
        writer.in_generated = False
    elif expanded is None and ":" in text and not text.startswith(("words:", "not:", "only on:", "not on:", "by hand:")):
        writer.in_generated = True
    return expanded


def _heading_line(writer, line):
    """Derives an id from the words of a heading that has no id."""
    if "{#" in line:
        return _text_line(writer, line, False)
    words = re.findall(r"[a-z0-9]+", line.lower())
    return f"{line} {{#{'_'.join([writer.page.id, *words])}}}"


def _line(writer, line, following):
    """Converts a line of the file; returns None if the line must be omitted."""
    fence = line.lstrip(" ")[:3]
    if writer.fence or fence in ("```", "~~~"):
        is_end = fence == writer.fence
        writer.fence = "" if is_end else writer.fence or fence
        writer.lines_of_code += not is_end
        return line
    line = files.VALUE.sub(r"\3", line)
    if line.startswith("<!-- "):
        return _comment_line(writer, line)
    if line.startswith("!["):
        return _figure_line(writer, line)
    if line.startswith("\\snippet "):
        return _snippet_line(writer, line)
    if line.startswith("[") and line.endswith(")") and following.startswith("\\snippet "):
        return None  # a README's link to the snippet's file; _snippet_line() writes its own
    if line.startswith("##"):
        return _heading_line(writer, line)
    if not line and writer.in_bold:
        raise ValueError("the paragraph before has '**' without its other end")
    if not writer.in_generated:
        writer.words += len(re.findall(r"[A-Za-z0-9]\S*", line))
    # A <summary> is itself an interactive element, and Doxygen 1.9.8 does not accept links inside it.
    if re.search(r"<summary>.*\]\(.*</summary>", line):
        raise ValueError("a link in a summary, where a click unfolds what is below; put it there")
    is_prose = not line.startswith(("|", "<details>")) and not writer.in_generated and writer.page.path != GLOSSARY
    return _text_line(writer, line, is_prose)


def _is_open(line):
    """Checks whether inline code or a link's text continues on the next line, where Doxygen would not recognise it."""
    return line.rfind("[") > line.rfind("]") or (line.lstrip()[:3] != "```" and line.count("`") % 2 == 1)


def write(site, page, expand_marker):
    """Returns the Writer, which has counted the words and the lines of code, and the text for Doxygen that follows the
    page's title."""
    writer = Writer(site, page, expand_marker, _pieces_of_lines(site.terms))
    lines, out, at = pathlib.Path(page.path).read_text().splitlines(), [], 1
    while at < len(lines):
        line, number, at = lines[at], at + 1, at + 1
        while not writer.fence and at < len(lines) and lines[at] and _is_open(line):
            line, at = f"{line} {lines[at].lstrip()}", at + 1
        try:
            shown = COMMENT.sub("", line)
            if not writer.fence and LIST_ITEM.match(shown) and NO_PROSE.match(lines[number - 2]) is None:
                raise ValueError(f"'{shown.split()[0]}' begins a list or a heading amid a paragraph")
            out.append(_line(writer, line, lines[at] if at < len(lines) else ""))
        except (OSError, ValueError) as error:
            raise ValueError(f"{page.path}:{number}: {files.error_text(error)}") from error
    return writer, "\n".join(line for line in out if line is not None) + "\n"
