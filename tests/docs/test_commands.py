"""Tests that build.ninja has every target that a page tells readers to build, and that each line of a page's listing of
commands is a command."""
import re
import subprocess
import sys
import unittest

from course import ROOT

WORDS = re.compile(r"(?<![.\w])ninja((?: +(?:-j *\d+|[a-z][\w./-]*))+)")

COMMAND = re.compile(r"(ninja|sh|python3|nvcc|mpirun|od|sed|mkdir|diff|git|build/\S+|\$\{EDITOR:-nano\}) ?")


def lines_of_listings(text):
    """Yields the lines of a page's listings of shell commands, except lines that contain only a comment."""
    for found in re.finditer(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in found[1].replace("\\\n", "").splitlines():
            if line.strip() and not line.lstrip().startswith("# "):
                yield line


def code(text):
    """Returns the code in a Markdown file: the text between fences, without comments, and the text in backquotes."""
    fence = re.compile(r"^( *)```.*?\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
    blocks = [re.sub(r" +# .*", "", found[2]) for found in fence.finditer(text)]
    return blocks + [found.replace("\n", " ") for found in re.findall(r"`([^`]+)`", fence.sub("", text))]


class Commands(unittest.TestCase):
    def test_a_page_of_a_trace_needs_four_arguments(self):
        tool = ROOT / "docs/tools/stepper_pages.py"
        ended = subprocess.run([sys.executable, tool, "trace.json"], capture_output=True, text=True)
        self.assertEqual((ended.stderr, ended.returncode), (
            "stepper_pages: usage: stepper_pages.py TRACE.json PAGE.html TITLE COMMAND\n", 2))

    def test_each_target_that_a_page_names_exists(self):
        listed = subprocess.run(["ninja", "-t", "targets", "all"], cwd=ROOT, capture_output=True, text=True, check=True)
        targets = {line.rpartition(":")[0] for line in listed.stdout.splitlines()}
        pages = [ROOT / "README.md", *(page for folder in ("chapters", "common", "docs", "exercises")
                                       for page in (ROOT / folder).rglob("*.md"))]
        for page in pages:
            named = {word for piece in code(page.read_text()) for words in WORDS.findall(piece)
                     for word in words.split()
                     if not word.startswith("-") and not re.search(r"name|^\d+$", word, re.IGNORECASE)}
            with self.subTest(page.relative_to(ROOT)):
                self.assertEqual(named - targets, set())

    def test_each_line_of_a_listing_is_a_command(self):
        for page in [ROOT / "README.md", *(ROOT / "chapters").glob("*/README.md"),
                     *(ROOT / "chapters").glob("*/PAGE_2.md"), ROOT / "exercises/README.md"]:
            with self.subTest(page.relative_to(ROOT)):
                self.assertEqual([line for line in lines_of_listings(page.read_text()) if not COMMAND.match(line)], [])


if __name__ == "__main__":
    unittest.main()
