# run: $b
# needs: pygments
"""Tests the pages that show how a chapter changes the previous chapter's kernel: the course's pages, compared with the
files from which they are made; changed lines; and inputs that are missing or invalid."""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import unittest

import course
from course import ROOT, write
import counters
import files
import page_text
import pages
import results
import runs
import step_pages
import times

BUILD = course.build_folder()


def table_rows(page, caption):
    """Returns a table's rows as {heading: cells}."""
    table = page[page.index(f"<caption>{caption}"):].partition("</table>")[0]
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', table)
    return {heading: re.findall(r"<td>(.*?)</td>", cells) for heading, cells in rows}


class Side(html.parser.HTMLParser):
    """The text of one side of a page's side-by-side diff."""

    def __init__(self, side, page):
        super().__init__()
        self.side, self.text, self.kept, self.folded, self.skipped = side, "", False, False, False
        self.feed(page[page.index('<table class="diff"'):])

    def handle_starttag(self, tag, attrs):
        classes = (dict(attrs).get("class") or "").split()
        if tag == "td" and "n" not in classes:
            self.kept = self.side in classes and "none" not in classes
        self.folded |= tag == "pre"
        self.skipped |= tag == "span" and ("sign" in classes or "n" in classes)

    def handle_endtag(self, tag):
        self.skipped &= tag != "span"
        self.folded &= tag != "pre"
        if tag == "td" and self.kept:
            self.text += "\n"
            self.kept = False

    def handle_data(self, data):
        if (self.kept or self.folded) and not self.skipped:
            self.text += data


