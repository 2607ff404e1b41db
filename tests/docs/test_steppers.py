# run in all: $b
# takes: long
"""Tests the pages that play back a run: their size, their text, their final state in a browser, and the events that
the JavaScript reads from the trace. Each page shows the command that made it; the tests compare the page with this
command's output."""
import array
import ast
import base64
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import course
from browser import Browser, browser_missing
import results
import runs
import stepper_pages
import trace as traces

BUILD = course.build_folder()
MAX_BYTES, OF_THE_RING = 300_000, 620_000  # the latter for 11d: eight warps, six steps
SPACE, LEFT, RIGHT, HOME, END = " ", "\ue012", "\ue014", "\ue011", "\ue010"
KEYS = [(RIGHT, 1), (RIGHT, 2), (LEFT, 1), (END, None), (HOME, 0)]
LOADED = """
return new Promise(function wait(done) {
    if (document.querySelector('.stepper').stepper) done();
    else setTimeout(() => wait(done), 5);
});
"""
STEPPER = "const s = document.querySelector('.stepper').stepper; "

# Returns each visible element whose text has a contrast below 4.5:1 with its background, and the two colours.
CONTRAST = r"""
const linear = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const rgba = text => (text.match(/[\d.]+/g) || []).map(Number);
const light = c => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
const ground = node => {
    for (; node; node = node.parentElement) {
        const color = rgba(getComputedStyle(node).backgroundColor);
        if (color.length === 3 || color[3] > 0)
            return color;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches ? [28, 29, 31] : [255, 255, 255];
};
const poor = new Set();
for (const node of document.querySelectorAll('body *')) {
    const text = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
    if (!text || node.closest('script') || !node.getClientRects().length)
        continue;
    const style = getComputedStyle(node);
    let back = ground(node);
    if (node.namespaceURI.endsWith('svg')) {
        const before = node.previousElementSibling;
        if (before && before.tagName === 'rect' && getComputedStyle(before).fill !== 'none')
            back = rgba(getComputedStyle(before).fill);
    }
    const front = rgba(node.namespaceURI.endsWith('svg') ? style.fill : style.color);
    const [high, low] = [light(front), light(back)].sort((a, b) => b - a);
    if ((high + 0.05) / (low + 0.05) < 4.5)
        poor.add(node.tagName + '.' + (node.className.baseVal ?? node.className) + ' ' + front + ' on ' + back);
}
return [...poor];
"""


def read_npy(path):
    """Returns a file's elements as a flat list."""
    data = path.read_bytes()
    length = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:10 + length].decode())
    elements = array.array({"<i4": "i", "<i8": "q", "<f4": "f"}[header["descr"]])
    elements.frombytes(data[10 + length:])
    return list(elements)


def outputs_of(command):
    """Runs the command that the page shows, and returns the arrays that the program writes."""
    with tempfile.TemporaryDirectory() as folder:
        words = [f"{folder}/trace.json" if word == "trace.json" else word for word in command.split()]
        words[0] = words[0].replace("build", BUILD, 1)
        subprocess.run([*words, "--out", folder], check=True, stdout=subprocess.DEVNULL)
        return {path.stem: read_npy(path) for path in pathlib.Path(folder).glob("*.npy")}


