# run: $b
"""Tests the site's pages that are made from Markdown files: how their lines are converted, and all errors that must
prevent pages from being made."""
import json
import pathlib
import re

import course
from course import write
import files
import page_text
import pages
import results
import unittest

FIRST, SECOND = "chapters/01_first/README.md", "chapters/02_second/README.md"
RECORDED = "docs/results/h200/02_second.json"


class TinyCourse(course.Course):
    """A course of two chapters, an exercise and a glossary."""

    def make_course(self):
        write("chapters/01_first/gate.c", "// [sum]\nint a;\nint b;\n// [sum]\n// [once]\n")
        write("chapters/02_second/gate.cu", '#include "kernels/part.cuh"\n// [other]\n// [other]\n')
        write(SECOND, "# 02 Second {#chapter_02}\n\n**Its idea.** Files.\n")
        write("common/kernels/part.cuh", "/** @file part.cuh */\n")
        write("common/data/router/README.md", "# Data\n")
        write("docs/figures/a.svg", "picture\n")
        write("docs/results/a.json", "[]\n")
        write("docs/pages/glossary.md",
              "# Terms {#glossary}\n\n## Warp {#term_warp}\n<!-- words: warp, warps -->\n<!-- not: time warp -->\nText.\n")
        write("docs/pages/main_page.md", "# Course {#mainpage}\n\n<!-- chapters -->\n\n<!-- speed-ups 1 -->\n")
        write("exercises/README.md", "# Exercises\n\n[One](01_one/README.md)\n")
        write("exercises/AUTHORING.md", "# How to add one\n\nCopy [it](01_one).\n")
        write("exercises/01_one/README.md",
              "# 01_one: what it is about\n\nAfter [one](../../chapters/01_first/README.md).\n")
        self.first()

    def first(self, *lines):
        """Writes the first chapter's README."""
        write(FIRST, "\n".join(["# 01 First {#chapter_01}", "", "**The idea.**", "", *lines, ""]))

    def make(self, step_pages=()):
        """Makes all pages; returns them keyed by name."""
        self.site = page_text.Site(pages.find_pages(), page_text.find_sources(), page_text.read_terms(),
                                   page_text.read_term_pages())
        results.clear_caches()
        recorded = {path.stem: results.read(path) for path in pathlib.Path("docs/results/h200").glob("*.json")}
        return pages.write_pages(self.site, recorded, step_pages)

    def becomes(self, expected, *lines):
        """Checks that these lines of Markdown become the expected line of the page."""
        self.first(*lines)
        with self.subTest(lines=lines):
            self.assertIn(expected, self.make()["chapter_01.md"].splitlines())

    def refuses(self, message, *lines):
        """Checks that making the pages fails with this message."""
        if lines:
            self.first(*lines)
        with self.subTest(message), self.assertRaises((OSError, ValueError)) as raised:
            self.make()
        self.assertEqual(files.error_text(raised.exception), message)


