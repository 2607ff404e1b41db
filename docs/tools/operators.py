"""The operators of the course, with the fields that the tools need. A chapter belongs to an operator if its kernel file
has the operator's name. `standard`: the times that represent a chapter (see times.py). `library`: the library with
which the chapters are compared, if there is one; `columns`: the columns of its times, with labels in `words` if
`library_name` is not enough; `plotted`: the columns that plots show; tables of named chapters show the first of these.
`one_floor`: whether all chapters move the same number of bytes. `per_token`: whether counters are per token;
`counters`: the counters that plots show. `sizes`, `few_and_many`: the numbers of tokens in tables and in lists of
chapters. `titles`: the titles of the operator's plots, if there are any. `panel`: the operator's panel in the figure of
all results, if there is one: its title, the numbers of tokens, the ends of the axis in microseconds and the marks on
the axis."""
from types import SimpleNamespace as Operator

SIZES = (1, 16, 64, 512, 4096, 16384, 65536)

OPERATORS = {
    "gate": Operator(
        standard="f32", library="pytorch_gate", library_name="PyTorch", plotted=("eager_graph", "compiled_graph"),
        columns=("eager_stream", "eager_graph", "compiled_stream", "compiled_graph"), words={}, one_floor=True,
        per_token=True,
        counters="shuffles block_barriers divergent_branches shared_wavefronts shared_conflicts global_sectors",
        sizes=SIZES, few_and_many=(1, 65536),
        titles=("The gate: microseconds per call", "The gate: what a token costs"),
        panel=("Gate", (1, 65536), (0.075, 300000), (1, 10, 100, 1000, 10000))),
    "align": Operator(
        standard="align 64", library="cub_align", library_name="CUB radix sort", plotted=("here",), columns=("here",),
        words={},
        one_floor=False, per_token=False,
        counters="block_barriers shuffles divergent_branches global_store_requests global_sectors shared_wavefronts",
        sizes=SIZES, few_and_many=(1, 65536),
        titles=("Align, blocks of 64: microseconds per call", "Align: what a call costs"),
        panel=("Align", (1, 65536), (0.075, 200000), (1, 10, 100, 1000, 10000))),
    "moe": Operator(
        standard="moe", library="moe_peers", library_name="PyTorch", plotted=(),
        columns=("loop_stream", "grouped_graph", "triton_graph"), one_floor=True,
        words={"loop_stream": "PyTorch, a loop over the experts", "grouped_graph": "PyTorch, grouped products",
               "triton_graph": "Triton"},
        per_token=False, counters="global_sectors shared_wavefronts block_barriers",
        sizes=(1, 4, 16, 64, 256, 512, 4096),
        few_and_many=(1, 512), titles=(), panel=("Layer", (1, 4096), (10, 5000000), (100, 1000, 10000))),
    "routing": Operator(
        standard="routing f32", library="", library_name="", plotted=(), columns=(), words={}, one_floor=True,
        per_token=False,
        counters="block_barriers shuffles divergent_branches global_sectors shared_wavefronts atomic_requests",
        sizes=(1, 4, 16, 64, 256, 512, 4096, 16384), few_and_many=(1, 256), titles=(),
        panel=("Gate and align", (1, 256), (0.2, 30), (1, 10))),
}
