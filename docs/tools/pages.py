"""Converts the repository's Markdown files to the documentation site's pages, as text for Doxygen. Used by
make_site.py.

Each chapters/NN_name/README.md becomes a page: the walkthrough, with its number and part, links to its neighbours, its
reading time, and links to its files and exercises. If the chapter has a PAGE_2.md, this becomes a second such page,
which follows the first. The lab notes, from the chapter's NOTES.md, are a subpage of the first page. Each
docs/pages/NAME.md, the router data's README.md and each exercise, which its chapter links to, also become pages. The
page "chapters" lists the chapters and their speed-ups. The Markdown files may have these markers:

    <!-- results: ... -->    docs/figures/results.svg, with this alternative text
    <!-- chapters -->        the chapters, part by part, with their subjects
    <!-- speed-ups 1 -->     the recorded times and speed-ups of part 1's chapters, under a heading
    <!-- fold: SUMMARY -->   folds away the text up to <!-- unfold -->; a reader can unfold it
    <!-- run: COMMAND -->    the command and its output; <!-- run 1: COMMAND --> must exit with 1
"""
import os
import pathlib
import re
import subprocess

import model_times
import page_text
import provenance
import results
import times
from operators import OPERATORS

PARTS = (("05", "the gate"), ("10", "align"), ("12", "the layer"),  # each part's last chapter and its title
         ("99", "the fastest version of each operator, and a model"))
ORDER = ("primer", "primer_together", "primer_machine", "chapters", "results", "exercises", "glossary", "simulator",
         "stepping_in_gdb", "router_data")  # the other pages come after these
STEP_PAGES = {"step": "What this step changed</a>, line by line", "stepper": "Step through a run</a>"}
PAGES = (("chapters/[0-9][0-9]*_*/README.md", "chapter_{number}"),
         ("chapters/[0-9][0-9]*_*/PAGE_2.md", "chapter_{number}_2"),
         ("chapters/[0-9][0-9]*_*/NOTES.md", "chapter_{number}_notes"), ("docs/pages/*.md", "{stem}"),
         ("common/data/router/README.md", "router_data"), ("exercises/README.md", "exercises"),
         ("exercises/[0-9]*/README.md", "exercise_{folder}"), ("exercises/AUTHORING.md", "exercise_authoring"))
WORDS_A_MINUTE, LINES_OF_CODE_A_MINUTE = 200, 15
MODEL_CHAPTER = "18_into_a_model"  # its times are for a model's decode step


def find_pages():
    """Returns all pages, beginning with the chapters in order."""
    return [page_text.read_page(path.as_posix(), page_id.format(stem=path.stem, folder=path.parent.name,
                                                                    number=results.number_of(path.parent.name)))
            for pattern, page_id in PAGES for path in sorted(pathlib.Path().glob(pattern))]


def number_of(page):
    """Returns a chapter's number, such as "02" or "11a", or "" for any other page, including a chapter's second page and
    notes."""
    match = re.fullmatch(r"chapters/(\d\d[a-z]?)_[^/]*/README\.md", page.path)
    return match[1] if match else ""


def _beside(site, page, name):
    """Returns the page made from another file in the page's folder, or None."""
    path = f"{os.path.dirname(page.path)}/{name}"
    return next((other for other in site.pages if other.path == path), None)


def _notes_of(site, page):
    """Returns a chapter's lab notes, or None."""
    return _beside(site, page, "NOTES.md") if number_of(page) else None


def _chapter_of(site, page, name):
    """Returns the chapter of whose file `name` the page is made, or None."""
    chapter = _beside(site, page, "README.md") if page.path.endswith(f"/{name}") else None
    return chapter if chapter and number_of(chapter) else None


def _chapters(site):
    return [page for page in site.pages if number_of(page)]


def _in_order(site, chapters):
    """Returns the chapters' pages in reading order: each chapter, followed by its second page if there is one."""
    return [page for chapter in chapters for page in (chapter, _beside(site, chapter, "PAGE_2.md")) if page]