class Lines(TinyCourse):
    def test_bold_text_and_quotations(self):
        self.becomes("<b>&quot;A claim.&quot;</b> No.", '**"A claim."** No.')
        self.becomes("So &quot;`a` of a [warp](@ref term_warp)&quot;.", 'So "`a` of a warp".')
        self.becomes("`a ** b` <b>c", "`a ** b` **c", "d** e")

    def test_links(self):
        self.becomes("[b](@ref chapter_02)", "[b](../02_second/README.md)")
        self.becomes("a [b c](@ref chapter_02)", "a [b", "c](../02_second/README.md)")
        self.becomes("[b](https://example.org/a)", "[b](https://example.org/a)")
        self.becomes("[b](files/docs-results-a.json)", "[b](../../docs/results/a.json)")
        self.assertEqual(self.site.files, {"files/docs-results-a.json": "docs/results/a.json"})

    def test_pictures(self):
        self.becomes('@htmlonly<figure class="picture"><a href="figures/a.svg"><img src="figures/a.svg" '
                     'alt="A &quot;b&quot;" loading="lazy"/></a></figure>@endhtmlonly',
                     '![A "b"](../../docs/figures/a.svg)')

    def test_snippets_say_where_they_come_from_once(self):
        self.becomes(r"\snippet chapters/01_first/gate.c sum", "[sum in gate.c](gate.c)",
                     r"\snippet chapters/01_first/gate.c sum")
        text = self.make()["chapter_01.md"]
        self.assertEqual(text.count('href="gate_8c_source.html#l00002">gate.c, lines 2 to 3<'), 1)
        self.assertNotIn("sum in gate.c", text)

    def test_commands(self):
        self.becomes("4", "<!-- run: echo $((2 + 2)) -->")
        self.becomes("no", "<!-- run 3: echo no; exit 3 -->")

    def test_folded_text(self):
        self.becomes("@htmlonly<details><summary>An answer</summary>@endhtmlonly", "<!-- fold: An answer -->")
        self.becomes("@htmlonly</details>@endhtmlonly", "<!-- unfold -->")

    def test_summaries(self):
        """Checks that a summary with a link is rejected, because a click on a summary unfolds the text below it."""
        question = "<details><summary>Why a warp?</summary>"
        self.becomes(question, question, "A warp it is.")
        self.becomes("A [warp](@ref term_warp) it is.", question, "A warp it is.")
        self.refuses(f"{FIRST}:5: a link in a summary, where a click unfolds what is below; put it there",
                     "<details><summary>Why [a](gate.c)?</summary>")

    def test_terms_and_headings(self):
        self.first("A warp and a warp, in Warps.", "", "## A heading, too", "", "`warp` [warp](gate.c)")
        lines = self.make()["chapter_01.md"].splitlines()
        self.assertIn("A [warp](@ref term_warp) and a warp, in Warps.", lines, "the first use leads to the glossary")
        self.assertIn("## A heading, too {#chapter_01_a_heading_too}", lines)
        self.becomes("`a warp b` [warp](@ref term_warp)", "`a", "warp b` warp")
        self.becomes("A time warp and a [warp](@ref term_warp).", "A time warp and a warp.")
        self.assertIn("`warp` [warp](gate_8c_source.html)", lines,
                      "code and links hold no terms; a source has its page")


    def test_terms_that_have_their_meaning_on_some_pages_only(self):
        glossary = pathlib.Path("docs/pages/glossary.md")
        linked, plain = "A [warp](@ref term_warp).", "A warp."
        for mark, expected in (("only on: chapter_0*, primer", linked), ("only on: primer", plain),
                               ("not on: chapter_0*", plain), ("not on: chapter_02", linked)):
            write(glossary, "# Terms {#glossary}\n\n## Warp {#term_warp}\n<!-- words: warp -->\n"
                            f"<!-- {mark} -->\nText.\n")
            self.becomes(expected, plain)

    def test_definitions(self):
        write("docs/pages/glossary.md", "# Terms {#glossary}\n\nAll.\n\n## Warp {#term_warp}\n<!-- words: warp -->\n"
                                        "Of *32* [threads](a.md),\n`a < b`.\n\n## Next {#term_next}\nMore.\n")
        found = page_text.read_definitions()
        self.assertEqual((found["term_warp"], found["term_next"]), ("Of 32 threads, a < b.", "More."))


