"""Opens pages of the documentation site in Chromium, 390 and 1280 pixels wide, light and dark: the page must not scroll
sideways, nothing may be written to the console as an error, and text must have a contrast of 4.5:1 or more.

python3 tests/check_site_in_browser.py FOLDER PAGE...   one line for each fault; exits 1 if there are any, 77 without Chromium
"""

import os
import sys

from browser import Browser, browser_missing

LOOK = """
const faults = [];
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
const seen = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    const style = getComputedStyle(element);
    if (!text || !element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) || element.closest('svg, script, style'))
        continue;
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


def look(browser, address):
    browser.open(address)
    return browser.run(LOOK) + browser.errors()


def find_faults(folder, names):
    with Browser() as browser:
        for scheme in ("light", "dark"):
            for width in (390, 1280):
                browser.emulate(width=width, scheme=scheme)
                for name in names:
                    for fault in look(browser, "file://" + os.path.abspath(os.path.join(folder, name))):
                        yield f"{name}, {scheme}, {width} pixels: {fault}"


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