def _part_of(number):
    return next(part for part, (last, _) in enumerate(PARTS) if number <= last)


def subpages(ids):
    """Returns the text that puts pages below the current one in Doxygen's tree, which lists only pages that another
    page names."""
    items = "".join(f"- \\subpage {page_id}\n" for page_id in ids)
    return f"\n@htmlonly<div hidden>@endhtmlonly\n\n{items}\n@htmlonly</div>@endhtmlonly\n"


def navigation_links(label, before, middle, after):
    """Returns a row of links to neighbouring pages; each of the three links is HTML, or "" if there is none."""
    return f'\n@htmlonly<nav class="way" aria-label="{label}">{before}{middle}{after}</nav>@endhtmlonly\n'


def _way_of_chapter(site, page):
    pages = _in_order(site, _chapters(site))
    at = pages.index(page)
    before = after = "<span></span>"
    if at > 0:
        before = f'<a rel="prev" href="{pages[at - 1].id}.html">&larr; {pages[at - 1].title}</a>'
    if at + 1 < len(pages):
        after = f'<a rel="next" href="{pages[at + 1].id}.html">{pages[at + 1].title} &rarr;</a>'
    return navigation_links("Chapters", before, '<a href="chapters.html">All chapters</a>', after)


def _way_of_notes(chapter):
    return navigation_links("Chapter", f'<a href="{chapter.id}.html">&larr; {chapter.title}</a>',
                            '<a href="chapters.html">All chapters</a>', "<span></span>")


def _own_sources(site, page):
    folder = os.path.dirname(page.path) + "/"
    return [path for path in site.sources if path.startswith(folder)]


def _included(site, page):
    """Returns the files that the chapter's files include from common/ and from other chapters."""
    texts = [pathlib.Path(path).read_text() for path in _own_sources(site, page)]
    return {f"chapters/{name[3:]}" if name.startswith("../") else f"common/{name}"
            for text in texts for name in re.findall(r'#include "([^"]+)"', text)}


def _item(lead, links):
    joined = ", ".join(f'<a href="{url}">{text}</a>' for url, text in links)
    return f"<li>{lead}{joined}</li>" if links else ""


def _box(site, chapter, page, writer, own_pages):
    """Returns the info box of a chapter's page: the chapter's number and part, the page's size, and links to the
    chapter's files and exercises."""
    number, part = number_of(chapter), _part_of(number_of(chapter))
    chapters = _chapters(site)
    place = chapters.index(chapter) + 1
    which = "" if page == chapter else ", page 2"
    minutes = writer.words // WORDS_A_MINUTE + writer.lines_of_code // LINES_OF_CODE_A_MINUTE + 1
    included = _included(site, page)
    urls = {path: page_text.source_url(site.sources, path) for path in site.sources}
    sources = [(urls[path], os.path.basename(path)) for path in _own_sources(site, page)]
    headers = [(urls[path].replace("_source.html", ".html"), path.removeprefix("common/"))
               for path in site.sources if path in included]
    exercises = [(f"{other.id}.html", other.title.partition(":")[0]) for other in site.pages
                 if other.id.startswith(f"exercise_{number}_")]
    notes = _notes_of(site, chapter)
    items = _item("Lab notes: ", [(f"{notes.id}.html", notes.title)] if notes else [])
    items += _item("Source: ", sources) + _item("Headers it uses: ", headers)
    items += "".join(f'<li><a href="{page_id}.html">{STEP_PAGES[results.number_of(page_id)]}</li>'
                     for page_id in own_pages)
    return (f'\n@htmlonly<div class="place"><p>Chapter {number.lstrip("0")}{which} ({place} of {len(chapters)}), part '
            f"{part + 1}: {PARTS[part][1]}. About {minutes} minutes to read, longer with pencil and paper: {writer.words} words, {writer.lines_of_code} lines "
            f"of code.</p><ul>{items}{_item('Exercises: ', exercises)}</ul></div>@endhtmlonly\n")


