"""Opens pages of the documentation site in Chromium, each at widths of 390 and 1400 pixels. Every second page is opened
in the light scheme at 390 pixels and in the dark scheme at 1400, the other pages the other way round. A page must not
scroll sideways or write errors to the console, and its text must have a contrast of at least 4.5:1.

python3 tests/check_site_in_browser.py FOLDER PAGE...   prints one line for each fault; exits 1 if there are any, 77
                                                        without Chromium
"""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

from browser import Browser, browser_missing

# The (scheme, width) states in which every second page is opened, and those for the other pages.
STATES = ((("light", 390), ("dark", 1400)), (("dark", 390), ("light", 1400)))
# Pages that Doxygen generates for files, folders and structures.
REFERENCE = re.compile(r"^(dir_|struct|class)|_8[a-z]+(_source)?\.html$")

# A page's colours change with a delay; if they never change, the wait times out and LOOK reports the page.
WAIT_FOR_COLOURS = """
const dark = arguments[0] === 'dark', end = Date.now() + 2000;
return new Promise(function wait(done) {
    if (document.documentElement.classList.contains('dark-mode') === dark || Date.now() > end) done();
    else setTimeout(() => wait(done), 10);
});
"""

LOOK = """
const faults = [];
if (document.documentElement.classList.contains('dark-mode') !== (arguments[0] === 'dark'))
    faults.push('its colours are not those of the system');
const root = document.documentElement;
if (root.scrollWidth > root.clientWidth)
    faults.push(`it scrolls sideways: ${root.scrollWidth} of ${root.clientWidth} pixels`);
const content = document.getElementById('doc-content');
if (content && content.scrollWidth > content.clientWidth)
    faults.push(`its text scrolls sideways: ${content.scrollWidth} of ${content.clientWidth} pixels`);

function numbers(colour) { return colour.match(/[0-9.]+/g).map(Number); }
function blend(over, under) {
    const alpha = over.length > 3 ? over[3] : 1;
    return [0, 1, 2].map(i => over[i] * alpha + under[i] * (1 - alpha));
}
function background(element) {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
        const layer = numbers(getComputedStyle(at).backgroundColor);
        layers.push(layer);
        if (layer.length === 3 || layer[3] === 1) break;
    }
    return layers.reverse().reduce((under, over) => blend(over, under), [255, 255, 255]);
}
function luminance(colour) {
    const [r, g, b] = colour.map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
// Elements of the same kind in the same place look the same: one of them is measured.
const paths = new Map(), measured = new Set();
function path(element) {
    if (!element) return '';
    if (!paths.has(element)) {
        const name = element.tagName + '.' + element.className + (/[0-9]/.test(element.id) ? '' : '#' + element.id);
        paths.set(element, path(element.parentElement) + '/' + name + (element.hidden ? '!' : ''));
    }
    return paths.get(element);
}
const seen = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || measured.has(path(element)))
        continue;
    const style = getComputedStyle(element);
    if (!element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) || element.closest('svg, script, style'))
        continue;
    measured.add(path(element));
    const under = background(element);
    const over = blend(numbers(style.color), under);
    const [high, low] = [luminance(over), luminance(under)].sort((a, b) => b - a);
    const contrast = (high + 0.05) / (low + 0.05);
    const where = element.tagName.toLowerCase() + (element.className ? '.' + element.className : '');
    if (contrast < 4.5 && !seen.has(where)) {
        seen.add(where);
        faults.push(`contrast ${contrast.toFixed(2)} in ${where}: "${text.slice(0, 40)}"`);
    }
}
return faults;
"""


def look_at_page(browser, address, states, shown):
    """Yields the faults of a page. The page is loaded once; the colour scheme and the window's width change while it is
    open."""
    for state in states:
        scheme, width = state
        if scheme != shown[0]:
            browser.emulate(scheme=scheme, motion="reduce")
        if width != shown[1]:
            browser.resize(width)
        if state == states[0]:
            browser.open(address)
        elif scheme != shown[0]:
            browser.run(WAIT_FOR_COLOURS, scheme)
        shown = state
        for fault in browser.run(LOOK, scheme):
            yield f"{scheme}, {width} pixels: {fault}"
    for fault in browser.errors():
        yield fault


def look_at_pages(folder, names):
    """Returns the faults of the pages."""
    faults = []
    shown = STATES[0][0]
    with Browser() as browser:
        browser.emulate(*reversed(shown), motion="reduce")
        for i, name in enumerate(names):
            states = STATES[i % 2]
            address = "file://" + os.path.abspath(os.path.join(folder, name))
            faults += [f"{name}, {fault}" for fault in look_at_page(browser, address, states, shown)]
            shown = states[-1]
    return faults


def find_faults(folder, names):
    """Yields the faults of all pages, which two browsers open in parallel."""
    with ThreadPoolExecutor(2) as pool:
        for faults in pool.map(lambda first: look_at_pages(folder, names[first::2]), range(2)):
            yield from faults


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: python3 tests/check_site_in_browser.py FOLDER PAGE...")
    if browser_missing():
        return 77
    faults = 0
    for fault in find_faults(sys.argv[1], sys.argv[2:]):
        print(fault)
        faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
