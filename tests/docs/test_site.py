# run in all: $b
# takes: long
# needs: pygments
"""Tests the whole documentation site, in a copy of the course, which tests can modify. The site must be made without
a warning, its links must be valid, a browser must display it correctly from files, its features for readers must work,
and errors must prevent it from being made."""
import base64
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import course
from browser import Browser, browser_missing
from check_site_in_browser import REFERENCE
import make_site
import pdf

BUILD = (course.ROOT / course.build_folder()).resolve()
NO_DOXYGEN = not shutil.which("doxygen") or not make_site.AWESOME.is_dir() or not make_site.LUNR.is_dir()
CHAPTER = "chapters/02_warp_per_group/README.md"
DOWN, ENTER, ESCAPE = "\ue015", "\ue007", "\ue00c"
# A script that types its argument into the search field and returns the results once the search has processed it.
FOUND = """
const field = document.getElementById('search-field'), list = document.getElementById('search-results');
list.replaceChildren();
field.focus();
field.value = arguments[0];
field.dispatchEvent(new Event('input'));
return new Promise(function wait(done) {
    const entries = [...list.children], end = wait.end = wait.end || Date.now() + 20000;
    if (entries.length || Date.now() > end)
        done(entries.map(entry => [entry.querySelector('a').getAttribute('href'), entry.querySelector('b').textContent,
                                   entry.querySelector('a > span').textContent]));
    else
        setTimeout(() => wait(done), 20);
});
"""
STORED = "return Object.keys(localStorage).filter(key => key.startsWith('moe-routing:')).sort()"


# A program that makes a site without checking the committed tables and figures, because this check takes longest and
# has its own tests.
UNCHECKED = """
import sys, pathlib
sys.path.insert(0, "docs/tools")
import files, make_site
made = files.errors_in_one_line("make_site")(make_site.make_site)(pathlib.Path(sys.argv[1]), lambda build: None)
print(made)
"""


def make(build="build", command=("docs/tools/make_site.py", "--build"), **environment):
    """Makes the site; returns the exit status and the output."""
    done = subprocess.run([sys.executable, *command, build], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, **environment})
    return done.returncode, done.stdout.strip()


@functools.lru_cache(maxsize=None)
def copy_of_the_course():
    """Returns a copy of the course with its site (built only once), and the output of the build."""
    copy = pathlib.Path(tempfile.mkdtemp())
    unittest.addModuleCleanup(shutil.rmtree, copy)
    unittest.addModuleCleanup(os.chdir, os.getcwd())
    os.chdir(course.ROOT)
    for name in set(os.listdir()) - {"build", ".git"}:
        (shutil.copytree if os.path.isdir(name) else shutil.copy)(name, copy / name)
    for build in ("build", "broken"):
        (copy / build / "docs").mkdir(parents=True)
        for programs in ("cpu", "cpu64"):
            (copy / build / programs).symlink_to(BUILD / programs)
        if (BUILD / "docs" / "runs").is_dir():
            unfinished = shutil.ignore_patterns(".*")  # files that other tests are still writing
            shutil.copytree(BUILD / "docs" / "runs", copy / build / "docs" / "runs", ignore=unfinished)
    os.chdir(copy)
    return copy, make(command=("-c", UNCHECKED))


