# run: $b
"""Tests the numbers on pages: values in the text and in tables, the output of commands, the reasons given for
hand-typed tables of numbers, and README's two commands."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

import course
from course import RESULTS, ROOT, write
import choices
import results
import tables
from test_counter_tables import report
from test_tables import gate_run, us

BUILD = course.build_folder()
NUMBER = re.compile(r"(?<![\w.])[-+~]?\d[\d,.]*(?:e-?\d+)?(?!\w)")
WRITTEN = "|".join((*tables.TABLES, "list", "session"))  # tests/record_session.sh writes the last two
REASON = re.compile(r"<!-- by hand: \S.* -->")
PAGES = ("README.md", "chapters/*/*.md", "docs/pages/*.md", "common/data/*/README.md", "exercises/*.md",
         "exercises/*/README.md")


def is_of_numbers(block):
    """Checks whether a Markdown table or a code block without a language, given by its lines, is a table of numbers."""
    if not block[0].startswith("|"):
        return re.fullmatch(r" *```(console|text)?", block[0]) and \
            sum(len(NUMBER.findall(line)) >= 3 for line in block[1:]) >= 2
    cells = [cell for line in block[2:] for cell in line.strip("|").split("|")[1:] if cell.strip()]
    of_numbers = [len(NUMBER.findall(cell)) >= max(1, len(re.findall(r"[A-Za-z]{2,}", cell))) for cell in cells]
    return 2 * sum(of_numbers) > len(cells)


def blocks(text):
    """Yields a page's tables and code blocks that are outside markers, each with its line number, its lines and the
    line above it."""
    block, written, above = [], False, ""
    for number, line in enumerate([*text.split("\n"), ""], 1):
        fenced = block and not block[0].startswith("|")
        if block and not fenced and not line.startswith("|"):
            yield number - len(block), block, above
            block, above = [], ""
        if block or line.startswith("|") or line.lstrip().startswith("```"):
            block = [] if written and not block and line.startswith("|") else [*block, line]
            if fenced and line.strip() == "```":
                if not written:
                    yield number - len(block) + 1, block, above
                block, above = [], ""
        elif re.match(rf"<!-- ({WRITTEN})\b", line) or line == "<!-- end -->":
            written = line != "<!-- end -->"
        elif line:
            above = line


def typed_by_hand(text):
    """Returns the line numbers of a page's tables of numbers that are neither generated nor marked with a reason, and
    the number of reasons that are not followed by such a table."""
    found = list(blocks(text))
    without = [number for number, block, above in found if is_of_numbers(block) and not REASON.fullmatch(above)]
    used = sum(bool(is_of_numbers(block) and REASON.fullmatch(above)) for _, block, above in found)
    reasons = sum(bool(REASON.fullmatch(line)) for line in text.split("\n"))
    return without, reasons - used


class TheCourse(unittest.TestCase):
    def test_its_tables_are_what_is_recorded_and_printed(self):
        done = subprocess.run([sys.executable, "docs/tools/tables.py", "--check", "--build", BUILD],
                              cwd=ROOT, capture_output=True, text=True, check=False)
        self.assertEqual((done.stderr, done.returncode), ("", 0))

    def test_no_table_of_numbers_is_typed_by_hand_without_a_reason(self):
        for page in sorted(page for pattern in PAGES for page in ROOT.glob(pattern)):
            with self.subTest(page.relative_to(ROOT)):
                self.assertEqual(typed_by_hand(page.read_text()), ([], 0), "lines of such tables; reasons of none")

    def test_the_verdicts_of_claims_are_as_many_as_their_table_says(self):
        text = (ROOT / "docs/pages/claims.md").read_text()
        found = re.findall(r"^\| \w+\d+[^|]*\|[^|]*\| \**([a-z]+(?: [a-z]+)*)", text, re.M)
        table = dict(re.findall(r"^\| ([a-z ]+) \| (\d+) \|$", text, re.M))
        all_of_them = table.pop("in all")
        self.assertEqual({verdict: str(found.count(verdict)) for verdict in table}, table)
        self.assertEqual(sum(map(int, table.values())), int(all_of_them))

    def test_candidates(self):
        counts = choices.candidates()
        self.assertEqual((len(counts), counts[0] >= 8, counts[-1] <= 64), (2048, True, True))

    def test_readme_begins_with_two_commands(self):
        block = re.search(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)[1]
        self.assertEqual([line.partition("#")[0].strip() for line in block.splitlines()],
                         ["sh common/setup.sh && ninja run", "ninja test"])

    def test_readme_has_what_ninja_run_prints(self):
        self.assertIn("\n<!-- prints: ninja run -->\n\n```\nchapter ", (ROOT / "README.md").read_text())


class TypedByHand(unittest.TestCase):
    def test_tables_of_numbers(self):
        rows = "| tokens | us | what |\n|---|---:|---|\n| 1 | 2.50 | -0.5, 3 us |\n| 16 | 68,773 cycles | |"
        fence = "```\nlane  0 1 2\nscan  0 3 4\n```"
        for table in rows, fence, fence.replace("```\nl", "```text\nl"):
            for text, found in ((table, [1]), (f"text\n\n{table}\n\ntext", [3]), (f"{table}\n", [1]),
                                (f"<!-- by hand: measured once -->\n{table}", []),
                                (f"<!-- by hand: measured once -->\n\n{table}", []),
                                (f"<!-- by hand: measured once -->\n{table}\n\n{table}", [2 + table.count("\n") + 2]),
                                (f"<!-- by hand: measured once -->\nwords\n\n{table}", [4]),
                                (f"<!-- by hand:  -->\n{table}", [2]),
                                (f"<!-- times: f32 -->\n\n{table}\n\n<!-- end -->", []),
                                (f"<!-- list -->\n{table}\n<!-- end -->\n{table}", [4 + table.count("\n")])):
                with self.subTest(text):
                    self.assertEqual(typed_by_hand(text)[0], found)

    def test_others(self):
        for text in ("| call | what |\n|---|---|\n| `topk(8)` | the 8 largest |", "| exit | 0 |\n|---|---|\n| a | b |",
                     "```sh\nhead -c 1 2 3\ntail -c 1 2 3\n```", "```\none 1 2 3\n```", "words 1 2 3\nwords 1 2 3"):
            with self.subTest(text):
                self.assertEqual(typed_by_hand(text), ([], 0))
        self.assertEqual(typed_by_hand("<!-- by hand: nothing follows -->\n\nwords"), ([], 1))


TAP = "#!/bin/sh\nprintf '1..2\\nok 1 - a\\nok 2 - b\\n'\n"
def gate_program(name, verified, shuffles):
    """Returns a program that prints the report of a gate's chapter."""
    made = {"chapter": name, "before": "", "verified": verified, "problem": {"num_tokens": 4, "score": "sigmoid"},
            "counters": {"launches": 1, "shuffles": shuffles}}
    return f"#!/bin/sh\ncat <<'END'\n{json.dumps(made)}\nEND\n"