def fragments_of(words):
    """Returns the elements that each lane holds of 8x8 matrices with these rows: in each matrix, the two elements in
    word lane % 4 of row lane / 4."""
    matrices = sum(text is not None for text in words[0]) // 8
    return [[words[lane % 4][8 * matrix + lane // 4] for lane in range(32)] for matrix in range(matrices)]


def rows_of(event):
    """Returns the numbers that the page shows per lane for a bulk copy (except its destination) or for an mbarrier
    operation."""
    columns = [name for name in ("phase", "arrivals", "announced", "parity", "copied") if name in event]
    return [[None if number is None else str(number) for number in event[name]] for name in columns]


def shown_events(path, dtype):
    """Returns the events that the page should have: kind, warp, line and, for each active lane, its values and the lane
    from which it reads."""
    trace, barriers, events = traces.read(path), 0, []
    for event in trace["events"]:
        is_barrier = event["kind"] == "block_barrier"
        if is_barrier and event["barrier"] < barriers:
            continue
        barriers = event["barrier"] + 1 if is_barrier else barriers
        words = max(1, event.get("bytes", 4) // 4)

        def texts(name, word=0):
            unknown = "\u2026" if event["kind"] == "copy_to" else "?"
            return [None if lane not in event["active"] else unknown if value is None else
                    traces.word_text(event, value, word, dtype) for lane, value in enumerate(event[name])]

        is_ldmatrix = event.get("operation") == "ldmatrix"
        events.append({"kind": event["kind"], "warp": -1 if is_barrier else event["warp"], "line": event.get("line", 0),
                       "from": event.get("from") if event["kind"] == "shuffle" else None,
                       "brings": texts("in") if event["kind"] in ("shuffle", "vote") else None,
                       "receives": texts("out") if event["kind"] in ("shuffle", "vote") else None,
                       "words": [texts("value", word) for word in range(words)] if "value" in event else None,
                       "rows": rows_of(event),
                       "fragments": fragments_of(events[-1]["words"]) if is_ldmatrix else None})
    return events


class Pages(unittest.TestCase):
    """Base class for tests that need all pages, which are made once per class."""

    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(course.ROOT)
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for name in ("stepper.js", "stepper.css"):
            shutil.copy(f"docs/stepper/{name}", cls.folder)
        cls.pages = stepper_pages.write_pages(BUILD, ".html")
        for name, text in cls.pages.items():
            (cls.folder / name).write_text(text)

    def each(self):
        """Yields each page's chapter, name and text, within a subtest."""
        for name, text in self.pages.items():
            with self.subTest(name):
                yield name.removeprefix("stepper_").removesuffix(".html"), name, text

    def trace_of(self, chapter):
        program = next(program for program in runs.STEPPED if program.startswith(chapter))
        return runs.trace(BUILD, program)


class Text(Pages):
    """Tests of a page's content before any script runs."""

    def test_there_is_a_page_for_each_chapter_that_has_a_kernel(self):
        chapters = [chapter for chapter in results.chapters() if results.kernel_of(chapter).suffix == ".cu"
                    and chapter not in runs.WITHOUT_STEPPER]
        self.assertEqual(list(self.pages), [f"stepper_{results.number_of(chapter)}.html" for chapter in chapters])

    def test_shared_arrays_have_the_names_that_the_kernel_gives_them(self):
        for chapter, _, text in self.each():
            files = [*pathlib.Path("chapters").glob(f"{chapter}_*/*.cu*"), *pathlib.Path("common/kernels").glob("*.cuh")]
            source = "".join(path.read_text() for path in files)
            own = set(re.findall(r"__shared__ \w+ (\w+)\[|\*const (\w+) = |__shared__ int (\w+);", source))
            own |= {tuple(re.findall(r"(\w+)(?:\[[\w:]*\])?[,;]", names))
                    for names in re.findall(r"__shared__\s+(?:__align__\(\d+\)\s+)?(?:\w+<[^>]*>|\w+) (.*;)", source)}
            names = {name for space, name, *_ in json.loads(re.search(r'stepper-regions">(.*?)<', text)[1])
                     if space == stepper_pages.SHARED}
            self.assertLessEqual(names, {name for groups in own for name in groups})

    def test_size(self):
        for chapter, _, text in self.each():
            self.assertLessEqual(len(text.encode()), OF_THE_RING if chapter == "11d" else MAX_BYTES)

    def test_without_scripts_every_step_is_text(self):
        for chapter, _, text in self.each():
            self.assertIn('<details class="stepper-list" open>', text)
            times = re.findall(r'<li(?: data-times="(\d+)")?>', text)
            steps = shown_events(self.trace_of(chapter), "f32")
            self.assertEqual(sum(int(number or 1) for number in times), len(steps))

    def test_operations_of_tensor_cores_and_copies_are_said(self):
        for words in ('ask for a copy of "weights" in global memory', 'ask for a copy of "tokens" in global memory',
                      'will find them in "ring" in shared memory', "each has its part of every matrix (ldmatrix)",
                      "multiply 16x16 by 16x8 numbers and add"):
            self.assertIn(words, self.pages["stepper_11d.html"])

    def test_bulk_copies_mbarriers_and_products_of_a_warpgroup_are_said(self):
        for number, texts in (("16a", ('initialises mbarrier "emptied[6]" for 4 arrivals',
                                       'lane 0 arrives at mbarrier "filled[1]" and announces 4,096 bytes (phase 0)',
                                       '16 lanes start bulk copies of 256 bytes each from "from" to "stage"',
                                       'all lanes have waited for phase 0 of mbarrier "filled[1]"',
                                       'all lanes pass mbarrier "emptied[1]" without waiting')),
                              ("16b", ('lane 0 starts a bulk copy of 8,192 bytes from "weights" to "stage"',
                                       'all lanes arrive at mbarrier "filled[0]" when their copies have come (phase 0)',
                                       "multiply, with three other warps, 64x16 by 16xN numbers"))):
            for words in texts:
                self.assertIn(words, self.pages[f"stepper_{number}.html"])

    def test_a_bulk_copy_comes_between_its_announcement_and_the_wait(self):
        steps = re.findall(r"<li.*?>(?:warp \d, line \d+: )?(.*)</li>", self.pages["stepper_16a.html"])
        order = [next(i for i, step in enumerate(steps) if step.startswith(begin)) for begin in (
            'lane 0 arrives at mbarrier "filled[1]" and', "16 lanes start bulk copies",
            'all lanes have waited for phase 0 of mbarrier "filled[1]"')]
        self.assertEqual(order, sorted(order))

    def test_a_cooperative_kernel_has_its_own_name(self):
        for number, kernel in (("11b", "down_kernel"), ("15", "one_launch_kernel")):
            self.assertIn(f"kernel <code>{kernel}</code>:", self.pages[f"stepper_{number}.html"])

    def test_equal_steps_that_follow_one_another_are_one_line(self):
        lines = re.findall(r"<li.*", self.pages["stepper_11b.html"])
        self.assertTrue(all(one != next_one for one, next_one in zip(lines, lines[1:])))
        self.assertRegex("\n".join(lines), r'<li data-times="4">.*: all lanes read "weights".*<i>, 4 times</i></li>')

    def test_the_trace_is_as_the_program_wrote_it(self):
        for chapter, _, text in self.each():
            packed = re.search(r'class="stepper-trace">([^<]*)<', text)[1]
            self.assertEqual(gzip.decompress(base64.b64decode(packed)), self.trace_of(chapter).read_bytes())


@unittest.skipIf(browser_missing(), f"{browser_missing()} is not installed (setup.sh docs)")
class InABrowser(Pages):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser().__enter__()
        cls.addClassCleanup(cls.browser.__exit__)

    def open(self, name):
        self.browser.open((self.folder / name).as_uri())
        self.browser.run(LOADED)

    def run_script(self, script, *arguments):
        return self.browser.run(STEPPER + script, *arguments)

    def test_each_page(self):
        """Opens each page once for all checks, because opening a page takes longer than most checks."""
        for chapter, name, text in self.each():
            self.browser.emulate(width=1280, scheme="light", motion="reduce")  # so that colours change at once
            self.open(name)
            self.assertEqual(self.run_script("return s.position"), 1, "it opens with its first step done")
            for look in (self.reads_the_trace, self.ends_with_what_the_program_wrote, self.hears_keys,
                         self.says_something_and_marks_its_line_in_every_step_of_every_warp,
                         self.has_the_line_of_a_step_in_view,
                         self.has_contrast_and_does_not_scroll_sideways, self.shows_all_lanes_and_every_value_whole):
                with self.subTest(name, look=look.__name__):
                    self.browser.resize(1280)
                    self.run_script("s.chooseWarp(0); s.moveTo(0)")
                    look(chapter, text)
                    self.assertEqual(self.browser.errors(), [])

    def reads_the_trace(self, chapter, text):
        script = """return s.data.events.map(e => ({kind: e.kind, warp: e.warp, line: e.line, from: e.from || null,
            brings: e.brings || null, receives: e.receives || null, words: e.words || null,
            rows: (e.rows || []).filter(([label]) => label !== 'to word').map(([, texts]) => texts), fragments: e.fragments || null}));"""
        expected = shown_events(self.trace_of(chapter), re.search(r'data-dtype="(\w+)"', text)[1])
        self.assertTrue(expected == self.run_script(script))

    def ends_with_what_the_program_wrote(self, chapter, text):
        cells = "return [...document.querySelectorAll(`[data-region='${arguments[0]}'] span`)].map(c => c.textContent)"
        self.run_script("s.moveTo(s.steps.length)")
        for name, numbers in outputs_of(re.search(r'class="stepper-command"[^>]*>([^<]*)<', text)[1]).items():
            if (name == "sorted_token_ids" and chapter != "10") or name == "output":
                continue  # a later kernel writes it
            expected = [f"{number:.4g}" if isinstance(number, float) else str(number) for number in numbers]
            shown = self.browser.run(cells, name) or self.browser.run(cells, name.removeprefix("topk_"))
            self.assertEqual(shown, expected, name)  # a kernel may name the array without topk_

    def test_bulk_copies_are_under_way_until_their_words_are_read(self):
        self.open("stepper_16a.html")
        script = """
            const events = s.data.events, at = events.findIndex(event => event.kind === 'bulk_copy' && event.lanes > 1);
            const words = at => {
                s.chooseWarp(events[at].warp);
                s.moveTo(s.steps.indexOf(at) + 1);
                return s.marked.map(cell => cell.textContent);
            };
            const begun = words(at), title = s.marked[0].title;
            const warps = document.querySelector('.stepper-warps').textContent;
            const read = events.findIndex(event => event.kind === 'shared_load' && event.region.some((region, lane) =>
                region !== null && region >= 0 && s.cells[region][event.index[lane]].title === title));
            return [begun, words(read), read > at, warps];"""
        begun, read, later, warps = self.run_script(script)
        self.assertTrue(later)
        self.assertRegex(warps, "warps 0 to 3: waiting at line [0-9]+warp 4: at line")
        self.assertEqual(begun, ["\u2026"] * (16 * 256 // 4))
        self.assertTrue(all(re.fullmatch(r"\S*\d \S*\d", text) for text in read) and read, read)

    def test_copies_are_under_way_until_their_words_are_read(self):
        self.open("stepper_11d.html")
        script = """
            const events = s.data.events, last = kind => events.findLastIndex(event => event.kind === kind);
            const cells = event => event.region.map((region, lane) => region === null ? null :
                event.words.map((_, i) => s.cells[region][event.index[lane] + i].textContent));
            const after = (at, event) => {
                s.chooseWarp(events[at].warp);
                s.moveTo(s.steps.indexOf(at) + 1);
                return cells(event);
            };
            const copy = events[last('copy_to')], place = (event, lane) => event.region[lane] + ' ' + event.index[lane];
            const places = new Set(copy.index.map((_, lane) => place(copy, lane)));
            const read = events.findIndex(event => event.kind === 'shared_load' &&
                event.index.some((index, lane) => index !== null && places.has(place(event, lane))));
            return [after(read - 1, copy).flat(), after(last('matrix_memory'), copy).flat()];"""
        before, later = self.run_script(script)
        self.assertEqual({text for text in before if text}, {"\u2026"})
        self.assertTrue(all(re.fullmatch(r"\S*\d \S*\d", text) for text in later if text), later)

    def test_halves_of_words_are_written_as_they_are_read(self):
        """Checks 2-byte elements, which are stored one by one and then loaded eight at a time."""
        self.open("stepper_11d.html")
        shown, loaded = self.run_script("""
            const events = s.data.events, at = events.findLastIndex(event => event.kind === 'shared_load');
            const load = events[at];
            s.chooseWarp(load.warp);
            s.moveTo(s.steps.indexOf(at));
            return [load.words.map((row, i) => row.map((text, lane) => text === null ? null :
                s.cells[load.region[lane]][load.index[lane] + i].textContent)), load.words];""")
        self.assertEqual(len(loaded), 4)
        self.assertEqual(shown, loaded)

    def hears_keys(self, *_):
        """Checks that arrows step, Home and End jump, space plays and pauses, and the focus is visible."""
        self.run_script("document.querySelector('.stepper-view').focus()")
        last, positions, playing = self.run_script("return s.steps.length"), [], []
        for key, _ in KEYS:
            self.browser.press(key)
            positions.append(self.run_script("return s.position"))
        self.assertEqual(positions, [last if position is None else position for _, position in KEYS])
        for _ in range(2):
            self.browser.press(SPACE)
            playing.append(self.run_script("return s.timer !== null"))
        self.assertEqual(playing, [True, False])
        self.assertTrue(self.browser.run("return getComputedStyle(document.activeElement).outlineStyle !== 'none'"))

    def says_something_and_marks_its_line_in_every_step_of_every_warp(self, *_):
        bad = self.run_script("""
            const bad = [];
            for (let warp = 0; warp < Math.min(s.data.warps, 4); warp++) {
                s.chooseWarp(warp);
                for (let i = 0; i <= s.steps.length; i++) {
                    s.moveTo(i);
                    const event = i > 0 ? s.data.events[s.steps[i - 1]] : null;
                    const own = event && (event.warp === warp || event.kind === 'block_barrier');
                    const line = document.querySelector('.stepper-source .now');
                    const said = document.querySelector('[aria-live=polite]').textContent;
                    if (!said || (own && (!line || [...line.parentNode.children].indexOf(line) + 1 !== event.line)))
                        bad.push([warp, i, said]);
                }
            }
            return bad;""")
        self.assertEqual(bad, [])

    def has_the_line_of_a_step_in_view(self, *_):
        in_view = self.run_script("""
            const lines = s.steps.map(at => s.data.events[at].warp === s.warp ? s.data.events[at].line : 0);
            s.moveTo(1 + lines.indexOf(Math.max(...lines)));
            return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
                const line = document.querySelector('.stepper-source .now'), box = line.parentNode.getBoundingClientRect();
                done([line.parentNode.scrollTop > 0, line.getBoundingClientRect().top >= box.top,
                      line.getBoundingClientRect().bottom <= box.bottom]);
            })));""")
        self.assertEqual(in_view, [True, True, True])

    def has_contrast_and_does_not_scroll_sideways(self, *_):
        """Checks the contrast of the page in both schemes, and that the page fits the width of a phone and of a wide
        screen."""
        self.run_script("s.moveTo(Math.min(6, s.steps.length))")
        for scheme in ("dark", "light"):
            self.browser.emulate(scheme=scheme, motion="reduce")
            self.assertEqual(self.browser.run(CONTRAST), [], scheme)
        for width in (390, 1400):
            self.browser.resize(width)
            wide = self.browser.run("return Math.max(0, document.documentElement.scrollWidth - innerWidth)")
            self.assertEqual(wide, 0, f"{width} pixels")

    def shows_all_lanes_and_every_value_whole(self, *_):
        """Checks only 100 evenly spaced steps, because laying out the steps takes most of this test's time."""
        self.browser.resize(1400)
        clipped = self.run_script("""
            const box = document.querySelector('.stepper-box'), out = new Set();
            for (let i = 0; i <= s.steps.length; i += Math.ceil(s.steps.length / 100)) {
                s.moveTo(i);
                if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight)
                    out.add('lanes');
                for (const cell of document.querySelectorAll('.stepper-lanes .value'))
                    if (cell.getComputedTextLength() > cell.previousSibling.width.baseVal.value ||
                        cell.firstChild.data === 'NaN') /* no value of these runs, but a word taken for one */
                        out.add(cell.firstChild.data);
            }
            return [...out];""")
        clipped += self.run_script("""
            return [...document.querySelectorAll('.stepper-cells span')]
                .filter(cell => cell.scrollWidth > cell.clientWidth)
                .map(cell => cell.title + ': ' + cell.textContent);""")
        self.assertEqual(clipped, [])

    def test_words_have_their_index(self):
        """Checks that an array's words are numbered from 0 and that an access shows its word's number. In chapter 02,
        each lane loads the word of its own expert."""
        self.open("stepper_02.html")
        titles = self.browser.run("return [...document.querySelectorAll('.stepper-region p')].map(p => p.textContent)")
        self.assertIn("group_best, shared, words 64 to 79", titles)
        last = "return getComputedStyle(document.querySelector('[data-region=chosen] span:last-child'), '::before').content"
        self.assertEqual(self.browser.run(last), '"15"')
        words = "s.moveTo(s.steps.findIndex(i => s.data.events[i].kind === 'global_load') + 1);" \
            "return [...document.querySelectorAll('.stepper-lanes .value')].slice(0, 32).map(t => t.firstChild.data)"
        self.assertEqual(self.run_script(words), [f"[{lane}]" for lane in range(32)])

    def test_motion_only_where_it_is_wanted(self):
        durations = []
        for motion in ("no-preference", "reduce"):
            self.browser.emulate(motion=motion)
            self.open("stepper_02.html")
            durations.append(self.browser.run("return getComputedStyle(document.querySelector('.stepper-cells span'))"
                                              ".transitionDuration"))
        self.assertEqual(durations, ["0.2s", "0s"])


if __name__ == "__main__":
    unittest.main()
