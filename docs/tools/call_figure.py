"""Draws the figure of chapter 18: the paths that a call can take from Python to a kernel."""
from figure_style import canvas, cell, lines, write

WIDTH, GAP, HEIGHT, TOP, PITCH = 190, 26, 46, 48, 84

# Rows of boxes: name, first column, number of columns, colour, lines of text.
ROWS = (
    (("call", 0, 4, "light_blue", "torch.ops.moe_routing.gate(gating_output, correction_bias, ...)"),),
    (("dispatcher", 0, 4, "ground", "PyTorch's dispatcher", "an implementation for each kind of tensor"),),
    (("stable", 0, 1, "light_green", "binding.cpp", "PyTorch's stable ABI"),
     ("ctypes", 1, 1, "light_green", "moe_routing.py", "ctypes"),
     ("copies", 2, 1, "light_orange", "moe_routing.py", "ctypes, copies of tensors"),
     ("meta", 3, 1, "ground", "moe_routing.py", "shapes and types only")),
    (("gpu", 0, 2, "light_green", "the library in build/gpu", "workspaces of streams and captures"),
     ("cpu", 2, 1, "light_orange", "the library in build/cpu", "the same functions")),
    (("stream", 0, 2, "light_green", "chapter 13c's launch", "on the current stream"),
     ("simulator", 2, 1, "light_orange", "chapter 13c's launch", "on the simulator")),
)
ARROWS = (("call", "dispatcher", ""), ("dispatcher", "stable", "CUDA, if built"),
          ("dispatcher", "ctypes", "CUDA, if not built"), ("dispatcher", "copies", "CPU"), ("dispatcher", "meta", "Meta"),
          ("stable", "gpu", ""), ("ctypes", "gpu", ""), ("copies", "cpu", ""), ("gpu", "stream", ""),
          ("cpu", "simulator", ""))


def draw_call(_, title):
    """Draws rows of boxes, from the call at the top to where the kernels run at the bottom, connected by arrows."""
    ax, edges = canvas(880, TOP + PITCH * len(ROWS) - 20, title), {}
    for number, row in enumerate(ROWS):
        y = TOP + PITCH * number
        for name, column, columns, fill, *texts in row:
            x, width = 18 + column * (WIDTH + GAP), columns * (WIDTH + GAP) - GAP
            cell(ax, x, y, width, HEIGHT, texts, fill, bold=True)
            edges[name] = (x, x + width, y)
    for start, end, label in ARROWS:
        narrow = min(edges[start], edges[end], key=lambda edge: edge[1] - edge[0])
        x, y, y_end = (narrow[0] + narrow[1]) / 2, edges[start][2] + HEIGHT, edges[end][2]
        lines(ax, [(x, y + 2, x, y_end - 2)], "grey", 1.5, head=8)
        write(ax, x + 8, (y + y_end) / 2 + 4, label)
    return ax
