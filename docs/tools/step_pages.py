"""Generates pages that show a chapter's changes: counters and times before and after, and the code side by side."""
import difflib
import functools
import html
import itertools
import re
import subprocess
import types

import counters
import page_text
import pages
import provenance
import results
import times
from operators import OPERATORS

CONTEXT = 3  # unchanged lines that are shown beside a change
LEAST_FOLDED = 4  # fewer unchanged lines are not folded away
MAX_MARKED = 0.7  # a line with a larger changed fraction gets no marks

# Chapter 02 is compared with chapter 01, which is C for the host. Each entry names a part of the work and the snippets
# that implement it in the two chapters.
HOST_PAIRS = (
    ("The scores: loops over all experts; one for each lane", "scores", "score"),
    ("A group's score: a loop over its experts; five exchanges between a warp's lanes", "group_score", "group_score"),
    ("Which groups stay: group after group; every warp has one, and warp 0 compares", "group_score", "groups"),
    ("The best: a sorted list that one expert after another tries to enter; the best of 32 in five exchanges",
     "keep_best", "warp_best"),
    ("The best experts of a group: the same list; round after round the best, which is then taken out",
     "choose", "rounds"),
    ("The best experts of a token: the same list; the heads of the warps' lists", "choose", "merge"),
    ("The weights: a loop over the chosen; a lane for each", "weights", "weights"),
)


@functools.lru_cache(maxsize=None)
def highlighted_lines(text):
    """Returns, for each line of C or CUDA C, a list of characters, each with Doxygen's highlighting class, or ""."""
    import pygments.lexers  # imported here so that everything else works without pygments
    from pygments.token import Comment, Keyword, String
    classes = {Comment.Preproc: "preprocessor", Comment.PreprocFile: "stringliteral", Comment: "comment",
               Keyword: "keyword", String: "stringliteral"}
    lines = [[]]
    for token, piece in pygments.lexers.get_lexer_by_name("cuda", stripnl=False).get_tokens(text):
        is_plain = piece == "thread"  # which pygments takes for another compiler's keyword
        name = next((name for kind, name in classes.items() if token in kind and not is_plain), "")
        for number, part in enumerate(piece.split("\n")):
            lines += [[]] if number else []
            lines[-1] += [(character, name) for character in part]
    return lines[:-1]


def _escape(text):
    """Escapes text for HTML. Also escapes asterisks, because Doxygen searches for ends of comments everywhere."""
    return html.escape(text).replace("*", "&#42;")


def _line_html(line, marked=()):
    out = ""
    for (name, is_marked), cells in itertools.groupby(enumerate(line), lambda cell: (cell[1][1], cell[0] in marked)):
        text = _escape("".join(character for _, (character, _) in cells))
        text = f'<span class="{name}">{text}</span>' if name else text
        out += f"<mark>{text}</mark>" if is_marked else text
    return out


def line_signs(before, after):
    """Returns the first character of each line that diff(1) prints for two whole files: " ", "-" or "+". For
    equal files, the result is empty."""
    command = ["diff", "--minimal", "-U1000000", "--", before, after]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()
    return [line[0] for line in printed[3:] if not line.startswith("\\")]


def _marked_columns(texts, words, same):
    """Returns, for each line, the columns of the words that differ and of the blanks between two such words, or none if
    nearly the whole line would be marked."""
    marked, last = [set() for _ in texts], (-1, 0)
    for index, (_, line, first, end) in enumerate(words):
        if index not in same:
            marked[line].update(range(last[1] if last[0] == line else first, end))
        last = (-1, 0) if index in same else (line, end)
    counts = [sum(not text[column].isspace() for column in columns) for text, columns in zip(texts, marked)]
    return [columns if count <= MAX_MARKED * len("".join(text.split())) else set()
            for text, columns, count in zip(texts, marked, counts)]


def changed_words(before, after):
    """Returns, for each of the old lines and for each of the lines that replaced them, the columns of the words that
    differ."""
    sides = [[(word[0], line, *word.span()) for line, text in enumerate(texts) for word in re.finditer(r"\w+|\S", text)]
             for texts in (before, after)]
    matcher = difflib.SequenceMatcher(None, *([word[0] for word in words] for words in sides), autojunk=False)
    same = [{block[side] + at for block in matcher.get_matching_blocks() for at in range(block.size)}
            for side in (0, 1)]
    return [_marked_columns(*of_side) for of_side in zip((before, after), sides, same)]


def _cells(side, look, number, sign, marked=()):
    """Returns the cells of a line: its number, from 1, and its code; empty cells if there is no line. `look` is the
    cells' class."""
    look += ({"-": " removed", "+": " added", " ": ""}[sign] if number else " none")
    line = _line_html(side.lines[number - 1], marked) if number else ""
    code = f'<code><span class="sign">{sign}</span>{line}</code>' if number else ""
    return f'<td class="n {look}" role="cell">{number or ""}</td><td class="{look}" role="cell">{code}</td>'