def _idea(page):
    """Returns the subject of a chapter: the first bold words of its text."""
    match = re.search(r"\n\*\*(.*?)\*\*", pathlib.Path(page.path).read_text(), re.DOTALL)
    if not match:
        raise ValueError(f"{page.path}: it does not begin with what it is about, in bold")
    return match[1].replace("\n", " ")


def _ratio(before, here):
    if not before or not here:
        return "-"
    return f"{before / here:.2f}" if before / here < 9.995 else times.format_us(before / here)


def _name(page):
    """Returns a chapter's name, which is the name of its folder."""
    return page.path.split("/")[1]


def _operator(page):
    """Returns the operator of a chapter's kernel, or None."""
    return OPERATORS.get(getattr(results.kernel_of(_name(page)), "stem", None))


def _operator_cells(page, run, is_host, sizes):
    """Returns the table cells of a chapter that belongs to an operator. Chapter 01 runs on the host, and its times are
    in the next chapter's run. A time is followed by its number of tokens if this number differs from the one in the
    column header."""
    cells = []
    for tokens, in_head in zip(times.few_and_many(_name(page)) or sizes, sizes):
        row = results.row_of(run, tokens)
        before, here = results.median(row, "before"), results.median(row, "here")
        us = before if is_host else here
        number = f" ({tokens:,} tokens)" if us and tokens != in_head else ""
        cells += [times.format_us(us) + number, "-" if is_host else _ratio(before, here)]
    return cells


def _chain_cells(run):
    """Returns the cells of a chapter that times chains of kernels: the first chain's time with overlap and its speed-up
    over the same chain without overlap, for the fewest and the most tokens."""
    rows = [row for row in run["rows"] if row["kernel"] == "all" and row["chain"] == run["rows"][0]["chain"]]
    return [cell for row, number in ((rows[0], ""), (rows[-1], f" ({rows[-1]['num_tokens']:,} tokens)"))
            for cell in (times.format_us(row["overlapped_us"]) + number, _ratio(row["plain_us"], row["overlapped_us"]))]


def _model_cells():
    """Returns the cells of the chapter on a complete model: the time of a decode step with the course's kernels and the
    speed-up over the step with PyTorch's grouped products, for the fewest and the most sequences."""
    cells = []
    for batch, number in ((min(model_times.BATCHES), ""), (max(model_times.BATCHES), " ({:,} sequences)")):
        theirs, ours = (model_times.step_ms(name, "graph", batch) for name in ("grouped_mm", "ours"))
        cells += [times.format_us(ours and 1000 * ours) + (number.format(batch) if ours else ""), _ratio(theirs, ours)]
    return cells


def _chain_run(recorded, page):
    """Returns a chapter's run of chains of kernels, or None."""
    is_chain = getattr(results.kernel_of(_name(page)), "stem", None) == "decode"
    run = results.find(recorded, _name(page)) if is_chain else None
    return run if run and run["rows"] else None


def _label(page, run, chain):
    """Returns the words that begin a row in a list of chapters with several operators: what is timed and, if times are
    recorded, the baseline."""
    if chain:
        return f"{chain['rows'][0]['chain']}, vs no overlap"
    if _name(page) == MODEL_CHAPTER:
        return "a model's decode step, vs PyTorch's grouped products"
    operator = _operator(page)
    before = f", vs {results.number_of(run['before'])}" if run and run.get("before") else ""
    before = before.replace(", then ", " + ").replace(", in two launches", " (two launches)")
    return operator.panel[0].lower() + before if operator else ""


def _gain(page, run, chain, is_host, sizes, has_label, other):
    """Returns a chapter's table row. `chain` is the chapter's run of chains of kernels, or None. `other` is the number
    of the chapter with which this one is compared if that is not the chapter in the row above, or ""."""
    cells = _chain_cells(chain) if chain else \
        _model_cells() if _name(page) == MODEL_CHAPTER else _operator_cells(page, run, is_host, sizes)
    if other and not has_label:
        cells[1::2] = [cell if cell in ("", "-") else f"{cell} (vs {other})" for cell in cells[1::2]]
    run = run or chain
    old = " *(times of an older kernel)*" if run and not is_host and results.is_old(run) else ""
    label = _label(page, run, chain) if has_label else ""
    return (f"| {f'*{label}*: ' if label else ''}[{page.title}](@ref {page.id}){old} | "
            f"{' | '.join(cells)} |\n")


