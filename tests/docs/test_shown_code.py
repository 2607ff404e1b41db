"""Checks that each line of a chapter's kernel file is in a snippet on the chapter's page or in its lab notes, or is
unchanged from the previous chapter, whose page shows the line. Comments, braces, blank lines and includes do not count.

    python3 tests/docs/test_shown_code.py [CHAPTER...]     prints the lines that no page shows (default: all chapters)
"""
import difflib
import functools
import pathlib
import re
import sys
import unittest

CHAPTERS = pathlib.Path(__file__).resolve().parents[2] / "chapters"

# Chapters whose pages do not yet show the whole kernel file. Remove a chapter from the set once its page shows the
# whole file.
INCOMPLETE = set()

# For each chapter that does not continue the nearest earlier chapter of its operator: the chapter that it continues.
CONTINUES = {"19_sixty_four_lanes": "03_divergence_free"}

# Host files, besides main.c, that are never a chapter's kernel file.
BESIDE = {"workspace.c"}

# Lines that no page shows, each with the reason: {chapter: {line: reason}}.
NOT_SHOWN = {}


def kernel_file(chapter):
    """Returns the path of a chapter's kernel file: the file of its GPU kernels, such as gate.cu or align.cu, or, in a
    chapter without kernels, the file of its host code, such as gate.c."""
    sources = [path for path in (CHAPTERS / chapter).iterdir()
               if path.suffix in (".c", ".cu") and path.name not in {"main.c"} | BESIDE]
    files = [path for path in sources if path.suffix == ".cu"] or sources
    assert len(files) == 1, f"{chapter} has {len(files)} kernel files"
    return files[0]


@functools.lru_cache(maxsize=None)
def chapters():
    """Returns the chapters' folders, in order."""
    return sorted(path.name for path in CHAPTERS.iterdir() if path.is_dir())


def chapter_before(chapter):
    """Returns the chapter that this chapter continues, or None: the one in CONTINUES or else the nearest earlier
    chapter whose kernel file has the same name."""
    if chapter in CONTINUES:
        return CONTINUES[chapter]
    earlier = [other for other in chapters() if other < chapter]
    same = [other for other in earlier if kernel_file(other).name == kernel_file(chapter).name]
    return same[-1] if same else None


def code_lines(text):
    """Returns {line number: line} for the lines that must be shown, without comments and outer blanks."""
    blanked = re.sub(r"/\*.*?\*/|//[^\n]*", lambda comment: re.sub(r"[^\n]", "", comment[0]), text, flags=re.DOTALL)
    lines = {number: line.strip() for number, line in enumerate(blanked.splitlines(), 1)}
    return {number: line for number, line in lines.items() if line.strip("{}; ") and not line.startswith("#include")}


def snippet_lines(chapter):
    """Returns the numbers of the lines of the kernel file that are in snippets on the chapter's page or in its
    notes."""
    source = kernel_file(chapter)
    page = "\n".join(path.read_text() for path in sorted((CHAPTERS / chapter).glob("*.md")))
    marks = source.read_text().splitlines()
    shown = set()
    for tag in re.findall(rf"^\\snippet chapters/{chapter}/{re.escape(source.name)} (\S+)$", page, re.MULTILINE):
        first, last = (number for number, line in enumerate(marks, 1) if f"[{tag}]" in line)
        shown.update(range(first + 1, last))
    return shown


def unchanged_lines(chapter):
    """Returns the numbers of the lines of the kernel file that the previous chapter's file also has."""
    before = chapter_before(chapter)
    if not before:
        return set()
    old = list(code_lines(kernel_file(before).read_text()).values())
    new = code_lines(kernel_file(chapter).read_text())
    numbers = list(new)
    blocks = difflib.SequenceMatcher(None, old, list(new.values()), autojunk=False).get_matching_blocks()
    return {number for block in blocks for number in numbers[block.b:block.b + block.size]}


def missing_lines(chapter):
    """Returns [(number, line)] of the kernel file for lines that are neither on the page, nor unchanged, nor in
    NOT_SHOWN."""
    known = snippet_lines(chapter) | unchanged_lines(chapter)
    return [(number, line) for number, line in code_lines(kernel_file(chapter).read_text()).items()
            if number not in known and line not in NOT_SHOWN.get(chapter, {})]


def describe(chapter):
    """Returns the missing lines of a chapter, as text."""
    missing = missing_lines(chapter)
    path = kernel_file(chapter).relative_to(CHAPTERS.parent)
    return "\n".join([f"{path}: {len(missing)} lines are on no page", *(f"{n:5} {line}" for n, line in missing)])


class ShownCode(unittest.TestCase):
    def test_each_line_is_on_a_page(self):
        for chapter in chapters():
            with self.subTest(chapter):
                missing = missing_lines(chapter)
                if chapter in INCOMPLETE:
                    self.assertTrue(missing, "its page shows everything: take it out of INCOMPLETE")
                    self.skipTest(f"{len(missing)} lines of {chapter} are on no page yet")
                self.assertFalse(missing, "\n" + describe(chapter))

    def test_the_lists_fit_the_files(self):
        self.assertLessEqual(INCOMPLETE, set(chapters()))
        for chapter, lines in NOT_SHOWN.items():
            known = snippet_lines(chapter) | unchanged_lines(chapter)
            hidden = {line for number, line in code_lines(kernel_file(chapter).read_text()).items()
                      if number not in known}
            for line, reason in lines.items():
                with self.subTest(chapter, line=line):
                    self.assertIn(line, hidden, "this line is shown, or is not in the file")
                    self.assertTrue(reason)

    def test_what_counts_as_a_line(self):
        text = '#include "a.h"\n/* a\nb */ int c; // d\n\n}\n    };\n} else {\n'
        self.assertEqual(code_lines(text), {3: "int c;", 7: "} else {"})


if __name__ == "__main__":
    for name in sys.argv[1:] or chapters():
        print(describe(name))