class Pages(TinyCourse):
    def test_a_chapters_place(self):
        made = self.make()
        self.assertEqual(made["chapter_01.md"].count('rel="next" href="chapter_02.html"'), 2)
        self.assertEqual(made["chapter_02.md"].count('rel="prev" href="chapter_01.html"'), 2)
        self.assertIn("Chapter 2 (2 of 2), part 1: the gate. About 1 minutes", made["chapter_02.md"])

    def test_a_chapters_notes(self):
        """Checks that the notes have their own page, linked from the chapter and below it in the navigation tree, but
        not in the sequence of previous and next pages."""
        self.first("More in the [notes](NOTES.md#chapter_01_dead_ends).")
        write("chapters/01_first/NOTES.md", "# 01 Lab notes {#chapter_01_notes}\n\nOf [01](README.md).\n\n"
                                            "## Dead ends {#chapter_01_dead_ends}\n\nA [second](../02_second/README.md).\n")
        made = self.make()
        self.assertEqual([page.id for page in self.site.pages[:3]], ["chapter_01", "chapter_02", "chapter_01_notes"])
        self.assertIn("More in the [notes](@ref chapter_01_dead_ends).", made["chapter_01.md"])
        self.assertIn('<li>Lab notes: <a href="chapter_01_notes.html">01 Lab notes</a></li>', made["chapter_01.md"])
        self.assertIn("\\subpage chapter_01_notes\n", made["chapter_01.md"])
        self.assertNotIn("notes", made["chapter_02.md"] + made["chapters.md"] + made["mainpage.md"])
        notes = made["chapter_01_notes.md"]
        self.assertIn("\nOf [01](@ref chapter_01).\n", notes)
        self.assertEqual(notes.count('<a href="chapter_01.html">&larr; 01 First</a>'), 2)
        self.assertNotIn('rel="next"', notes)
        self.assertNotIn("minutes", notes)

    def test_a_chapters_second_page(self):
        """Checks that the second page comes between its chapter and the next one, in the links, in the list of chapters
        and in the navigation tree, and that chapters are numbered without it."""
        write("chapters/01_first/PAGE_2.md", "# 01, page 2: More {#chapter_01_2}\n\n**More of it.** Of [01](README.md).\n")
        made = self.make()
        second = made["chapter_01_2.md"]
        self.assertEqual(made["chapter_01.md"].count('rel="next" href="chapter_01_2.html"'), 2)
        self.assertEqual(made["chapter_02.md"].count('rel="prev" href="chapter_01_2.html"'), 2)
        self.assertEqual(second.count('rel="prev" href="chapter_01.html"'), 2)
        self.assertEqual(second.count('rel="next" href="chapter_02.html"'), 2)
        self.assertIn("Chapter 1, page 2 (1 of 2), part 1: the gate. About 1 minutes", second)
        self.assertIn("Chapter 2 (2 of 2), part 1", made["chapter_02.md"])
        self.assertIn('href="exercise_01_one.html"', second)
        self.assertIn("\n<b>More of it.</b> Of [01](@ref chapter_01).\n", second)
        self.assertIn("The idea.\n- [01, page 2: More](@ref chapter_01_2): More of it.\n- [02 ", made["chapters.md"])
        self.assertIn("\\subpage chapter_01\n- \\subpage chapter_01_2\n- \\subpage chapter_02\n", made["chapters.md"])
        self.assertEqual(made["chapters.md"].count("| [01"), 1)

    def test_what_belongs_to_a_chapter(self):
        made = self.make()
        self.assertIn('href="part_8cuh.html">kernels/part.cuh', made["chapter_02.md"])
        self.assertIn(' * Used in @ref chapter_02 "02 Second".\n', made["uses.dox"])
        self.assertIn('<li>Exercises: <a href="exercise_01_one.html">01_one</a></li>', made["chapter_01.md"])
        self.assertNotIn("exercise_", made["chapter_02.md"])

    def test_lab_notes_are_below_their_chapter(self):
        write("chapters/02_second/NOTES.md", "# 02 Lab notes {#chapter_02_notes}\n\n## Rate {#chapter_02_rate}\n\nText.\n")
        self.first("[notes](../02_second/NOTES.md) [rate](../02_second/NOTES.md#chapter_02_rate)")
        made = self.make()
        self.assertIn("[notes](@ref chapter_02_notes) [rate](@ref chapter_02_rate)", made["chapter_01.md"])
        self.assertIn("\\subpage chapter_02_notes\n", made["chapter_02.md"])
        self.assertIn("Chapter 2 (2 of 2), ", made["chapter_02.md"], "notes are no chapter")
        self.assertIn('<nav class="way" aria-label="Chapter"><a href="chapter_02.html">', made["chapter_02_notes.md"])
        self.assertNotIn("chapter_02_notes", made["chapters.md"] + made["mainpage.md"])

    def test_exercises(self):
        made = self.make()
        self.assertTrue(made["exercise_01_one.md"].endswith("\nAfter [one](@ref chapter_01).\n"))
        self.assertIn("`build/learn run 01_one` copies this exercise to `exercises/mine/01_one.cu` and ",
                      made["exercise_01_one.md"])
        self.assertNotIn("build/learn", made["exercise_authoring.md"])
        self.assertIn("\n[One](@ref exercise_01_one)\n", made["exercises.md"])
        self.assertTrue(made["exercise_authoring.md"].endswith("\nCopy [it](@ref exercise_01_one).\n"))

    def test_pages_of_a_step_are_linked_where_there_are_some(self):
        self.assertNotIn("step_02", self.make()["chapter_02.md"])
        made = self.make({"step_02", "stepper_02"})
        for page in ("step_02", "stepper_02"):
            self.assertIn(f"\\subpage {page}\n", made["chapter_02.md"])
            self.assertIn(f'href="{page}.html"', made["chapter_02.md"])