@unittest.skipIf(NO_DOXYGEN, "doxygen, doxygen-awesome-css or libjs-lunr is not installed")
class Site(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        copy, cls.made = copy_of_the_course()
        cls.html = (copy / "build" / "docs" / "html").resolve()


class Files(Site):
    """Tests the site's files, and the errors that must make the build of the site fail."""

    def read(self, name):
        return (self.html / name).read_text()

    def stops(self, patterns, *changes, **how):
        """Checks that making the site fails after these changes to files, and that the output matches all patterns."""
        kept = {path: pathlib.Path(path).read_text() for path, _, _ in changes}
        for path, before, after in changes:
            self.assertRegex(kept[path], before)
            pathlib.Path(path).write_text(re.sub(before, after, kept[path], count=1))
        status, said = make("broken", **how)
        for path, text in kept.items():
            pathlib.Path(path).write_text(text)
        self.assertNotEqual(status, 0)
        for pattern in patterns:
            self.assertRegex(said, pattern)

    def test_it_is_made_without_a_warning(self):
        self.assertEqual(self.made, (0, "build/docs/html/index.html"))

    def test_each_chapter_has_its_page(self):
        for path in pathlib.Path("chapters").glob("*/README.md"):
            self.assertTrue((self.html / f"chapter_{path.parent.name.partition('_')[0]}.html").is_file(), path)
        for path in pathlib.Path("chapters").glob("*/PAGE_2.md"):
            self.assertTrue((self.html / f"chapter_{path.parent.name.partition('_')[0]}_2.html").is_file(), path)

    def test_no_link_leads_nowhere_and_nothing_is_fetched_from_elsewhere(self):
        done = subprocess.run([sys.executable, course.ROOT / "tests/check_site.py", self.html],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("", 0))

    def test_a_type_of_the_language_leads_nowhere(self):
        for path in self.html.glob("*_source.html"):
            self.assertNotRegex(path.read_text(), r"<a [^>]*>(void|float|uint32_t)</a>", path.name)

    def test_names_in_a_listing_lead_to_what_its_source_includes(self):
        def targets(page, word):
            return set(re.findall(rf'<a class="code[^"]*" href="([^"#]+)[^"]*">{word}</a>', self.read(page)))

        for page, word in (("chapter_16a.html", "multiply"), ("chapter_16a.html", "index"), ("chapter_17.html", "gate_launch"),
                           ("chapter_02.html", "lane"), ("chapter_07.html", "launch&lt;int64_t&gt;"),
                           ("chapter_07.html", "align_kernel(?:&lt;Id&gt;)?"), ("chapter_11a.html", "gate_row"),
                           ("chapter_11a.html", "sum"), ("chapter_11b.html", "Tile.*?"), ("chapter_11d.html", "tile.*?")):
            self.assertEqual(targets(page, word), set(), f"{page}: {word}")
        self.assertEqual(targets("chapter_16a.html", "fill_stage_rows"), {"16a__layer__bulk__copies_2copies_8cuh.html"})
        self.assertEqual(targets("chapter_17.html", "let_next_kernel_start"), {"overlap_8cuh.html"})
        self.assertEqual(targets("chapter_02.html", "num_expert_group"), {"gate_8h.html"})
        self.assertEqual(targets("chapter_11c.html", "Tile"), {"structTile.html"})
        self.assertEqual(targets("chapter_07.html", "align_problem"), {"align_8h.html"})

    def test_names_in_text_lead_to_what_the_sources_of_the_page_include(self):
        def targets(page, word):
            return set(re.findall(rf'<a class="el" href="([^"#]+)[^>]*>{word}</a>', self.read(page)))

        for page, word in (("chapter_02", "__syncwarp"), ("glossary", "__syncwarp"), ("simulator", "__syncwarp"),
                           ("primer_together", "__syncwarp"), ("exercise_04_compare_exchange", "warp_sort"),
                           ("exercise_11a_write_zeros", "multiply"), ("exercise_07_tail_of_the_fill", "fill")):
            self.assertEqual(targets(f"{page}.html", rf"{word}\(\)"), set(), f"{page}: {word}")
        self.assertEqual(targets("chapter_11b.html", "Tile"), set())
        self.assertEqual(targets("chapter_08.html", r"leaves_for\(\)"), {"08__align__blelloch_2align_8cu.html"})
        self.assertEqual(targets("chapter_10.html", r"align_worst_case_capacity_capped_by_ids\(\)"), {"align_8h.html"})
        self.assertEqual(targets("authors.html", "core/backend.h"), {"backend_8h.html"})

    def test_it_has_less_than_1_5_MB_a_chapter(self):
        chapters = len(list(pathlib.Path("chapters").glob("*/README.md")))
        self.assertLess(sum(path.stat().st_size for path in self.html.rglob("*")), chapters * 3 << 19)

    def test_what_is_committed_stops_it(self):
        self.stops([f"tables: {CHAPTER}:.*this is not what would be written now"],
                   (CHAPTER, r"(\| 02_warp_per_group[^|\n]*\|) \d", r"\1 99"))

    def test_what_a_page_names_stops_it(self):
        self.stops([rf"make_site: {CHAPTER}:.*the tag \[none\] stands in"],
                   (CHAPTER, r"gate.cu warp_best\n", "gate.cu none\n"), command=("-c", UNCHECKED))

    def test_what_doxygen_warns_of_stops_it(self):
        said = ["unknown command"]
        if subprocess.check_output(["doxygen", "--version"], text=True).split()[0] != "1.9.8":  # 1.9.8 is silent
            said.append("unable to resolve")
        wrong = "@no_such_command See @ref no_page_has_this_name."
        self.stops([f"{file}.*{reason}" for file in ("primer.md", "tensor.h") for reason in said],
                   ("docs/pages/primer.md", r"\n\Z", f" {wrong}\n"),
                   ("common/harness/core/tensor.h", "An operator lists", f"{wrong} An operator lists"),
                   command=("-c", UNCHECKED))

    def test_a_site_without_its_style(self):
        for missing in ("DOXYGEN_AWESOME", "LUNR"):
            self.assertEqual(make("broken", **{missing: "/none"}), (1, "make_site: doxygen, doxygen-awesome-css or "
                                                                    "libjs-lunr is missing: sh common/setup.sh docs installs it"))


@unittest.skipIf(browser_missing(), f"{browser_missing()} is not installed")
class InABrowser(Site):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser(width=1400).__enter__()
        cls.addClassCleanup(cls.browser.__exit__)

    def setUp(self):
        self.browser.emulate(width=1400, scheme="light", motion="reduce")

    def open(self, name, **window):
        if window:
            self.browser.emulate(motion="reduce", **window)
        self.browser.open((self.html / name).as_uri())

    def run_script(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def test_every_page_wide_and_narrow_light_and_dark(self):
        """Checks that pages do not scroll sideways, cause no errors and have enough contrast. The pages that Doxygen
        generates for files, folders and structures are alike, so only every sixteenth of them is opened, and only every
        fortieth source listing. The exercises' pages are also alike, so only every fourth is opened; test_steppers.py
        opens the steppers."""
        names = sorted(path.name for path in self.html.glob("*.html"))
        listings = [name for name in names if name.endswith("_source.html")]
        reference = [name for name in names if REFERENCE.search(name) and name not in listings]
        exercises = [name for name in names if name.startswith("exercise_")]
        others = [name for name in names if not REFERENCE.search(name) and not name.startswith(("exercise_", "stepper_"))]
        names = others + exercises[::4] + reference[::16] + listings[::40]
        done = subprocess.run([sys.executable, course.ROOT / "tests/check_site_in_browser.py", self.html, *names],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("", 0))

    def test_the_search_finds_words_of_any_page(self):
        self.open("index.html")
        for text, page in (("atomicAdd", "chapter_06.html#"), ("predication", "glossary.html#term_predication"),
                           ("__shfl_xor_sync", "chapter_02.html#"), ("shfl_xor", "glossary.html#term_shuffle"),
                           ("bank confl", "glossary.html#term_conflict"), ("Bitonic sort", "chapter_04.html"),
                           ("tensors_free", "tensor_8h.html#")):
            with self.subTest(text):
                found = self.run_script(FOUND, text)
                address, title, excerpt = next(((entry for entry in found if entry[0].startswith(page))), ["", "", ""])
                self.assertTrue(address and title, found)
                word = text.split()[0].strip("_").lower()[:7]
                self.assertIn(word, (title + excerpt).lower())
        self.assertEqual(self.run_script(FOUND.replace("20000", "300"), "qqqq"), [])
        said = self.run_script("return document.getElementById('search-state').textContent")
        self.assertEqual(said, "Nothing found.")
        self.assertEqual(self.browser.errors(), [])

    def test_the_search_is_used_with_keys(self):
        for width in (390, 1400):
            self.open("chapter_03.html", width=width)
            self.browser.press("/")
            self.assertEqual(self.run_script("return document.activeElement.id"), "search-field")
            second = self.run_script(FOUND, "butterfly")[1][0]
            box = self.run_script("const r = document.getElementById('search-panel').getBoundingClientRect();"
                                  "return [r.left >= 0, r.right <= innerWidth, r.bottom <= innerHeight]")
            self.assertEqual(box, [True] * 3, width)
            self.browser.press(DOWN)
            self.browser.press(ENTER)
            self.assertTrue(self.run_script("return location.href").endswith(second))
            self.assertEqual(self.run_script(FOUND, "butterfly")[0][1][:9], "Glossary:")
            self.browser.press(ESCAPE)
            self.assertTrue(self.run_script("return document.getElementById('search-results').hidden"))

    def test_the_search_shows_pages_of_the_course_first(self):
        """Checks that results from the course's pages precede results from sources, that a term's definition comes
        first, and that every word of a walkthrough is found, however common it is."""
        self.open("index.html")
        for text in ("warp", "occupancy", "barrier", "gate_launch"):
            found = [entry[0] for entry in self.run_script(FOUND, text)]
            of_sources = [bool(REFERENCE.search(address.partition("#")[0])) for address in found]
            self.assertEqual(of_sources, sorted(of_sources), text)
            self.assertFalse(of_sources[0], text)
        self.assertEqual(self.run_script(FOUND, "warp")[0][0], "glossary.html#term_warp")
        walkthrough = pathlib.Path("chapters/06_align_serial/README.md").read_text()
        words = sorted(set(re.findall(r"[a-z]{2,}", re.sub(r"<[^>]*>|\]\([^)]*\)|\\\S+.*|[{!].*", "", walkthrough).lower())))
        missing = [word for word in words[::5] if not self.run_script(FOUND.replace("20000", "500"), word)]
        self.assertEqual(missing, [])

    def test_a_term_shows_its_definition(self):
        self.open("chapter_02.html")
        title = self.run_script("return document.querySelector('.textblock a[href$=\"#term_warp\"]').title")
        self.assertTrue(title.startswith("A group of 32 threads of a block."), title)

    def test_terms_of_another_meaning(self):
        """Checks that the pages on the layer link neither `gate` nor `group` to the glossary: on these pages, `gate` is
        one half of w13 and a group is a group of copies."""
        for path in self.html.glob("chapter_1[126]*.html"):
            self.assertNotRegex(path.read_text(), r"glossary\.html#term_(gate|group)\"", path.name)
        self.assertIn('glossary.html#term_group"', self.read_page("chapter_02.html"))

    def read_page(self, name):
        return (self.html / name).read_text()

    def test_code_fits_a_window_of_1280_pixels_and_the_bars_leave_room(self):
        wide = """return [...document.querySelectorAll('div.fragment')]
            .filter(box => box.scrollWidth > box.clientWidth).map(box => box.innerText.slice(0, 40));"""
        lines = """return [...document.querySelectorAll('div.fragment div.line')]
            .filter(line => line.offsetHeight > 30 && line.textContent.length <= 120).map(line => line.textContent);"""
        beside = """const box = id => document.getElementById(id).getBoundingClientRect(), [t, s] = [box('titlearea'),
            box('site-search')]; return [s.left >= t.right, s.top < t.bottom && t.top < s.bottom];"""
        for page in ("chapter_02.html", "chapter_11c.html", "primer_machine.html"):
            for width in (1280, 1600):
                self.open(page, width=width)
                self.assertEqual(self.run_script(wide), [], page)
                self.assertEqual(self.run_script(lines), [], page)
                self.assertEqual(self.run_script(beside), [True, True], page)
        self.open("primer.html", width=390)
        bars = self.run_script("return ['top', 'nav-path'].reduce((sum, id) => "
                               "sum + document.getElementById(id).offsetHeight, 0) / innerHeight")
        self.assertLessEqual(bars, 0.1)

    def test_what_was_read_and_solved_is_remembered(self):
        click = "document.querySelector('.progress input').click();"
        marks = """return [...document.querySelectorAll(arguments[0] + ' .done')].map(mark => [
            mark.previousSibling.textContent, mark.textContent])"""
        for page in ("chapter_02.html", "chapter_03.html", "exercise_02_warp_maximum.html"):
            self.open(page)
            self.run_script(click)
        for page, where in (("index.html", "li"), ("chapters.html", "td"), ("results.html", "td")):
            self.open(page)
            self.assertEqual([[name, said.strip()] for name, said in self.run_script(marks, where)],
                             [["02 Warp per group", "✓\u00a0read, 1 solved"], ["03 Divergence free", "✓\u00a0read"]])
        self.open("exercises.html")
        self.assertEqual(self.run_script(marks, "td"), [["02_warp_maximum", " ✓\u00a0solved"]])
        self.open("chapter_02.html")
        self.assertTrue(self.run_script("return document.querySelector('.progress input').checked"))
        self.run_script(click)
        self.assertEqual(self.run_script(STORED), ["moe-routing:chapter_03", "moe-routing:exercise_02_warp_maximum"])
        self.run_script("localStorage.clear()")

    def test_figures_are_dark_where_the_page_is(self):
        """Checks that a figure's colours follow the page's light/dark switch and not the system's setting."""
        ground = """
            const box = document.querySelector('figure.picture img').getBoundingClientRect();
            return [box.x + 8, box.y + 20];"""
        light, dark = 253, 27
        for system, switched, expected in (("light", False, light), ("dark", False, dark), ("light", True, dark),
                                           ("dark", True, light)):
            with self.subTest(system=system, switched=switched):
                self.open("index.html", scheme=system)
                if switched:
                    self.run_script("document.querySelector('doxygen-awesome-dark-mode-toggle').click()")
                shown = self.pixel(*self.run_script(ground))[0]
                self.run_script("localStorage.clear()")
                self.assertAlmostEqual(shown, expected, delta=3)

    def pixel(self, x, y):
        """Returns the colour of a pixel in the window."""
        clip = {"x": round(x), "y": round(y), "width": 1, "height": 1, "scale": 1}
        shot = self.browser.devtools("Page.captureScreenshot", format="png", clip=clip)["data"]
        script = """
            const image = new Image();
            image.src = 'data:image/png;base64,' + arguments[0];
            return image.decode().then(() => {
                const canvas = document.createElement('canvas'), context = canvas.getContext('2d');
                context.drawImage(image, 0, 0);
                return [...context.getImageData(0, 0, 1, 1).data];
            });"""
        return self.run_script(script, shot)

    def test_on_a_phone_code_goes_on_in_the_next_line_and_lists_of_numbers_fit(self):
        wide = """
            const numbers = [...document.querySelectorAll('table.markdownTable')]
                .filter(table => /^block of rows/.test(table.innerText));
            return [...document.querySelectorAll('div.fragment'), ...numbers, ...numbers.map(table => table.tBodies[0])]
                .filter(box => box.scrollWidth > box.clientWidth).map(box => box.innerText.slice(0, 40));"""
        for page in ("index.html", "primer.html", "chapter_06.html", "exercise_08_up_sweep.html"):
            self.open(page, width=390)
            self.assertEqual(self.run_script(wide), [], page)

    def test_a_command_goes_on_in_the_next_line_but_not_within_an_option(self):
        self.open("chapter_06_notes.html")
        commands = self.run_script("return [...document.querySelectorAll('code.command')].map(code => code.innerHTML)")
        self.assertIn('build/cpu/06_align_serial <span class="option">--num-experts</span> 64 <span', "".join(commands))
        self.open("router_data.html")
        others = self.run_script(
            "return [...document.querySelectorAll('code:not(.command)')].map(code => code.innerHTML)")
        self.assertIn("ninja figures", others)

    def test_titles_at_the_side_are_whole(self):
        cut = """
            return [...document.querySelectorAll('#nav-tree .label a')].filter(link => link.getClientRects().length &&
                link.getBoundingClientRect().right > document.getElementById('side-nav').getBoundingClientRect().right)
                .map(link => link.textContent);"""
        for page in ("index.html", "chapter_06.html", "step_05.html"):
            self.open(page)
            self.assertEqual(self.run_script(cut), [], page)

    def test_print(self):
        """Checks that a printed page is light, has its answers unfolded and lacks the parts that are useful only on a
        screen, and that the page on the screen is unchanged afterwards."""
        look = """
            const seen = name => [...document.querySelectorAll(name)].some(e => e.checkVisibility());
            window.printed = [document.documentElement.classList.contains('dark-mode'),
                [...document.querySelectorAll('details')].every(details => details.open), seen('#top'), seen('#side-nav'),
                seen('.way'), seen('.progress'), seen('.textblock p')];"""
        self.open("chapter_06.html", scheme="dark")
        self.run_script(f"addEventListener('beforeprint', () => {{ {look} }});")
        printed = base64.b64decode(self.browser.devtools("Page.printToPDF", preferCSSPageSize=True)["data"])
        self.assertTrue(printed.startswith(b"%PDF"))
        self.assertEqual(self.run_script("return printed.slice(0, 2)"), [False, True])
        self.assertEqual(self.run_script("return [document.documentElement.classList.contains('dark-mode'),"
                                         "document.querySelectorAll('details[open]').length]"), [True, 0])
        self.browser.devtools("Emulation.setEmulatedMedia", media="print")
        self.addCleanup(self.browser.devtools, "Emulation.setEmulatedMedia", media="")
        self.assertEqual(self.run_script(look + "return printed.slice(2)"), [False, False, False, False, True])
        self.assertEqual(
            self.run_script("const root = document.documentElement; return root.scrollWidth - root.clientWidth"), 0)

    def test_the_course_as_one_pdf(self):
        status, said = course.call(pdf.main, "--build", "build")
        self.assertEqual((status, said), (0, "build/docs/course.pdf"))
        data = pathlib.Path("build/docs/course.pdf").read_bytes()
        self.assertGreater(len(re.findall(rb"/Type\s*/Page\b", data)), 100)
        self.assertFalse((self.html / "course.html").exists())
        text = pdf.one_page(self.html)
        ids = re.findall(r'\bid="([^"]+)"', text)
        self.assertEqual(sorted({name for name in ids if ids.count(name) > 1}), [])
        self.assertLessEqual(set(re.findall(r'href="#([^"]+)"', text)), set(ids))
        self.assertNotIn("<details>", text)


if __name__ == "__main__":
    unittest.main()