class Values(course.Course):
    def make_course(self):
        for name in ("01_cpu_baseline", "03_third", "04_fourth"):
            write(f"chapters/{name}/{'gate.c' if name < '02' else 'gate.cu'}", f"int x_{name};\n")
        course.program("03_third", report("03_third", 1234567, 12))
        course.program("04_fourth", report("04_fourth", 117, 0))
        write("build/tests/simt/test_a", TAP, 0o755)
        results.write(RESULTS / "03_third.json", [gate_run("03_third", "01_cpu_baseline", 2, [
            {"num_tokens": 1, "here": us(2.5), "before": us(40.0), "floor_us": 0.5}, {"num_tokens": 512, "here": us(2412.0)}])])
        results.write(RESULTS / "04_fourth.json", [gate_run("04_fourth", "03_third", 3, [
            {"num_tokens": 1, "here": us(1.25)}])])
        write("docs/results/model/model.json",
              '{"steps": [{"experts": "ours", "mode": "graph", "batch": 16, "ms": 5.12}]}')
        write("tests/gpu/cycles.cu", "")
        results.clear_caches()
        results.write(RESULTS / "cycles.json", [{
            "peer": "cycles", "command": "cycles", "date": "2026-01-02", "figures": [{"figure": "a", "value": 7}],
            "kernel_source_sha256": results.source_hash(pathlib.Path("tests/gpu/cycles.cu"))}])

    def value(self, words):
        """Generates a value in place of other text, checks that --check accepts the result, and returns the value."""
        self.page(f"It is <!-- value: {words} -->?<!-- end -->, no less.")
        self.assertEqual(self.tables("--check", "a.md")[0], 1)
        self.assertEqual((self.tables(), self.tables("--check", "a.md")), ((0, ""), (0, "")))
        return re.fullmatch(r"It is <!-- value: .* -->(.*)<!-- end -->, no less.", self.written()[0])[1]

    def test_values(self):
        for words, text in (
                ('count("03", "shuffles")', "1,234,567"), ('per_token("04", "shuffles")', "14.6"),
                ('per_token("04", "shuffles"):.2f', "14.62"), ('count("03:last_kernel", "shuffles")', "3"),
                ('report("03", "num_experts")', "2,048"), ('us("f32 03_third", 1)', "2.50"),
                ('us("f32 03_third", 512)', "2,410"), ('us("f32 03_third", 512) - 1', "2,411"),
                ('us("f32 03_third", 1) / us("f32 04_fourth", 1):.1f', "2.0"),
                ('us("f32 01_cpu_baseline", 1)', "40.0"), ('floor_us("f32 03_third", 1)', "0.500"), ('figure("cycles", "a")', "7"),
                ('passed("simt/test_a")', "2"), ('step_us("ours", 16)', "5,120"), ("round(2 / 3, 1):+.1f", "+0.7"), ("1 / 4:.0%", "25%")):
            with self.subTest(words):
                self.assertEqual(self.value(words), text)

    def test_an_example_stays(self):
        self.page("A marker, `<!-- value: X -->1<!-- end -->`.")
        self.assertEqual(self.tables("--check", "a.md"), (0, ""))

    def test_what_is_not_built_stays(self):
        self.page('<!-- value: passed("simt/test_b") -->12<!-- end --> tests.')
        self.assertEqual(self.tables("--check", "a.md"), (0, ""))

    def test_a_table(self):
        self.assertEqual(self.writes(
            "<!-- values: us at tokens | 1 | why -->",
            '<!-- row: 03 | {us("f32 03_third", 1)} | in {1 + 1} launches -->',
            '<!-- row: less | -{100 - 100 * us("f32 04_fourth", 1) / us("f32 03_third", 1):.0f} % | -->'), [
            "| us at tokens | 1 | why |", "|---|---:|---|", "| 03 | 2.50 | in 2 launches |", "| less | -50 % | |"])
        write("chapters/04_fourth/gate.cu", "int changed;\n")
        self.assertEqual(self.tables(), (0, ""))
        self.assertEqual(self.written()[-1], "*Some of these times were recorded from an older kernel.*")

    def test_what_a_command_prints(self):
        self.assertEqual(self.writes("<!-- prints: echo 1 2; echo '<3>' -->"), ["```", "1 2", "<3>", "```"])
        self.refuses("a.md:1: exit 3: exit status 3", "<!-- prints: exit 3 -->", "<!-- end -->")

    def test_what_ninja_run_prints(self):
        for name, shuffles in (("01_cpu_baseline", 4), ("03_third", 8), ("04_fourth", 16)):
            write(f"build/cpu/{name}", gate_program(name, True, shuffles), 0o755)
        made = self.writes("<!-- prints: ninja run -->")
        self.assertEqual([line[:50].rstrip() for line in made[2:5]], [
            f"{name:15} yes             1      {shuffles}" for name, shuffles in
            (("01_cpu_baseline", "1.00"), ("03_third", "2.00"), ("04_fourth", "4.00"))])
        text = pathlib.Path("a.md").read_text()
        for digit in ("2.00", "4.00"):
            write("a.md", text.replace(digit, "2.01"))
            self.assertEqual(self.tables("--check", "a.md")[0], 1, digit)
        write("build/cpu/04_fourth", gate_program("04_fourth", False, 16), 0o755)
        write("a.md", text)
        self.assertEqual(self.tables("--check", "a.md")[0], 2, "a chapter that is not verified")

    def test_what_is_rejected(self):
        for words, why in (("1 +", "invalid syntax"), ("open", "name 'open' is not defined"), ("1 / 0", "division"),
                           ('us("f32 03_third", 2)', "no time of 2 tokens is recorded of 'f32 03_third'"),
                           ('floor_us("f32 03_third", 512)', "no floor of 512 tokens is recorded of 'f32 03_third'"),
                           ('report("03", "input")', "'03' reports no number 'input'"),
                           ('count("3", "shuffles")', "'3' names no run; a run begins with its chapter's two digits"),
                           ('step_us("ours", 1)', "no step of 1 sequences is recorded of 'ours'"),
                           ('figure("cycles", "b")', "no figure 'b' is recorded of 'cycles'")):
            with self.subTest(words):
                self.page(f"<!-- value: {words} -->1<!-- end -->")
                self.assertRegex(self.tables()[1], rf"^tables: a.md:1: the value '{re.escape(words)}': .*{why}")
        self.refuses("a.md:2: a value without its <!-- end --> in the same line", "", "Of <!-- value: 1 -->1", "a.")
        self.refuses("a.md:1: a row of another number of cells than the head's 2", "<!-- values: a | b -->",
                     "<!-- row: 1 -->", "<!-- end -->")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
