# run: $b
"""Tests the primer: its programs exit as the page says and print the numbers that the text explains, and a reader's
own kernel can be built as the page says."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import course
import introduction_examples
import latency
import pages

PAGES = [pathlib.Path(f"docs/pages/{name}.md") for name in ("primer", "primer_together", "primer_machine")]
BUILD = course.build_folder()

# Commands, each with the parts of its output that the text quotes.
PRINTED = {
    "primer gate": ["topk_ids 2 5", "topk_weights 0.54 0.46"],
    "primer who": ["[33] = 101", "[128] = 0", "global store requests 8"],
    "primer neighbours": ["global load requests 1", "global load sectors 4"],
    "primer strides": ["global load sectors 32"],
    "primer rows": ["[1] = 22", "global load requests 4", "global load sectors 64"],
    "primer branch": ["divergent branches 1", "active lanes 75.0 %"],
    "primer select": ["active lanes 100.0 %"],
    "primer shuffle_8": ["[7] = 28, [8] = 92", "shuffles 3"],
    "primer shuffle": ["[31] = 496", "shuffles 5"],
    "primer barrier": ["shuffles 20", "block barriers 1", "divergent branches 4", "shared load requests 16",
                       "shared store requests 4"],
    "primer race": ["race: thread (1,0,0) of block (0,0,0) reads 4 bytes of 'sums' at byte 0 (of 16) that thread (0,0,0) wrote"],
    "primer syncwarp": ["warp barriers 1"],
    "primer collect": ["[42] = 126", "atomic requests 4", "atomic conflicts 39"],
    "first_1": ["race: thread (4,0,0)", "that thread (2,0,0) wrote"],
    "first_2": ["out-of-bounds global access: thread (100,0,0)"],
    "first_3": ["right"],
    "primer reverse": ["out[0] = 127", "[128] = 255"],
    "primer occupancy": ["32 0 32 32 50.0 %", "128 48 4 16 25.0 %"],
    "primer sum": ["out[0] = 499500", "shuffles 40", "atomic requests 8"],
    "primer histogram": ["atomic requests 34", "atomic conflicts 808", "block barriers 4"],
    "primer tile": ["out[0] = 120"],
    "primer publish": ["out[0] = 7, [1] = 7, [2] = 1", "global load requests 12290"],
    "primer fences": ["out[0] = 7, [1] = 7, [2] = 1"],
    "primer unordered": ["global memory race: thread (0,0,0) of block (1,0,0)"],
}


class Primer(unittest.TestCase):
    def setUp(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(course.ROOT)

    def test_programs_print_what_the_text_explains(self):
        commands = [found for page in PAGES for found in
                    re.findall(r"<!-- run(?: (\d+))?: build/cpu/((?:primer|first).*?) -->", page.read_text())]
        self.assertEqual([command for _, command in commands], list(PRINTED))
        for status, command in commands:
            said = " ".join(pages._run(f"{BUILD}/cpu/{command}", int(status or 0)).split())
            for piece in PRINTED[command]:
                with self.subTest(command):
                    self.assertIn(piece, said)

    def test_a_fault_is_in_the_line_that_the_text_names(self):
        for command, line in (("primer race", "    out[threadIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];"),
                              ("primer unordered", "        *(volatile int *)&out[2] = 1;"),
                              ("first_1", "    counts[ids[i]]++;"), ("first_2", "    atomicAdd(&counts[ids[i]], 1);")):
            said = pages._run(f"{BUILD}/cpu/{command}", 1)
            path, number = re.search(r"^(\S+):(\d+): ", said, re.MULTILINE).groups()
            self.assertEqual(pathlib.Path(path).read_text().splitlines()[int(number) - 1], line)

    def test_an_unknown_name_is_named_and_a_similar_one_suggested(self):
        for name, said in (("races", "'races' is no example; is it race?; usage: primer gate|"),
                           ("gates", "'gates' is no example; is it gate?; usage: "),
                           ("xyzzyxyzz", "'xyzzyxyzz' is no example; usage: ")):
            done = subprocess.run([f"{BUILD}/cpu/primer", name], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"primer: {said}", done.stderr)

    def test_pages_are_short(self):
        chapters = [*pathlib.Path("chapters").glob("*/README.md"), *pathlib.Path("chapters").glob("*/PAGE_2.md")]
        for page in (*PAGES, *chapters):
            self.assertLessEqual(course.own_words(page.read_text()), 1800, page)

    def test_the_figure_of_latency_is_what_the_text_says(self):
        issued = [panel["issued"] for panel in latency.panels(1, 4, 6)["panels"]]
        self.assertEqual(issued, [4, 16, 24])
        for number in issued:
            self.assertRegex(PAGES[2].read_text(), rf"\b{number}\b")

    def test_the_figures_of_sectors_and_banks_are_what_the_text_says(self):
        panels = introduction_examples.sectors(1, 8)["panels"]
        self.assertEqual([len(panel["sectors"]) for panel in panels], [4, 32])
        panels = introduction_examples.banks(1, 2, 32, 33)["panels"]
        self.assertEqual([panel["wavefronts"] for panel in panels], [1, 2, 32, 1])

    def test_the_readers_file_is_what_the_build_reads(self):
        self.assertIn("\n${EDITOR:-nano} exercises/mine/first.cu\nninja build/cpu/first && build/cpu/first\n",
                      PAGES[1].read_text())
        self.assertIn("\nbuild $o/obj/first.o: kernel exercises/mine/first.cu ",
                      pathlib.Path("build.ninja").read_text())

    def test_a_function_without_extern_c_is_explained(self):
        line = "first.cu: f() is a C++ function, which a C file cannot call: write extern \"C\" before it\n"
        self.assertIn("explain_link.sh $o/obj/first.o exercises/mine/first.cu count_launch",
                      pathlib.Path("build.ninja").read_text())
        with tempfile.TemporaryDirectory() as folder:
            for code, expected in (("int f(int i) { return i; }", line), ("static int f() { return 1; } int g = f();", ""),
                                   ("extern \"C\" int f(int i) { return i; }", ""), ("int ff(int i) { return i; }", "")):
                with self.subTest(code):
                    subprocess.run(["g++", "-O1", "-x", "c++", "-c", "-", "-o", f"{folder}/f.o"], input=code, text=True,
                                   check=True)
                    said = subprocess.run(["sh", "common/ninja/explain_link.sh", f"{folder}/f.o", "first.cu", "f"],
                                          capture_output=True, text=True)
                    self.assertEqual((said.returncode, said.stderr), (1, expected))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
