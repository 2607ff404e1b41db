# run: $b/docs/stepper
"""The pages that play a run, in a browser: python3 tests/test_stepper.py PAGES. TAP on stdout.

PAGES holds stepper_NN.html, stepper.js and stepper.css. Each page shows the command it was made by; the test runs that
command and compares what the program wrote with what the page shows at its end.
"""

import array
import ast
import html.parser
import json
import pathlib
import subprocess
import sys
import tempfile

from browser import Browser, browser_missing

MAX_BYTES = 300_000
SPACE, LEFT, RIGHT, HOME, END = " ", "\ue012", "\ue014", "\ue011", "\ue010"
KEYS = [(RIGHT, 1), (RIGHT, 2), (LEFT, 1), (END, None), (HOME, 0)]

# Pairs of text and background with less contrast than 4.5 to 1, among all that is to be seen.
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

count = failed = 0


def equal(name, expected, actual):
    global count, failed
    count += 1
    good = expected == actual
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good:
        failed += 1
        print(f"# expected: {str(expected)[:400]}\n#      got: {str(actual)[:400]}")


def read_npy(path):
    """A file's elements, flat."""
    data = path.read_bytes()
    length = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10 : 10 + length].decode())
    elements = array.array({"<i4": "i", "<i8": "q", "<f4": "f"}[header["descr"]])
    elements.frombytes(data[10 + length :])
    return list(elements)


class Page(html.parser.HTMLParser):
    """What is in a page before any script runs: its command, its steps, its data."""

    def __init__(self, text):
        super().__init__()
        self.inside, self.command, self.data, self.steps, self.open = "", "", "", 0, False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        name = names.get("class", "")
        self.inside = name if name in ("stepper-command", "stepper-data") else self.inside
        self.steps += tag == "li"
        self.open = self.open or (name == "stepper-list" and "open" in names)

    def handle_endtag(self, tag):
        self.inside = "" if tag in ("pre", "script") else self.inside

    def handle_data(self, data):
        if self.inside == "stepper-command":
            self.command += data
        elif self.inside == "stepper-data":
            self.data += data


def outputs_of(command, folder):
    """Runs the command that the page shows; the arrays that the program writes."""
    arguments = [folder + "/trace.json" if word == "trace.json" else word for word in command.split()]
    subprocess.run([*arguments, "--out", folder], check=True, stdout=subprocess.DEVNULL)
    return {path.stem: read_npy(path) for path in pathlib.Path(folder).glob("*.npy")}


def shown(browser, name):
    """The words that the page shows of the array."""
    script = "return [...document.querySelectorAll(`[data-region='${arguments[0]}'] span`)].map(c => c.textContent)"
    return browser.run(script, name)


def check_end(browser, page, chapter):
    with tempfile.TemporaryDirectory() as folder:
        outputs = outputs_of(page.command, folder)
    browser.run("const s = document.querySelector('.stepper').stepper; s.moveTo(s.steps.length)")
    for name, numbers in sorted(outputs.items()):
        if name == "sorted_token_ids" and chapter != "10":
            continue  # a second kernel writes it
        expected = [f"{number:.4g}" if isinstance(number, float) else str(number) for number in numbers]
        equal(f"{chapter}: ends with the program's {name}", expected, shown(browser, name))


def check_keys(browser, chapter):
    browser.run("document.querySelector('.stepper-view').focus(); document.querySelector('.stepper').stepper.moveTo(0)")
    last = browser.run("return document.querySelector('.stepper').stepper.steps.length")
    positions = []
    for key, _ in KEYS:
        browser.press(key)
        positions.append(browser.run("return document.querySelector('.stepper').stepper.position"))
    equal(f"{chapter}: arrows step, Home and End jump", [last if p is None else p for _, p in KEYS], positions)
    playing = []
    for _ in range(2):
        browser.press(SPACE)
        playing.append(browser.run("return document.querySelector('.stepper').stepper.timer !== null"))
    equal(f"{chapter}: space plays and pauses", [True, False], playing)
    outline = "return getComputedStyle(document.activeElement).outlineStyle !== 'none'"
    equal(f"{chapter}: the focus is to be seen", True, browser.run(outline))


def check_steps(browser, chapter):
    """Every step of every warp can be shown, says something, and marks its line of the source."""
    script = """
        const s = document.querySelector('.stepper').stepper, bad = [];
        for (let warp = 0; warp < Math.min(s.data.warps, 4); warp++) {
            s.chooseWarp(warp);
            for (let i = 0; i <= s.steps.length; i++) {
                s.moveTo(i);
                const event = i > 0 ? s.data.events[s.steps[i - 1]] : null;
                const own = event && (event.warp === warp || event.kind === 3);
                const line = document.querySelector('.stepper-source .now');
                const said = document.querySelector('[aria-live=polite]').textContent;
                if (!said || (own && (!line || Number(line.dataset.n) !== event.line)))
                    bad.push([warp, i, said]);
            }
        }
        s.chooseWarp(0);
        return bad;"""
    equal(f"{chapter}: every step says something and marks its line", [], browser.run(script))


def check_looks(browser, address, chapter):
    for scheme in ("light", "dark"):
        browser.emulate(width=1280, scheme=scheme)
        browser.open(address)
        browser.run("const s = document.querySelector('.stepper').stepper; s.moveTo(Math.min(6, s.steps.length))")
        equal(f"{chapter}: contrast, {scheme}", [], browser.run(CONTRAST))
    for width in (390, 1280):
        browser.emulate(width=width)
        browser.open(address)
        wide = browser.run("return Math.max(0, document.documentElement.scrollWidth - innerWidth)")
        equal(f"{chapter}: no horizontal scrolling at {width} px", 0, wide)


def check_motion(browser, address):
    script = "return getComputedStyle(document.querySelector('.stepper-cells span')).transitionDuration"
    durations = []
    for motion in ("no-preference", "reduce"):
        browser.emulate(motion=motion)
        browser.open(address)
        durations.append(browser.run(script))
    equal("motion only where it is wanted", ["0.2s", "0s"], durations)


def check_page(browser, path):
    chapter = path.stem[-2:]
    page = Page(path.read_text())
    equal(f"{chapter}: at most {MAX_BYTES} bytes", True, path.stat().st_size <= MAX_BYTES)
    equal(f"{chapter}: without scripts every step is text", (True, len(json.loads(page.data)["events"])),
          (page.open, page.steps))
    browser.emulate(width=1280)
    browser.open(path.resolve().as_uri())
    check_end(browser, page, chapter)
    check_keys(browser, chapter)
    check_steps(browser, chapter)
    check_looks(browser, path.resolve().as_uri(), chapter)
    equal(f"{chapter}: no error in the console", [], browser.errors())


def main():
    paths = sorted(pathlib.Path(sys.argv[1]).glob("stepper_*.html"))
    missing = browser_missing()
    if missing:
        print(f"ok 1 - the pages that play a run # SKIP {missing} is not installed (setup.sh docs)\n1..1")
        return 0
    equal("there is a page for each chapter that has a kernel", [f"stepper_{n:02}" for n in range(2, 11)],
          [path.stem for path in paths])
    with Browser() as browser:
        for path in paths:
            check_page(browser, path)
        check_motion(browser, paths[0].resolve().as_uri())
    print(f"1..{count}")
    return failed > 0


sys.exit(main())