class TheCourse(unittest.TestCase):
    """Tests of the course's pages, which are made once for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)
        site = page_text.Site(pages.find_pages(), page_text.find_sources(), page_text.read_terms())
        cls.recorded = results.load()
        cls.pages = {name[5:-3]: text for name, text in step_pages.write_pages(site, cls.recorded, BUILD).items()}
        cls.kernels = {pages.number_of(page): results.kernel_of(page.path.split("/")[1])
                       for page in site.pages if pages.number_of(page)}

    def test_each_step_has_its_page(self):
        """Checks which chapters have a step page; the first chapters of align and of the layer have none."""
        self.assertEqual(list(self.pages), ["02", "03", "04", "05", "07", "08", "09", "10", "11b", "11c", "11d", "13b", "13c",
                                            "14b", "16b"])
        for number, page in self.pages.items():
            self.assertTrue(page.startswith(f"# What chapter {number} changed {{#step_{number}}}\n"))
            self.assertEqual(page.count(f'href="chapter_{number}.html">&larr; Back to {number} '), 2)

    def test_both_sides_are_the_files(self):
        for number, page in self.pages.items():
            numbers = list(self.kernels)
            before, after = self.kernels[numbers[numbers.index(number) - 1]], self.kernels[number]
            if before.suffix == ".c":
                continue
            with self.subTest(number):
                self.assertEqual(Side("before", page).text, before.read_text())
                self.assertEqual(Side("after", page).text, after.read_text())
                signs = subprocess.run(["diff", "--minimal", before, after], capture_output=True, text=True,
                                       check=False).stdout
                self.assertEqual((page.count('"before removed"'), page.count('"after added"')),
                                 (len(re.findall("^<", signs, re.M)), len(re.findall("^>", signs, re.M))))

    def reported(self, program, counter):
        return json.loads(runs.report_path(BUILD, program).read_text())["counters"][counter]

    def test_counters_are_as_reported(self):
        per_token = table_rows(self.pages["04"], "Counters for each token")["shuffles"]
        expected = [f"{self.reported(program, 'shuffles') // 2048:,}"
                    for program in ("03_divergence_free", "04_bitonic_sort")]
        self.assertEqual(per_token, [*expected, "-38 %"])
        in_all = table_rows(self.pages["09"], "Counters of all launches")
        expected = [f"{self.reported(program, 'block_barriers'):,}"
                    for program in ("08_align_blelloch", "09_align_warp_scan")]
        self.assertEqual(in_all["block barriers"], [*expected, "-72 %"])
        self.assertEqual(in_all["shuffles"], ["0", "165", "new"])
        host = table_rows(self.pages["02"], "Counters for each token")["shuffles"]
        self.assertEqual(host, [f"{self.reported('02_warp_per_group', 'shuffles') // 2048:,}"], "the host counts nothing")

    def test_times_are_the_recorded_ones(self):
        for number, chapter, fields in (("04", "04_bitonic_sort", {"dtype": "f32"}),
                                        ("10", "10_align_parallel_fill", {"block_size": 64, "kernel": "auto"})):
            run = results.find(self.recorded, chapter, cache="warm", distribution="router", **fields)
            shown = table_rows(self.pages[number], "Microseconds per call")
            for row in run["rows"]:
                expected = [times.format_us(row[side]["median_us"]) for side in ("before", "here")]
                self.assertEqual(shown[f"{row['num_tokens']:,}"][:2], expected)
            self.assertTrue({"1", "512", "65,536"} <= set(shown))

    def test_the_host(self):
        self.assertRegex(self.pages["02"], r'<th scope="col">Chapter 01, up to \d+ threads</th>')
        self.assertEqual(self.pages["02"].count('scope="rowgroup"'), 7, "what does the same stands side by side")

    def test_a_branch_is_removed_on_its_side(self):
        lines = self.kernels["02"].read_text().splitlines()
        line = next(number for number, text in enumerate(lines, 1) if "if (other.value >= mine.value" in text)
        row = next(row for row in self.pages["03"].splitlines() if f'"n before removed" role="cell">{line}<' in row)
        self.assertIn("if (other.value", re.sub("<[^>]*>", "", row))


KERNEL = ("/**\n * @file gate.cu\n * @brief Chapter 03: <the> third.\n *\n"
          " * Before: 2.\n * Now:    3.\n * Watch:  it.\n */\n" +
          "".join(f"// same {number}\n" for number in range(1, 21)) +
          'int a = b < c && "d";\n/* a comment\n   of two lines */\nint gone;\n')
THIRD, FOURTH = "chapters/03_third/gate.cu", "chapters/04_fourth/gate.cu"
RECORDED = "docs/results/h200/04_fourth.json"


class Step(course.Course):
    """Two kernels: in the second one, one line is changed, one is added and one is removed."""

    def make_course(self):
        write("chapters/03_third/README.md", "# 03 Third & more\n")
        write("chapters/04_fourth/README.md", "# 04 Fourth\n")
        write(THIRD, KERNEL)
        after = KERNEL.replace("Chapter 03: <the> third", 'Chapter 04: a <b> & "c",\n * in two lines')
        write(FOURTH, after.replace("b < c", "b < e").replace("int gone;\n", '#define MORE "<x>" // */\n'))
        write("common/data/router/README.md", "# Data\n")
        write("docs/pages/main_page.md", "# Course {#mainpage}\n")
        self.report("03_third", 6)
        self.report("04_fourth", 4)
        self.record()

    def report(self, program, shuffles, **more):
        counted = {**dict.fromkeys(counters.labels_by_name(), 0), "shuffles": shuffles}
        course.program(program, {"chapter": program, "command": f"b/cpu/{program}", "input": "logits", "verified": True,
                                 "problem": {"num_tokens": 4}, "counters": counted, **more})

    def record(self, **more):
        results.clear_caches()
        rows = [{"num_tokens": 2048, "here": {"median_us": 5}, "before": {"median_us": 12345}},
                {"num_tokens": 1, "here": {"median_us": 5}}]
        write(RECORDED, json.dumps([{
            "chapter": "04_fourth", "before": "03_third", "device": "GPU", "toolkit": "CUDA 1.2", "date": "2026-01-02",
            "command": "gpu/04_fourth --bench", "kernel_source_sha256": results.source_hash(pathlib.Path(FOURTH)),
            "distribution": "router", "cache": "warm", "problem": {"dtype": "f32"}, "rows": rows, **more}]))

    def make(self):
        results.clear_caches()
        site = page_text.Site(pages.find_pages(), page_text.find_sources(), {})
        return step_pages.write_pages(site, results.load(), "build")["step_04.md"]

    def test_titles_and_ideas_are_escaped(self):
        page = self.make()
        self.assertIn("<p>In short: a &lt;b&gt; &amp; &quot;c&quot;, in two lines.</p>\n", page)
        self.assertEqual(page.count("The chapter before: 03 Third &amp; more"), 2)

    def test_counters(self):
        self.assertEqual(table_rows(self.make(), "Counters"), {"shuffles": ["1.50", "1", "-33 %"]},
                         "and none that is not there")

    def test_times(self):
        page = self.make()
        self.assertEqual(table_rows(page, "Microseconds"),
                         {"2,048": ["12,300", "5.00", "2,470"], "1": ["-", "5.00", "-"]})
        self.assertIn("\nThese numbers were recorded on a GPU with CUDA 1.2 on 2026-01-02 by `gpu/NAME --bench`.\n", page)
        self.assertNotIn("older", page)
        write(FOURTH, pathlib.Path(FOURTH).read_text() + "int changed;\n")
        self.assertIn("\n*These are times of an older kernel: gate.cu has changed since.*\n", self.make())
        pathlib.Path(RECORDED).unlink()
        self.assertIn("\nNo times are recorded yet.\n", self.make())

    def test_a_changed_line_is_on_either_side_its_word_marked(self):
        row = ('<tr role="row"><td class="n before removed" role="cell">29</td><td class="before removed" role="cell"><code>'
               '<span class="sign">-</span><span class="keyword">int</span> a = b &lt; <mark>c</mark> &amp;&amp; '
               '<span class="stringliteral">&quot;d&quot;</span>;</code></td><td class="n after added" role="cell">30</td>'
               '<td class="after added" role="cell"><code><span class="sign">+</span><span class="keyword">int</span> a = b &lt; '
               '<mark>e</mark> &amp;&amp; <span class="stringliteral">&quot;d&quot;</span>;</code></td></tr>')
        self.assertIn(row, self.make().splitlines())

    def test_the_difference(self):
        page = self.make()
        difference = page[page.index('<table class="diff"'):]
        comment = [line for line in difference.splitlines() if re.search(">3[01]<", line)]
        self.assertEqual("\n".join(comment).count('class="comment"'), 4, "a comment of two lines is one on both sides")
        self.assertNotIn("*/", difference, "nothing that Doxygen takes for the end of a comment")
        self.assertEqual(re.findall("<summary>.*</summary>", page), ["<summary>19 lines unchanged</summary>"])
        self.assertEqual((page.count('scope="col"'), page.count("<caption>")), (12, 3))
        self.assertEqual(len(re.findall('<a href="0[34]__[a-z]*_2gate_8cu_source.html">gate.cu</a>', page)), 2)

    def refuses(self, message):
        with self.subTest(message), self.assertRaises((OSError, ValueError, SystemExit)) as raised:
            self.make()
        self.assertIn(message, files.error_text(raised.exception))
        self.make_course()

    def test_missing_or_wrong_reports(self):
        course.program("03_third", status=1)
        self.refuses("build/cpu/03_third --format json: exit status 1")
        self.report("04_fourth", 4, chapter="05_fifth")
        self.refuses('04_fourth: it reports "chapter" as "05_fifth"; it must be "04_fourth"')
        self.report("04_fourth", 4, verified=False)
        self.refuses("04_fourth: its result was not verified")
        self.report("04_fourth", 4, problem={"num_tokens": 8})
        self.refuses('"num_tokens" is 8; it must be 1 or more and as in the chapter before')
        self.report("04_fourth", 4, counters={"shuffles": 1})
        self.refuses('04_fourth: it has no counter "')

    def test_wrong_times(self):
        self.record(rows={})
        self.refuses(f'{RECORDED}: a run needs a list "rows", "counters", "figures" or "stages"')
        self.record(chapter="05")
        self.refuses(f'{RECORDED}: "chapter" is "05"; it must be "04_fourth"')

    def test_wrong_kernels(self):
        write(FOURTH, pathlib.Path(FOURTH).read_text().replace(" * Watch:  it.\n", ""))
        self.refuses(f"{FOURTH}: its first comment has no 'Watch:'")
        pathlib.Path(THIRD).rename("chapters/03_third/gate.c")
        self.refuses("the tag [scores] stands in chapters/03_third/gate.c 0 times; it must stand there twice")
        pathlib.Path("chapters/03_third/gate.c").unlink()
        write(FOURTH, KERNEL.replace("Chapter 03", "Chapter 04"))
        write(THIRD, KERNEL.replace("Chapter 03", "Chapter 04"))
        self.refuses(f"{THIRD} and {FOURTH} are the same")


if __name__ == "__main__":
    unittest.main()
