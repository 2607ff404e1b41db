"""The style of all figures: colours for light and dark pages, shapes in pixels, and SVG that follows the reader's
theme. Used by the modules that draw figures.

Figures are drawn with matplotlib in the colours of the light theme, with one unit per pixel. svg() rewrites
matplotlib's output: each style becomes a CSS class, and a media query gives the classes their dark colours. The hues
are Okabe and Ito's, which colour-blind readers can distinguish; text is at least 12 px in size.
"""
import html
import io
import itertools
import re
import xml.etree.ElementTree

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

# Each light colour is unique, because svg() uses it to look up the dark colour.
THEMES = {
    "card": ("#fdfdfb", "#1b2026"), "edge": ("#c9c9c4", "#3f4954"), "grid": ("#e4e4df", "#2e3640"),
    "ink": ("#1a1a1a", "#e3e8ed"), "grey": ("#767676", "#98a3ae"), "pale": ("#b5b5b0", "#627080"),
    "blue": ("#0072b2", "#5ab4f0"), "sky": ("#56b4e9", "#4596d1"), "green": ("#009e73", "#2fc79a"),
    "orange": ("#e69f00", "#f0b63c"), "vermillion": ("#d55e00", "#ff7d4d"), "purple": ("#cc79a7", "#e29cc4"),
    # Backgrounds for text: lighter than the colour of the same name on a light page, darker on a dark page.
    "ground": ("#ffffff", "#12161b"), "light_blue": ("#a5d6f3", "#1c4c6e"), "light_green": ("#8ed8c1", "#0f5441"),
    "light_orange": ("#f6d58c", "#5e4610"), "light_vermillion": ("#f0b48a", "#713813"),
    "rank_0": ("#fefefe", "#13171c"), "rank_1": ("#e3f2fb", "#162735"), "rank_2": ("#c6e6f8", "#18364d"),
    "rank_3": ("#a6d7f4", "#1b4664"), "rank_4": ("#7dc5ee", "#1f577d"), "rank_5": ("#57b5ea", "#246a99"),
}
COLOURS = {name: light for name, (light, _) in THEMES.items()}
DARK = dict(THEMES.values())

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif"
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "figures", "font.family": "DejaVu Sans", "font.size": 12,
    "path.simplify": False, "axes.edgecolor": COLOURS["grey"], "axes.linewidth": 1, "axes.facecolor": "none",
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "grid.color": COLOURS["grid"],
    "grid.linewidth": 1, "xtick.color": COLOURS["grey"], "ytick.color": COLOURS["grey"],
    "xtick.labelcolor": COLOURS["ink"], "ytick.labelcolor": COLOURS["ink"],
})


def canvas(width, height, title=""):
    """Returns axes in pixels, with the origin at the top left and with the figure's title."""
    ax = Figure(figsize=(width / 72, height / 72), dpi=72).add_axes([0, 0, 1, 1], xlim=(0, width), ylim=(height, 0))
    ax.axis("off")
    write(ax, 14, 25, title, size=15, bold=True)
    return ax


def plot_area(ax, left, top, right, bottom, **properties):
    """Returns axes for a plot in a rectangle of the canvas, below the shapes drawn on the canvas itself."""
    width, height = ax.get_xlim()[1], ax.get_ylim()[0]
    rectangle = [left / width, 1 - bottom / height, (right - left) / width, (bottom - top) / height]
    return ax.figure.add_axes(rectangle, zorder=-1, **properties)


def write(ax, x, y, text, align="left", size=12, bold=False):
    """Writes a line of text with its baseline at y; `align` says whether x is the text's left end, centre or right
    end."""
    if text != "":
        ax.text(x, y, str(text), ha=align, va="baseline", size=size, weight="bold" if bold else "normal",
                color=COLOURS["ink"], parse_math=False)


def _shape(ax, polygons, close, **look):
    codes = [Path.MOVETO] + [Path.LINETO] * (len(polygons[0]) - 1) + [Path.CLOSEPOLY] * close
    points = [point for polygon in polygons for point in [*polygon, polygon[0]][:len(codes)]]
    ax.add_patch(PathPatch(Path(points, codes * len(polygons)), clip_on=False, **look))


def boxes(ax, rectangles, fill, edge=None):
    """Draws rectangles (x, y, width, height) of one style."""
    if rectangles:
        _shape(ax, [((x, y), (x + w, y), (x + w, y + h), (x, y + h)) for x, y, w, h in rectangles], True,
               facecolor=COLOURS[fill], edgecolor=COLOURS[edge] if edge else "none", linewidth=1)