class Refusals(TinyCourse):
    def test_snippets(self):
        write("docs/other.c", pathlib.Path("chapters/01_first/gate.c").read_text())
        self.refuses(f"{FIRST}:6: chapters/01_first/none.c: No such file or directory", "",
                     r"\snippet chapters/01_first/none.c sum")
        for tag, count in (("none", 0), ("once", 1)):
            self.refuses(f"{FIRST}:5: the tag [{tag}] stands in chapters/01_first/gate.c {count} times; it must "
                         "stand there twice",
                         rf"\snippet chapters/01_first/gate.c {tag}")
        self.refuses(rf"{FIRST}:5: a snippet is '\snippet path tag': '\snippet chapters/01_first/gate.c'",
                     r"\snippet chapters/01_first/gate.c")
        self.refuses(f"{FIRST}:5: docs/other.c is not among the sources that the site shows",
                     r"\snippet docs/other.c sum")

    def test_pictures(self):
        self.refuses(f"{FIRST}:5: the picture '../../docs/figures/none.svg' does not exist",
                     "![A](../../docs/figures/none.svg)")
        self.refuses(f"{FIRST}:5: a picture must be '![what it shows](path)' on a line of its own: '![](a.svg)'",
                     "![](a.svg)")
        self.refuses(f"{FIRST}:5: the picture 'gate.c' is not in docs/figures", "![A](gate.c)")

    def test_links(self):
        missing = f"{FIRST}:7: it links to 'chapters/01_first/none.md': no such file"
        self.refuses(missing, "", "a", "b [c](none.md)")
        self.refuses(missing, "[a", "b](gate.c)", "[c](none.md)")
        self.refuses(f"{FIRST}:7: it links to 'chapters/01_first/none.md': no such file", "`a", "b`", "[c](none.md)")
        self.refuses(f"{FIRST}:5: it links to '../../../a.md', which is outside the repository", "[c](../../../a.md)")

    def test_values_and_reasons(self):
        """Checks that a page shows a value without its markers, and that the text after the reason for a hand-typed
        table is not treated as generated."""
        self.first("It is <!-- value: 1 + 1 -->2<!-- end -->, and", "<!-- value: 3 -->3<!-- end --> more.", "",
                   "<!-- by hand: an example -->", "| a | 1 |", "|---|---|", "", "A warp.")
        made = self.make()["chapter_01.md"]
        self.assertIn("\nIt is 2, and\n3 more.\n\n| a | 1 |\n|---|---|\n\nA [warp](@ref term_warp).\n", made)
        self.assertNotIn("<!--", made)
        self.becomes("`<!-- value: 1 -->1<!-- end -->`", "`<!-- value: 1 -->1<!-- end -->`")

    def test_commands_and_comments(self):
        self.refuses(f"{FIRST}:5: 'exit 3' exits with 3; it must exit with 0", "<!-- run: exit 3 -->")
        self.refuses(f"{FIRST}:5: 'true' exits with 0; it must exit with 1", "<!-- run 1: true -->")
        self.refuses(f"{FIRST}:5: a comment must end on its own line", "<!-- a", "b -->")

    def test_a_list_by_accident(self):
        for start in ("256.", "-", "#"):
            self.refuses(f"{FIRST}:6: '{start}' begins a list or a heading amid a paragraph", "multiples of",
                         f"{start} b")
        self.refuses(f"{FIRST}:6: '256.' begins a list or a heading amid a paragraph", "multiples of",
                     "<!-- value: 256 -->256<!-- end -->. b")
        self.becomes("2. b", "- a", "  c", "2. b")

    def test_bold_text(self):
        self.refuses(f"{FIRST}:6: the paragraph before has '**' without its other end", "**open", "", "next")

    def test_chapters(self):
        write(FIRST, "01 First\n\n**The idea.**\n")
        self.refuses(f"{FIRST}:1: the first line must be '# Title {{#id}}'")
        write(FIRST, "# 01 First\n\nThe idea.\n")
        self.refuses(f"docs/pages/main_page.md:3: {FIRST}: it does not begin with what it is about, in bold")

    def test_the_glossary(self):
        with open("docs/pages/glossary.md", "a") as glossary:
            glossary.write("<!-- words: Warp -->\n")
        self.refuses("docs/pages/glossary.md: 'Warp' leads to term_warp and to term_warp")
        write("docs/pages/glossary.md", "# Terms\n\n## Warp\n<!-- words: warp -->\n")
        self.refuses("docs/pages/glossary.md: '<!-- words: warp -->' ends without -->, or is behind no heading "
                     "with an {#id}")
        pathlib.Path("docs/pages/glossary.md").unlink()
        self.refuses("docs/pages/glossary.md: No such file or directory")