def _group(name, rows):
    body = "".join(f'<tr role="row">{row}</tr>\n' for row in rows)
    return f'<tbody class="{name}" role="rowgroup">\n{body}</tbody>\n'


def _beside(before, old, after, new, signs="  ", marked=((), ())):
    """Returns rows with the lines of two ranges side by side; the shorter range ends in empty cells."""
    rows = itertools.zip_longest(old, new, *marked)
    return [_cells(before, "before", left, signs[0], left_marks or ()) +
            _cells(after, "after", right, signs[1], right_marks or ())
            for left, right, left_marks, right_marks in rows]


def _same(before, old, after, new, head, tail):
    """Returns the rows for lines that both files have. The first `head` and the last `tail` lines are shown, the others
    are folded away."""
    if len(old) < head + tail + LEAST_FOLDED:
        return _group("same", _beside(before, old, after, new))
    end = len(old) - tail
    code = "".join(f'<span class="line"><span class="n">{number}</span>{_line_html(after.lines[number - 1])}\n</span>'
                   for number in new[head:end])
    folded = (f'<td colspan="4" role="cell"><details><summary>{end - head} lines unchanged</summary>'
              f'<pre tabindex="0">{code}</pre></details></td>')
    shown = [_group("same", _beside(before, old[part], after, new[part])) if old[part] else ""
             for part in (slice(head), slice(end, None))]
    return shown[0] + _group("folded", [folded]) + shown[1]


def _difference(before, after):
    signs = line_signs(before.kernel, after.kernel)
    if not signs:
        raise ValueError(f"{before.kernel} and {after.kernel} are the same")
    out, at, end_old, end_new = "", 0, 0, 0
    for is_same, group in itertools.groupby(signs, lambda sign: sign == " "):
        group = list(group)
        old = range(end_old + 1, end_old + 1 + len(group) - group.count("+"))
        new = range(end_new + 1, end_new + 1 + len(group) - group.count("-"))
        at, end_old, end_new = at + len(group), end_old + len(old), end_new + len(new)
        if is_same:
            out += _same(before, old, after, new, CONTEXT * (at > len(group)), CONTEXT * (at < len(signs)))
        else:
            texts = [["".join(character for character, _ in side.lines[number - 1]) for number in numbers]
                     for side, numbers in ((before, old), (after, new))]
            out += _group("change", _beside(before, old, after, new, "-+", changed_words(*texts)))
    return out


def _pairs(before, after):
    out = ""
    for what, old, new in HOST_PAIRS:
        out += _group("pair", [f'<th colspan="4" scope="rowgroup" role="rowheader">{what}</th>'])
        old_lines, new_lines = page_text.snippet_lines(before.kernel, old), page_text.snippet_lines(after.kernel, new)
        out += _group("counterparts", _beside(before, old_lines, after, new_lines))
    return out