def _other_baseline(run, above):
    """Returns the number of the chapter with which a run compares its kernel, or "" if that is the page `above`."""
    before = results.number_of((run or {}).get("before") or "")
    return before if not above or before != number_of(above) else ""


def _of_part(site, part):
    return [page for page in _chapters(site) if _part_of(number_of(page)) == part]


def _chapter_list(site):
    """Returns a list of each part's chapters with their subjects."""
    return "".join(f"\n<b>Part {part + 1}: {title}</b>\n\n" +
                   ("".join(f"- [{page.title}](@ref {page.id}): {_idea(page)}\n"
                            for page in _in_order(site, _of_part(site, part)))
                    or "On its way.\n") for part, (_, title) in enumerate(PARTS))


def _speed_ups(site, recorded, part):
    """Returns the heading and the table of a part's times. The heading is HTML, so that Doxygen's tree lists the
    chapters themselves and not the parts as sections."""
    text = f"\n<h1>Part {part + 1}: {PARTS[part][1]}</h1>\n\n"
    chapters = _of_part(site, part)
    if not chapters:
        return text + "On its way.\n"
    few, many = times.few_and_many(_name(chapters[0]))
    text += (f"| chapter | {few} token, us | times as fast | {many:,} tokens, us | times as fast |\n"
             "|---|---:|---:|---:|---:|\n")
    runs = [times.chapter_run(recorded, _name(page)) for page in chapters]
    chains = [_chain_run(recorded, page) for page in chapters]
    has_labels = len({id(operator) for operator in map(_operator, chapters) if operator}) > 1
    others = [_other_baseline(run, above) for run, above in zip(runs, [None, *chapters])]
    rows = [_gain(page, following if number_of(page) == "01" else run, chain, number_of(page) == "01", (few, many),
                  has_labels, other)
            for page, run, chain, following, other in zip(chapters, runs, chains, [*runs[1:], None], others)]
    text += "".join(rows)
    found = [run for run in (*runs, *chains) if run]
    if not found:
        return text + "\nNo times are recorded yet.\n"
    model = "; chapter 18's are from its `model.py`" if any(_name(page) == MODEL_CHAPTER for page in chapters) else ""
    host = (" Chapter 01 runs on that machine's CPU with up to 16 threads; chapter 02 is compared with it."
            if part == 0 else "")
    before = ("the baseline named after *vs*" if has_labels else
              f"the kernel of the chapter above{', or of the chapter named after *vs*' * any(others[1:])}")
    dash = (" A `-` means that a time was not measured, or not in the same run as its baseline."
            if any("| - |" in row for row in rows) else "")
    return text + ("\nThe times are medians, in microseconds per call. They were recorded "
                   f"{provenance.where_and_when(found)} by `build/gpu/NAME --bench`{model}.{host} *Times as fast* is "
                   f"the time of {before}, measured again in the same run, divided by this chapter's time; the ratio "
                   f"is taken before rounding, and a value below 1 means a slower kernel.{dash}\n")


def _run(command, expected):
    """Runs a command, which must exit with `expected`, and returns the command and its output as code."""
    result = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != expected:
        raise ValueError(f"'{command}' exits with {result.returncode}; it must exit with {expected}")
    return f"\n```\n$ {command}\n{result.stdout}```\n"