class Gains(TinyCourse):
    def record(self, **more):
        run = {"chapter": "02_second", "before": "01_cpu_baseline", "device": "GPU", "toolkit": "CUDA 1",
               "date": "2026-01-02T03", "command": "build/gpu/02_second --bench", "distribution": "router",
               "cache": "warm", "problem": {"dtype": "f32"},
               "kernel_source_sha256": results.source_hash(pathlib.Path("chapters/02_second/gate.cu")), **more}
        write(RECORDED, json.dumps([run]))

    def row(self, start):
        return next(line for line in self.make()["mainpage.md"].splitlines() if line.startswith(start))

    def test_what_a_chapter_gains(self):
        results.clear_caches()
        self.record(rows=[{"num_tokens": 1, "here": {"median_us": 2.5}, "before": {"median_us": 5}},
                          {"num_tokens": 65536, "here": {"median_us": 99.96}, "before": {"median_us": 12345}}])
        self.assertEqual(self.row("| [02"), "| [02 Second](@ref chapter_02) | 2.50 | 2.00 | 100 | 123 |")
        self.assertEqual(self.row("| [01"), "| [01 First](@ref chapter_01) | 5.00 | - | 12,300 | - |",
                         "timed by the next")
        write("chapters/02_second/gate.cu", "// changed\nint changed;\n")
        self.assertIn("(times of an older kernel)", self.row("| [02"))

    def test_what_chains_and_a_model_gain(self):
        rows = [{"chain": chain, "kernel": kernel, "num_tokens": tokens, "plain_us": us, "overlapped_us": us / 2}
                for chain, kernel, tokens, us in (("gate, align", "gate", 1, 3), ("gate, align", "all", 1, 5),
                                                  ("gate, align", "all", 64, 8), ("align", "all", 64, 1))]
        self.assertEqual(pages._chain_cells({"rows": rows}), ["2.50", "2.00", "4.00 (64 tokens)", "2.00"])
        write("docs/results/model/model.json", json.dumps({"steps": [
            {"experts": experts, "mode": "graph", "batch": batch, "ms": ms}
            for experts, batch, ms in (("ours", 1, 1.5), ("grouped_mm", 1, 2.4), ("ours", 64, 10))]}))
        self.assertEqual(pages._model_cells(), ["1,500", "1.60", "10,000 (64 sequences)", "-"])

    def test_the_list_of_chapters(self):
        made = self.make()
        for page in ("mainpage.md", "chapters.md"):
            self.assertIn("\n<b>Part 1: the gate</b>\n\n- [01 First](@ref chapter_01): The idea.\n"
                          "- [02 Second](@ref chapter_02): Its idea.\n\n<b>Part 2: align</b>\n\nOn its way.\n",
                          made[page])
        write("docs/pages/main_page.md", "# Course {#mainpage}\n\n<!-- speed-ups 9 -->\n")
        self.refuses("docs/pages/main_page.md:3: speed-ups of part 9; there are 4 parts")

    def test_parts_have_the_start_page_s_titles(self):
        start = (course.ROOT / "docs/pages/main_page.md").read_text()
        self.assertEqual(re.findall(r"^<b>Part (\d): (.*)</b>$", start, re.MULTILINE),
                         [(str(part), title) for part, (_, title) in enumerate(pages.PARTS, 1)])

    def test_a_chapter_that_is_not_compared_with_the_chapter_above(self):
        rows = [{"num_tokens": 1, "here": {"median_us": 2.5}, "before": {"median_us": 5}}]
        self.record(before="00_other", rows=rows)
        self.assertEqual(self.row("| [02"), "| [02 Second](@ref chapter_02) | 2.50 | 2.00 (vs 00) | - | - |")
        self.assertIn("the time of the kernel of the chapter above, or of the chapter named after *vs*, measured again",
                      self.make()["mainpage.md"])

    def test_nothing_recorded(self):
        self.assertIn("| - | - | - | - |", self.row("| [02"))
        self.assertIn("No times are recorded yet.", self.make()["mainpage.md"])

    def test_broken_results(self):
        write(RECORDED, '{"rows": [}')
        self.refuses(f"{RECORDED}: line 1, column 11: this is not JSON")
        self.record(rows={})
        self.refuses(f'{RECORDED}: a run needs a list "rows", "counters", "figures" or "stages"')


if __name__ == "__main__":
    unittest.main()