def _code(before, after):
    links = [f"[{side.kernel}]({side.url})" for side in (before, after)]
    if before.is_host:
        words = ("Hardly a line is the same in C for one core and in CUDA C, so a difference would mark all of it. "
                 f"Here stand side by side the parts that do the same, of {links[0]} and {links[1]}.")
        caption, rows = "What does the same before and after", _pairs(before, after)
    else:
        words = f"What `diff` prints of {links[0]} and {links[1]}; colours, folds and marks on words are the site's."
        caption = "Removed lines bear a minus and stand on the left, added ones a plus, on the right"
        rows = _difference(before, after)
    heads = "".join('<th scope="col" class="n" role="columnheader">line</th><th scope="col" role="columnheader">'
                    f'{side.title}: <a href="{side.url}">{side.kernel.name}</a></th>' for side in (before, after))
    # On a narrow page the table has no table layout, and browsers then drop its implicit roles, so they are explicit.
    return (f"## The code {{#step_{after.number}_code}}\n\n{words}\n\n@htmlonly\n"
            f'<table class="diff" role="table">\n<caption>{caption}</caption>\n'
            f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead>\n{rows}</table>\n@endhtmlonly\n')


def _idea(here):
    """Returns the texts in the kernel's first comment as HTML. Each text ends before a line that begins with a word and
    a colon."""
    comment = here.kernel.read_text().partition("*/")[0]

    def text_behind(start):
        found = re.search(rf"{re.escape(start)} *(.*(?:\n \* (?![A-Z].{{0,6}}:).*)*)", comment)
        if not found:
            raise ValueError(f"{here.kernel}: its first comment has no '{start}'")
        return _escape(re.sub(r"\n \* +", " ", found[1]))

    brief = text_behind(f"@brief {here.title}:")
    items = "".join(f"<dt>{word}</dt><dd>{text_behind(word + ':')}</dd>\n" for word in ("Before", "Now", "Watch"))
    return f'@htmlonly\n<p>In short: {brief}</p>\n<dl class="idea">\n{items}</dl>\n@endhtmlonly\n\n'


def _table(caption, heads, rows):
    """Returns a table; the first cell of each row is its heading."""
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    body = "".join(f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>\n'
                   for first, *cells in rows)
    return ('@htmlonly\n<div class="wide" tabindex="0"><table class="markdownTable figures">\n'
            f"<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n"
            "</table></div>\n@endhtmlonly\n\n")


def change(before, here):
    """Returns the relative change, such as "-29 %" or "+0.3 %", or "same" if there is none, or "new" if the value
    before was 0."""
    if before == here:
        return "same"
    if before <= 0:
        return "new"
    percent = (here - before) / before * 100
    return f"{percent:+.1f} %" if abs(percent) < 9.95 else f"{percent:+.0f} %"


def _counters(before, here):
    reports = [side.report for side in (before, here) if not side.is_host]
    tokens = reports[-1].get("problem", {}).get("num_tokens", 0)
    if tokens < 1 or any(report["problem"]["num_tokens"] != tokens for report in reports):
        raise ValueError(f'{here.title}: "num_tokens" is {tokens}; it must be 1 or more and as in the chapter before')
    per_token, rows = OPERATORS[here.kernel.stem].per_token, []
    for name, label in counters.labels_by_name().items():
        counts = [counters.count(report, name, per_token=per_token) for report in reports]
        if any(counts):
            rows.append((label + (", in all" if per_token and name in counters.NEVER_PER_TOKEN else ""),
                         *map(counters.format_number, counts), *([change(*counts)] if len(counts) > 1 else [])))
    heads = ["counter", before.title, here.title, "change"] if len(reports) > 1 else ["counter", here.title]
    host = "" if len(reports) > 1 else f"\n{before.title} runs on the host, where nothing is counted."
    return (f"## What it counts {{#step_{here.number}_counters}}\n\n" +
            _table("Counters for each token" if per_token else "Counters of all launches", heads, rows) +
            f"{provenance.describe_simulated_runs(reports, any_program=len(reports) > 1)} "
            f"See [what the counters mean](@ref simulator_replay).{host}\n\n")


def _times(before, here, recorded):
    out = f"## How long it takes {{#step_{here.number}_times}}\n\n"
    run = times.chapter_run(recorded, here.kernel.parent.name)
    if not run:
        return out + "No times are recorded yet.\n\n"
    rows = []
    for row in run["rows"]:
        old, new = results.median(row, "before"), results.median(row, "here")
        rows.append((f"{row['num_tokens']:,}", times.format_us(old), times.format_us(new),
                     times.format_us(old / new if old and new else None)))
    host = f", {times.host_words(run)}" if before.is_host else ""
    out += _table("Microseconds per call, median", ["tokens", before.title + host, here.title, "times as fast"], rows)
    if results.is_old(run):
        out += f"*These are times of an older kernel: {here.kernel.name} has changed since.*\n\n"
    return out + provenance.recorded([run]) + "\n\n"


def _side(site, page, build):
    """Returns a chapter, with its program's report if the chapter has a kernel for a GPU."""
    kernel, number = results.kernel_of(page.path.split("/")[1]), pages.number_of(page)
    is_host = kernel.suffix == ".c"
    return types.SimpleNamespace(page=page, number=number, title=f"Chapter {number}", kernel=kernel, is_host=is_host,
                                 report=None if is_host else counters.report(build, f"{number}"),
                                 lines=highlighted_lines(kernel.read_text()),
                                 url=page_text.source_url(site.sources, kernel.as_posix()))


def write_page(before, here, recorded):
    """Returns the page about the changes that the chapter `here` makes, as text for Doxygen."""
    titles = [html.escape(side.page.title) for side in (before, here)]
    way = pages.navigation_links("Chapter", f'<a href="{here.page.id}.html">&larr; Back to {titles[1]}</a>',
                                 "<span></span>", f'<a href="{before.page.id}.html">The chapter before: {titles[0]}</a>')
    return (f"# What chapter {here.number} changed {{#step_{here.number}}}\n{way}\n{_idea(here)}"
            f"{_counters(before, here)}{_times(before, here, recorded)}{_code(before, here)}{way}\n")


def write_pages(site, recorded, build):
    """Returns the pages of all chapters that change the previous chapter's kernel, keyed by the names of the files."""
    sides = [_side(site, page, build) for page in site.pages
             if pages.number_of(page) and results.kernel_of(page.path.split("/")[1])
             and page.path.split("/")[1] not in results.ONLY_64_LANES]
    return {f"step_{here.number}.md": write_page(before, here, recorded)
            for before, here in zip(sides, sides[1:]) if before.kernel.stem == here.kernel.stem}
