# run: $b
# takes: long
# needs: pygments
"""The documentation site as a whole: it is made without a warning, its links lead somewhere, it looks as it should
in a browser; and what must stop it from being made. In a copy of the course, in which things can be broken."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import course
from browser import browser_missing
import make_site

BUILD = (course.ROOT / course.build_folder()).resolve()
NO_DOXYGEN = not shutil.which("doxygen") or not make_site.AWESOME.is_dir() or not make_site.LUNR.is_dir()
CHAPTER = "chapters/02_warp_per_group/README.md"


def make(**environment):
    """Makes the site: the exit status, and what was said."""
    done = subprocess.run([sys.executable, "docs/tools/make_site.py", "--build", "build"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, **environment})
    return done.returncode, done.stdout.strip()


class Site(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        copy = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, copy)
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(course.ROOT)
        for name in set(os.listdir()) - {"build", ".git"}:
            (shutil.copytree if os.path.isdir(name) else shutil.copy)(name, copy / name)
        (copy / "build" / "docs").mkdir(parents=True)
        (copy / "build" / "cpu").symlink_to(BUILD / "cpu")
        if (BUILD / "docs" / "runs").is_dir():
            unfinished = shutil.ignore_patterns(".*")  # what other tests are making at this moment
            shutil.copytree(BUILD / "docs" / "runs", copy / "build" / "docs" / "runs", ignore=unfinished)
        os.chdir(copy)
        cls.html = copy / "build" / "docs" / "html"

    def stops(self, pattern, path, before, after):
        """With one text of a file changed, the site is not made."""
        with self.subTest(pattern):
            kept = pathlib.Path(path).read_text()
            self.assertRegex(kept, before)
            pathlib.Path(path).write_text(re.sub(before, after, kept, count=1))
            status, said = make()
            pathlib.Path(path).write_text(kept)
            self.assertNotEqual(status, 0)
            self.assertRegex(said, pattern)


@unittest.skipIf(NO_DOXYGEN, "doxygen, doxygen-awesome-css or libjs-lunr is not installed")
class TheSite(Site):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = make()

    def read(self, name):
        return (self.html / name).read_text()

    def test_it_is_made_without_a_warning(self):
        self.assertEqual(self.made, (0, "build/docs/html/index.html"))

    def test_each_chapter_has_its_page(self):
        for path in pathlib.Path("chapters").glob("*/README.md"):
            self.assertTrue((self.html / f"chapter_{path.parent.name[:2]}.html").is_file(), path)

    def test_no_link_leads_nowhere_and_nothing_is_fetched_from_elsewhere(self):
        done = subprocess.run([sys.executable, course.ROOT / "tests/check_site.py", self.html],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("", 0))

    def test_a_command_goes_on_in_the_next_line_but_not_within_an_option(self):
        self.assertIn('<code class="command">build/cpu/06_align_serial <span class="option">--num-experts</span> 64 <span',
                      self.read("chapter_06.html"))
        self.assertIn("<code>ninja figures</code>", self.read("router_data.html"))

    def test_it_has_less_than_15_MB(self):
        self.assertLess(sum(path.stat().st_size for path in self.html.rglob("*")), 15 << 20)

    @unittest.skipIf(browser_missing(), f"{browser_missing()} is not installed")
    def test_every_page_wide_and_narrow_light_and_dark(self):
        """No scrolling sideways, no error, enough contrast."""
        names = sorted(path.name for path in self.html.glob("*.html"))
        done = subprocess.run([sys.executable, course.ROOT / "tests/check_site_in_browser.py", self.html, *names],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("", 0))


@unittest.skipIf(NO_DOXYGEN, "doxygen, doxygen-awesome-css or libjs-lunr is not installed")
class Stops(Site):
    def test_what_is_committed(self):
        self.stops(f"tables: {CHAPTER}:.*this is not what would be written now", CHAPTER,
                   r"\| 02_warp_per_group \| 3", "| 02_warp_per_group | 1")
        self.stops(f"tables: {CHAPTER}:.*is no chapter with a gate", CHAPTER, "<!-- times: f32 -->",
                   "<!-- times: f32 99_none -->")

    def test_what_a_page_names(self):
        self.stops(rf"make_site: {CHAPTER}:.*the tag \[none\] stands in", CHAPTER, r"gate.cu warp_best\n",
                   "gate.cu none\n")
        self.stops(f"make_site: {CHAPTER}:.*the picture", CHAPTER, r"\Z", "![A](../../docs/figures/none.svg)\n")

    def test_what_doxygen_warns_of(self):
        self.stops("unable to resolve", "docs/pages/primer.md", r"\n\Z", " See @ref no_page_has_this_name.\n")
        self.stops("unable to resolve", "common/harness/core/operand.h", "An operator lists",
                   "See @ref no_page_has_this_name. An operator lists")

    def test_a_site_without_its_style(self):
        status, said = make(DOXYGEN_AWESOME="/none")
        self.assertEqual((status, said), (1, "make_site: doxygen, doxygen-awesome-css or libjs-lunr is missing: "
                                             "sh common/setup.sh docs installs it"))


if __name__ == "__main__":
    unittest.main()