def _expand_marker(site, recorded, text):
    """Returns the replacement for a marker, or None if the text is not a marker."""
    if text == "chapters":
        return _chapter_list(site)
    if speed_ups := re.fullmatch(r"speed-ups ([1-9])", text):
        if int(speed_ups[1]) > len(PARTS):
            raise ValueError(f"speed-ups of part {speed_ups[1]}; there are {len(PARTS)} parts")
        return _speed_ups(site, recorded, int(speed_ups[1]) - 1)
    if text.startswith("results: "):
        return page_text.figure("results.svg", text.removeprefix("results: "))
    if text.startswith("fold: ") or text == "unfold":
        tag = f"<details><summary>{text.removeprefix('fold: ')}</summary>" if text != "unfold" else "</details>"
        return f"\n@htmlonly{tag}@endhtmlonly\n"
    command = re.fullmatch(r"run(?: (\d+))?: (.*)", text)
    return _run(command[2], int(command[1] or 0)) if command else None


def _how_to_solve(page):
    """Returns the top of an exercise's page, which shows how to begin and to grade the exercise, and the file to
    complete."""
    name = page.path.split("/")[1]
    return (f"\nIn the repository's root directory, `build/learn run {name}` copies this exercise to "
            f"`exercises/mine/{name}.cu` and grades the copy. Write your code in the regions of this file, each of "
            "which extends from a line `// TODO` to a line `// END`, and run the command again. [Exercises](@ref "
            "exercises) explains how to build `build/learn`, what else it can do, and which kinds of exercises there "
            "are. The grader's messages call this page the README.\n\n"
            "@htmlonly<details><summary>The file that you complete</summary>@endhtmlonly\n"
            f"\\include exercises/{name}/exercise.cu\n@htmlonly</details>@endhtmlonly\n")


def _page(site, page, recorded, step_pages):
    writer, text = page_text.write(site, page, lambda marker: _expand_marker(site, recorded, marker))
    head, foot = f"# {page.title} {{#{page.id}}}\n", ""
    if chapter := _chapter_of(site, page, "PAGE_2.md"):
        foot = _way_of_chapter(site, page)
        head += foot + _box(site, chapter, page, writer, [])
    elif number_of(page):
        way_of_chapter = _way_of_chapter(site, page)
        own = [f"{name}_{number_of(page)}" for name in STEP_PAGES if f"{name}_{number_of(page)}" in step_pages]
        head += way_of_chapter + _box(site, page, page, writer, own)
        notes = _notes_of(site, page)
        below = own + ([notes.id] if notes else [])
        foot = way_of_chapter + (subpages(below) if below else "")
    elif chapter := _chapter_of(site, page, "NOTES.md"):
        foot = _way_of_notes(chapter)
        head += foot
    elif page.id == "mainpage":
        others = [other.id for other in site.pages
                  if not other.id.startswith(("chapter_", "exercise_")) and other.id not in (*ORDER, page.id)]
        foot = subpages([*ORDER, *others])
    elif page.id.startswith("exercise_") and page.path.endswith("/README.md"):
        head += _how_to_solve(page)
    elif page.id == "exercises":
        foot = subpages([other.id for other in site.pages if other.id.startswith("exercise_")])
    return f"{head}{'' if page.id == 'mainpage' else chr(10) + '[TOC]' + chr(10)}\n{text}{foot}"


def _uses(site):
    """Returns comments that list, on the page of each shared kernel, the chapters that use the kernel."""
    uses = {path: [f'@ref {page.id} "{page.title}"' for page in _chapters(site) if path in _included(site, page)]
            for path in site.sources if path.startswith(("common/kernels/", "chapters/"))}
    return "".join(f"/**\n * @file {path}\n *\n * Used in {', '.join(users)}.\n */\n"
                   for path, users in uses.items() if users)


def write_pages(site, recorded, step_pages):
    """Returns all pages, keyed by the names of their files. Chapters link to the step pages whose ids
    are in `step_pages`."""
    pages = {f"{page.id}.md": _page(site, page, recorded, step_pages) for page in site.pages}
    pages["chapters.md"] = ("# The chapters {#chapters}\n" + _chapter_list(site) +
                            "".join(_speed_ups(site, recorded, part) for part in range(len(PARTS))) +
                            subpages([page.id for page in _in_order(site, _chapters(site))]))
    pages["uses.dox"] = _uses(site)
    return pages