def cell(ax, x, y, width, height, texts, fill="ground", edge="grey", bold=False):
    """Draws a box with centred lines of text; the first line is bold if `bold` is true."""
    boxes(ax, [(x, y, width, height)], fill, edge)
    for number, text in enumerate(texts):
        write(ax, x + width / 2, y + height / 2 + 5 + 16 * number - 8 * (len(texts) - 1), text, "center",
              bold=bold and number == 0)


def lines(ax, segments, colour, width=1.0, head=0):
    """Draws straight lines (x1, y1, x2, y2) of one style; `head` is the length of an arrowhead at each line's end."""
    if segments:
        _shape(ax, [((x1, y1), (x2, y2)) for x1, y1, x2, y2 in segments], False, facecolor="none",
               edgecolor=COLOURS[colour], linewidth=width)
    if segments and head:
        heads = []
        for x1, y1, x2, y2 in segments:
            scale = head / ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
            dx, dy = (x2 - x1) * scale, (y2 - y1) * scale
            heads.append(
                ((x2, y2), (x2 - dx - dy * 0.42, y2 - dy + dx * 0.42), (x2 - dx + dy * 0.42, y2 - dy - dx * 0.42)))
        _shape(ax, heads, True, facecolor=COLOURS[colour], edgecolor="none")


def _outline(data):
    """Shortens a path's commands: one decimal, relative lines, and one number for a horizontal or vertical line."""
    parts, here = [], [0, 0]
    for command, arguments in re.findall(r"([MLCQz])([^MLCQz]*)", data):
        numbers = tenths = [round(float(number) * 10) for number in arguments.split()]
        if command == "L":
            dx, dy = tenths[0] - here[0], tenths[1] - here[1]
            command, numbers = ("h", [dx]) if dy == 0 else ("v", [dy]) if dx == 0 else ("l", [dx, dy])
        here = tenths[-2:] or here
        parts.append(command + " ".join(f"{number / 10:g}" for number in numbers).replace(" -", "-"))
    return "".join(parts)


def _elements(node):
    """Yields (style, tag, attributes, text) of each element that matplotlib has drawn, in order."""
    tag, style = node.tag.split("}")[-1], node.get("style", "")
    place = "".join(f' {name}="{float(node.get(name)):.4g}"' for name in "xy" if node.get(name))
    if tag == "path":
        name = f' id="{node.get("id")}"' if node.get("id") else ""
        yield "" if name else style, tag, f'{name} d="{_outline(node.get("d"))}"', ""
    elif tag == "use":
        yield style, tag, f' href="{node.get("{http://www.w3.org/1999/xlink}href")}"{place}', ""
    elif tag == "text":
        yield style.replace("'DejaVu Sans'", FONT), tag, place, html.escape(node.text, quote=False)
    for child in node if tag in ("svg", "g", "defs") else ():
        yield from _elements(child)


def _written(elements):
    """Returns the elements as SVG, with consecutive elements of one style grouped, and the CSS class of each style."""
    classes, body = {}, []
    for style, group in itertools.groupby(elements, key=lambda element: element[0]):
        texts = [f"<{tag}{attributes}>{text}</{tag}>" if text else f"<{tag}{attributes}/>"
                 for _, tag, attributes, text in group]
        name = classes.setdefault(style, f"c{len(classes)}")
        body += [f"<defs>{''.join(texts)}</defs>"] if not style else [f'<g class="{name}">', *texts, "</g>"]
    return "\n".join(body), classes


def svg(ax, title, description):
    """Returns the figure as SVG on a card that is light or dark like the page, with a description for screen
    readers."""
    raw = io.StringIO()
    ax.figure.savefig(raw, format="svg", metadata={"Date": None}, transparent=True)
    body, classes = _written(_elements(xml.etree.ElementTree.fromstring(raw.getvalue())))
    classes[f"fill: {COLOURS['card']}; stroke: {COLOURS['edge']}"] = "card"
    sheet = "".join(f".{name}{{{style}}}" for style, name in classes.items())
    dark = "".join(f".{name}{{{';'.join(f'{key}:{DARK[colour]}' for key, colour in colours)}}}"
                   for style, name in classes.items() if (colours := re.findall(r"(fill|stroke): (#\w+)", style)))
    width, height = int(ax.get_xlim()[1]), int(ax.get_ylim()[0])
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title description">\n'
            f'<title id="title">{html.escape(title, quote=False)}</title>\n'
            f'<desc id="description">{html.escape(description, quote=False)}</desc>\n'
            f"<style>{sheet}\n@media (prefers-color-scheme:dark){{{dark}}}</style>\n"
            f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>\n{body}\n</svg>\n')
