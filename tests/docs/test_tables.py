"""Tests tables in Markdown: tables of times, trees, and inputs that are rejected. test_facts.py compares the course's
tables with recorded runs and outputs."""
import json
import os
import pathlib
import unittest

import course
from course import RESULTS, write
import provenance
import results
import stages
import times

def hash_of(path):
    results.clear_caches()
    return results.source_hash(pathlib.Path(path))


def gate_run(name, before, day, rows, **more):
    return {"chapter": name, "before": before, "device": "GPU", "toolkit": "CUDA 1.2", "command": f"gpu/{name} --bench",
            "date": f"2026-01-0{day}T01:02:03Z", "kernel_source_sha256": hash_of(f"chapters/{name}/gate.cu"),
            "distribution": "router", "cache": "warm", "problem": {"dtype": "f32"}, **more, "rows": rows}


def us(value):
    return {"median_us": value}


PAGE = ["<!-- times: f32 -->", "<!-- end -->"]
HEAD = ["| tokens | 1 | 16 | 64 | 512 | 4,096 | 16,384 | 65,536 |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
ALL = HEAD + [
    "| PyTorch, eager, in a stream (15 launches) | - | - | - | 170 | - | - | - |",
    "| PyTorch, eager, in a graph (15 launches) | - | - | - | 2,000 | - | - | - |",
    "| PyTorch, compiled, in a stream (3 to 4 launches) | - | - | - | - | - | - | - |",
    "| PyTorch, compiled, in a graph (3 to 4 launches) | - | - | - | - | - | - | - |",
    "| 01_cpu_baseline, on the host | 12,300 | - | - | - | - | - | - |",
    "| 02_first | 5.60 | 99.9 | 100 | - | - | - | - |",
    "| 03_second | - | - | - | - | - | - | 0.0457 |",
    "| floor | 0.500 | - | - | - | - | - | - |",
    "These numbers were recorded on a GPU with CUDA 1.2 on 2026-01-02 and 2026-01-03 by `gpu/NAME --bench` and "
    "`python3 gate.py`."]


class Gate(course.Course):
    def make_course(self):
        for name in ("01_cpu_baseline", "02_first", "03_second", "04_third"):
            write(f"chapters/{name}/{'gate.c' if name < '02' else 'gate.cu'}", f"// {name}\nint x_{name};\n")
        write("chapters/01_cpu_baseline/grouped_topk.py", "01\n")
        self.record()

    def record(self):
        self.first = gate_run("02_first", "01_cpu_baseline", 2, [
            {"num_tokens": 1, "here": us(5.6032), "before": us(12345.6), "floor_us": 0.5},
            {"num_tokens": 16, "here": us(99.94)}, {"num_tokens": 64, "here": us(99.96)}])
        self.second = gate_run("03_second", "02_first", 3, [{"num_tokens": 65536, "here": us(0.04567)}])
        self.pytorch = {
            "peer": "pytorch_gate", "device": "GPU", "toolkit": "CUDA 1.2", "command": "python3 gate.py --out a/b.json",
            "date": "2026-01-02", "kernel_source_sha256": hash_of("chapters/01_cpu_baseline/grouped_topk.py"),
            "distribution": "router", "cache": "warm", "problem": {"dtype": "f32"},
            "launches": {"eager": {"least": 15, "most": 15}, "compiled": {"least": 3, "most": 4}},
            "rows": [{"num_tokens": 512, "eager_stream": us(170.4), "eager_graph": us(1999.9), "compiled_stream": None,
                      "compiled_graph": us(-1)}]}
        self.save()

    def save(self):
        results.write(RESULTS / "02_first.json", [self.first])
        results.write(RESULTS / "03_second.json", [self.second])
        results.write(RESULTS / "pytorch_gate.json", [self.pytorch])

    def test_of_many_days_the_first_and_the_last_are_named(self):
        self.first["date"], self.pytorch["date"] = "2026-01-05T01:02:03Z", "2026-01-02"
        self.save()
        self.page(*PAGE)
        self.assertEqual(self.tables("a.md"), (0, ""))
        self.assertIn("recorded on a GPU with CUDA 1.2 from 2026-01-02 to 2026-01-05 by", pathlib.Path("a.md").read_text())

    def test_a_page_is_checked_then_written(self):
        self.page("before", PAGE[0], "what it was", PAGE[1], "after")
        os.chmod("a.md", 0o640)
        self.assertEqual(self.tables("--check", "a.md"),
                         (1, "tables: a.md:3: this is not what would be written now: ninja tables writes it anew"))
        self.assertIn("what it was", pathlib.Path("a.md").read_text())
        self.assertEqual(self.tables("a.md"), (0, ""))
        self.assertEqual(pathlib.Path("a.md").read_text(), "\n".join(
            ["before", PAGE[0], "", *ALL[:-1], "", ALL[-1], "", PAGE[1], "after", ""]))
        self.assertEqual(os.stat("a.md").st_mode & 0o777, 0o640)
        self.assertEqual(sorted(os.listdir()), ["a.md", "chapters", "docs"])
        self.assertEqual(self.tables("--check", "a.md"), (0, ""))
        os.utime("a.md", (1, 1))
        self.assertEqual(self.tables("a.md"), (0, ""))
        self.assertEqual(os.stat("a.md").st_mtime, 1, "a file that is as recorded is not touched")

    def test_chapters_in_order_pytorch_in_a_graph_the_floor(self):
        self.assertEqual(self.writes("<!-- times: f32 03_second 02_first -->"),
                         [*HEAD, ALL[3], *ALL[7:10], ALL[-1].replace("-02 and 2026-01-03", "-02 and 2026-01-03")])

    def test_the_floor_of_another_chapter_where_the_first_has_none(self):
        self.first["rows"][1]["floor_us"] = 0.625
        self.second["rows"][0]["floor_us"] = 0.75
        self.save()
        self.writes("<!-- times: f32 02_first -->")
        self.assertEqual(self.row("| floor"), "| floor | 0.500 | 0.625 | - | - | - | - | 0.750 |")

    def test_a_chapter_without_runs_and_the_host(self):
        self.writes("<!-- times: f32 04_third 01_cpu_baseline -->")
        self.assertEqual(self.row("| 04_"), "| 04_third | - | - | - | - | - | - | - |")
        self.assertEqual(self.row("| 01_"), ALL[6])

    def test_types_without_runs(self):
        self.assertIn("Nothing is recorded yet.", self.writes("<!-- times: bf16 -->"))
        write("a.md", "<!-- times: f16 -->\n<!-- end -->")
        self.assertEqual(self.tables(), (0, ""))
        self.assertTrue(pathlib.Path("a.md").read_text().endswith("->"), "no newline at the end, then as before")

    def test_text_without_markers_is_left_alone(self):
        self.page("text", "<!-- a note -->", " <!-- times: f32 -->", "")
        self.assertEqual(self.tables("--check", "a.md"), (0, ""))

    def test_another_folder_of_results(self):
        os.rename(RESULTS, "docs/results/other")
        self.page("<!-- times: f32 02_first -->", PAGE[1])
        self.assertEqual(self.tables("--results", "docs/results/other", "a.md"), (0, ""))
        self.assertIn("| 5.60 |", self.row("| 02_"))
        self.assertEqual(self.tables(), (2, "tables: docs/results/h200: No such file or directory"))

    def test_the_host_with_its_threads(self):
        for threads, words in ((16, "up to 16 threads"), (1, "1 thread")):
            self.first["host_threads"] = threads
            self.save()
            self.writes(PAGE[0])
            self.assertEqual(self.row("| 01_"), f"| 01_cpu_baseline, {words} | 12,300 | - | - | - | - | - | - |")

    def test_a_kernel_has_changed(self):
        self.writes(PAGE[0])
        with open("chapters/02_first/gate.cu", "a") as file:
            file.write("int changed;\n")
        self.assertEqual(self.tables("--check", "a.md")[0], 1)
        lines = self.writes(PAGE[0])
        self.assertEqual(self.row("| 02_"),
                         "| 02_first (*recorded from an older kernel*) | 5.60 | 99.9 | 100 | - | - | - | - |")
        self.assertEqual(sum("older" in line for line in lines), 1)

    def test_the_pytorch_function_has_changed(self):
        write("chapters/01_cpu_baseline/grouped_topk.py", "changed\n")
        lines = self.writes(PAGE[0])
        self.assertEqual(sum("(*recorded from an older grouped_topk.py*)" in line for line in lines), 4)

    def test_markers_that_are_rejected(self):
        for marker in ("<!-- tmes: f32 -->", "<!-- counts: f32 -->", "<!-- times: f32 --> a"):
            self.refuses(f"a.md:2: '{marker}' is no marker; {course.ANY_MARKER}", "", marker, PAGE[1])
        for words in ("f64", ""):
            self.refuses(f"a.md:1: times of '{words}'; it must be f32, f16, bf16, align, moe, routing or small",
                         f"<!-- times: {words} -->")
        for name in ("05_none", "../02_first", "64"):
            self.refuses(f"a.md:1: '{name}' is no chapter with a gate", f"<!-- times: f32 {name} -->", PAGE[1])
        self.refuses("a.md:2: the table has no <!-- end -->", "", PAGE[0], "", "")
        self.refuses("a.md:3: the table before has no <!-- end -->", PAGE[0], "", *PAGE)
        self.refuses("a.md:1: <!-- end --> of no table", PAGE[1])

    def test_pages_that_are_rejected(self):
        self.assertEqual(self.tables("none.md"), (2, "tables: none.md: No such file or directory"))
        self.assertEqual(self.tables("docs"), (2, "tables: docs: Is a directory"))
        write("latin.md", "")
        pathlib.Path("latin.md").write_bytes(b"a\xff")
        self.assertRegex(self.tables("latin.md")[1], "^tables: latin.md: 'utf-8' codec can't decode")
        self.assertEqual(self.tables("--chek")[0], 2)
        self.page(*PAGE)
        self.assertEqual(self.tables("a.md", "none.md", "a.md"), (2, "tables: none.md: No such file or directory"))
        self.assertIn("| 5.60 |", self.row("| 02_"), "the others are written")

    def test_a_folder_that_cannot_be_written(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        self.page(*PAGE)
        os.chmod(".", 0o500)
        self.addCleanup(os.chmod, os.getcwd(), 0o700)
        self.assertRegex(self.tables()[1], "^tables: a.md.*: Permission denied$")

    def test_runs_that_are_rejected(self):
        path = RESULTS / "02_first.json"
        for text, message in (('[{"a" 1}]', "line 1, column 7: this is not JSON"),
                              ("", "line 1, column 1: this is not JSON"), ("{}", "it is no list of runs")):
            write(path, text)
            self.refuses(f"{path}: {message}", *PAGE)
        lists = 'a list "rows", "counters", "figures" or "stages"'
        for name, needed in (("rows", lists), ("command", '"command"'), ("date", '"date"'),
                             ("kernel_source_sha256", '"kernel_source_sha256"')):
            write(path, json.dumps([{key: value for key, value in self.first.items() if key != name}]))
            self.refuses(f"{path}: a run needs {needed}", *PAGE)
        for change, message in (({"chapter": "03_a"}, '"chapter" is "03_a"; it must be "02_first"'),
                                ({"command": "gpu/03_second"}, 'a run of "03_second"; it must be of "02_first"')):
            write(path, json.dumps([{**self.first, **change}]))
            self.refuses(f"{path}: {message}", *PAGE)
        write(path, json.dumps([self.first, self.first]))
        self.refuses("a.md:1: 02_first: 2 runs are recorded of dtype f32, distribution router, cache warm", *PAGE)
        self.save()
        os.rename("chapters/03_second", "gone")
        self.refuses(f"{RESULTS}/03_second.json: chapters/03_second, which it measured, is gone", *PAGE)

    def test_runs_of_another_problem_are_not_taken(self):
        for change in ({"cache": "cold"}, {"distribution": "zipf"}, {"problem": {"dtype": "f16"}}):
            self.first.update(change)
            self.save()
            self.assertFalse([line for line in self.writes(PAGE[0]) if line.startswith("| 02_")])
            self.record()

    def test_odd_values(self):
        self.first["device"] = "a|b`<c>\n\u20ac"
        self.first["rows"][0].update(here=us(1e300), before=us(-1))
        self.first["rows"][1]["here"] = us("x")
        self.save()
        self.writes("<!-- times: f32 02_first -->")
        self.assertEqual(self.row("These"),
                         "These numbers were recorded on a a?b??c??? with CUDA 1.2 and a GPU with CUDA 1.2 on "
                         "2026-01-02 by `gpu/NAME --bench` and `python3 gate.py`.")
        self.assertEqual(self.row("| 02_"), "| 02_first | - | - | 100 | - | - | - | - |")

    def test_lines_of_a_plot(self):
        self.first["rows"][1]["floor_us"] = 0.75
        self.first["rows"][1]["before"] = us(20.5)
        self.pytorch["rows"] = [{"num_tokens": tokens, "eager_graph": us(50.0), "compiled_graph": us(40.0)}
                                for tokens in (1, 16)]
        self.save()
        lines, runs = times.lines("f32 02_first 01_cpu_baseline", results.load())
        self.assertEqual([(line.kind, line.label, line.points) for line in lines], [
            ("library", "PyTorch eager", [(1, 50.0), (16, 50.0)]),
            ("library", "PyTorch compiled", [(1, 40.0), (16, 40.0)]),
            ("host", "01_cpu_baseline", [(1, 12345.6), (16, 20.5)]),
            ("chapter", "02_first", [(1, 5.6032), (16, 99.94), (64, 99.96)]),
            ("floor", "floor", [(1, 0.5), (16, 0.75)])])
        self.assertEqual(provenance.machines(runs), "GPU, CUDA 1.2, recorded on 2026-01-02")
        self.assertEqual(times.chapter_run(results.load(), "03_second"), self.second)
        self.assertIsNone(times.chapter_run(results.load(), "04_third"))
        for words, message in (("f32 04_third", "04_third: nothing is recorded of it"),
                               ("f32 03_second", '03_second: its rows need two times of "here" or more, and tokens that ascend'),
                               ("f32", "times of 'f32' have no lines; 'align 64 CHAPTER...' has")):
            with self.assertRaises(ValueError) as caught:
                times.lines(words, results.load())
            self.assertEqual(str(caught.exception), message)


def align_run(name, rows, program=None, **more):
    source = "tests/peers/cub_align.cu" if name == "cub_align" else f"chapters/{name}/align.cu"
    fields = {"num_experts": 256, "topk": 8, "block_size": 64, "ids": "i32", "kernel": "auto"}
    problem = {key: more.pop(key, value) for key, value in fields.items()}
    return {"chapter": name, "before": "", "device": "GPU", "toolkit": "CUDA 1.2",
            "command": f"gpu/{program or name} --block-size 64 --bench", "date": "2026-02-03T01:02:03Z",
            "kernel_source_sha256": hash_of(source), "distribution": "router", "cache": "warm", "problem": problem,
            **more,
            "rows": rows}


ALIGNED = HEAD + ["| CUB radix sort | 17.0 | - | - | - | - | - | - |", "| 02_first | 7.50 | - | - | - | - | - | - |",
                  "| 03_second | 6.50 | - | - | - | - | - | - |", "| floor | 0.500 | - | - | - | - | - | - |",
                  "These numbers were recorded on a GPU with CUDA 1.2 on 2026-02-03 by `gpu/NAME --block-size 64 --bench` "
                  "and `gpu/cub_align --block-size 64 --bench`."]
BARE = "| 02_first_bare | 7.25 | - | - | - | - | - | - |"
SMALL = ["| tokens | 1 | 16 | 64 | 120 |", "|---|---:|---:|---:|---:|",
         "| 02_first, small kernel | 1.50 | - | - | 12.0 |",
         "| 02_first, large kernel | 2.50 | - | - | - |", "| 03_second, small kernel | - | - | - | - |",
         "| 03_second, large kernel | - | - | - | - |",
         "These numbers were recorded on a GPU with CUDA 1.2 on 2026-02-03 by `gpu/NAME --block-size 64 --bench "
         "--kernel small 1` and similar commands.",
         "Not recorded yet: 03_second, small kernel.", "Not recorded yet: 03_second, large kernel."]


class Align(course.Course):
    def make_course(self):
        for name in ("02_first", "03_second"):
            write(f"chapters/{name}/align.cu", f"int x_{name};\n")
        write("chapters/04_third/gate.cu", "int gate;\n")
        write("tests/peers/cub_align.cu", "int cub;\n")
        self.runs = {
            "02_first": [align_run("02_first", [{"num_tokens": 1, "here": us(7.5), "floor_us": 0.75}])],
            "03_second": [
                align_run("03_second", [{"num_tokens": 1, "here": us(6.5), "before": us(7.25), "floor_us": 0.5}]),
                align_run("03_second", [{"num_tokens": 16, "here": us(8.5), "floor_us": 0.625}],
                          distribution="uniform")],
            "cub_align": [align_run("cub_align", [{"num_tokens": 1, "here": us(17)}])],
            "02_first_bare": [align_run("02_first", [
                {"num_tokens": 1, "here": us(7.25), "before": us(9), "floor_us": 0.25}],
                                        program="02_first_bare")]}
        for tokens, kernel, time in ((1, "small", 1.5), (120, "small", 12), (1, "large", 2.5)):
            run = align_run("02_first", [{"num_tokens": tokens, "here": us(time), "floor_us": 0.5}],
                            distribution="uniform",
                            num_experts=8, kernel=kernel)
            run["command"] += f" --kernel {kernel} {tokens}"
            self.runs["02_first"].append(run)
        self.save()

    def save(self):
        bare = self.runs["02_first_bare"]
        for name, runs in self.runs.items():
            if runs is not bare:
                results.write(RESULTS / f"{name}.json", runs + bare * (name == "02_first"))

    def change(self, path):
        with open(path, "a") as file:
            file.write("int changed;\n")

    def test_cub_the_chapters_the_floor_of_the_last(self):
        self.assertEqual(self.writes("<!-- times: align 64 -->"), ALIGNED)
        self.writes("<!-- times: align 64 02_first -->")
        self.assertEqual(self.row("| floor"), "| floor | 0.750 | - | - | - | - | - | - |")
        self.assertIn("| 17.0 |", self.row("| CUB"))
        self.assertIsNone(self.row("| 03_"))

    def test_generated_ids_and_another_block_size(self):
        self.writes("<!-- times: align 64 uniform 03_second -->")
        self.assertEqual(self.row("| 03_"), "| 03_second | - | 8.50 | - | - | - | - | - |")
        self.assertEqual(self.row("| CUB"), "| CUB radix sort | - | - | - | - | - | - | - |")
        self.assertIn("Nothing is recorded yet.", self.writes("<!-- times: align 16 -->"))

    def test_a_number_of_slots(self):
        run = align_run("02_first", [{"num_tokens": 1, "here": us(5.5), "floor_us": 0.5}])
        run["problem"]["capacity"] = 512
        run["command"] += " --capacity 512"
        self.runs["02_first"].append(run)
        self.save()
        for words, time in (("slots 512 ", "5.50"), ("", "7.50"), ("slots 64 ", "-")):
            self.writes(f"<!-- times: align 64 {words}02_first -->")
            self.assertEqual(self.row("| 02_"), f"| 02_first | {time} | - | - | - | - | - | - |")

    def test_sources_have_changed(self):
        self.change("tests/peers/cub_align.cu")
        self.change("chapters/03_second/align.cu")
        self.assertEqual([line for line in self.writes("<!-- times: align 64 -->") if "older" in line],
                         ["| CUB radix sort (*recorded from an older cub_align.cu*) | 17.0 | - | - | - | - | - | - |",
                          "| 03_second (*recorded from an older kernel*) | 6.50 | - | - | - | - | - | - |"])

    def test_a_kernel_built_otherwise(self):
        self.assertEqual(self.writes("<!-- times: align 64 03_second 02_first_bare 02_first -->"),
                         [*ALIGNED[:3], BARE, *ALIGNED[3:]],
                         "in the order of chapters, then as named; one command for all")
        self.writes("<!-- times: align 64 02_first 02_first_bare -->")
        self.assertIn("| 0.250 |", self.row("| floor"))
        self.assertFalse([line for line in self.writes("<!-- times: align 64 -->") if "bare" in line],
                         "no names and it is not there")
        self.change("chapters/02_first/align.cu")
        self.writes("<!-- times: align 64 02_first_bare -->")
        self.assertEqual(self.row("| 02_first_bare"), BARE.replace("bare", "bare (*recorded from an older kernel*)"))
        self.writes("<!-- times: align 64 02_first_full -->")
        self.assertEqual(self.row("| 02_first_full"), "| 02_first_full | - | - | - | - | - | - | - |")
        self.runs["02_first_bare"][0]["chapter"] = "03_second"
        self.save()
        self.refuses(f'{RESULTS}/02_first.json: "chapter" is "03_second"; it must be "02_first"', *PAGE)

    def test_the_small_kernel_beside_the_large_one(self):
        self.assertEqual(self.writes("<!-- times: small 8 03_second 02_first -->"), SMALL)
        self.assertIn("Nothing is recorded yet.", self.writes("<!-- times: small 16 02_first -->"))
        self.change("chapters/02_first/align.cu")
        lines = self.writes("<!-- times: small 8 02_first -->")
        self.assertEqual(sum("kernel (*recorded from an older kernel*) |" in line for line in lines), 2)

    def test_runs_of_another_problem_are_not_taken(self):
        for change in ({"kernel": "large", "num_experts": 9}, {"block_size": 16}, {"kernel": "auto"}):
            kept = dict(self.runs["02_first"][1]["problem"])
            self.runs["02_first"][1]["problem"].update(change)
            self.save()
            self.writes("<!-- times: small 8 02_first -->")
            self.assertEqual(self.row("| 02_first, small"), "| 02_first, small kernel | - | - | - | 12.0 |")
            self.runs["02_first"][1]["problem"] = kept
        for change in ({"block_size": 16}, {"kernel": "large"}):
            self.runs["cub_align"][0]["problem"].update(change)
            self.save()
            self.writes("<!-- times: align 64 -->")
            self.assertEqual(self.row("| CUB"), "| CUB radix sort | - | - | - | - | - | - | - |")

    def test_what_is_rejected(self):
        for words in ("align", "align 0", "align 64x", "align 02_first"):
            self.refuses("a.md:1: times of align without a block size; 'align 64' has one", f"<!-- times: {words} -->")
        for name in ("04_third", "unifrm", "04_none_bare", "apart/02_first"):
            self.refuses(f"a.md:1: '{name}' is no chapter with an align", f"<!-- times: align 64 {name} -->", PAGE[1])
        for words in ("small 64", "small 02_first", "small"):
            self.refuses("a.md:1: times of the small kernel; 'small 64 CHAPTER' has experts and a chapter",
                         f"<!-- times: {words} -->", PAGE[1])
        self.runs["cub_align"][0]["chapter"] = "03_second"
        self.save()
        self.refuses(f'{RESULTS}/cub_align.json: "chapter" is "03_second"; it must be "cub_align"', *PAGE)
        self.runs["cub_align"][0]["chapter"] = "cub_align"
        self.runs["02_first"].append({**self.runs["02_first"][1], "command": "gpu/02_first again"})
        self.save()
        self.refuses(
            "a.md:1: 02_first: 2 runs are recorded of block_size 64, num_experts 8, distribution uniform, cache warm, "
                     "kernel small, num_tokens 1", "<!-- times: small 8 02_first -->", PAGE[1])


def store(*words):
    return course.access("shared_store", 4, [4 * i for i in range(len(words))], [f"0x{word:08x}" for word in words])


TRACE = course.trace([store(3, 1, 7, 0), *course.barrier(0), store(0, 3, 4, 11)], 0, 16)


def layer_run(program, rows, day=2, **more):
    """Returns a recorded run of the layer with a read bandwidth of 1e12 bytes per second. cuBLAS's throughput is given
    in the rows."""
    kernel = f"chapters/{program}/moe.cu" if program[0] == "1" else "tests/peers/moe_layers.py"
    return {"device": "GPU", "toolkit": "CUDA 1.2", "command": f"gpu/{program} --bench",
            "date": f"2026-01-0{day}T01:02:03Z",
            "kernel_source_sha256": hash_of(kernel), "distribution": "router", "cache": "warm",
            "problem": {"hidden_size": 7168, "intermediate_size": 2048, "dtype": "bf16"},
            "floor": {"read_bytes_per_second": 1e12}, **more,
            "rows": [{"bytes": 1e8, "operations": 1e11, **row} for row in rows]}


class Layer(course.Course):
    def make_course(self):
        for name in ("11a_naive", "11b_tiled"):
            write(f"chapters/{name}/moe.cu", f"int x_{name};\n")
        write("tests/peers/moe_layers.py", "1\n")
        self.chapter = layer_run("11b_tiled", [
            {"num_tokens": 1, "here": us(125.0), "cublas_operations_per_second": 1e14},
            {"num_tokens": 4096, "here": us(1000.0), "cublas_operations_per_second": 2e14},
            {"num_tokens": 16384, "here": us(500.0), "cublas_operations_per_second": 4e14}])
        self.others = layer_run("moe_peers", [
            {"num_tokens": 1, "loop_stream": us(1000.0), "grouped_graph": None, "triton_graph": us(250.0),
             "bytes": 5e7},
            {"num_tokens": 4096, "loop_stream": us(5000.0), "grouped_graph": us(2000.0), "triton_graph": us(1250.0)}],
            peer="moe_peers")
        self.save()

    def save(self):
        results.write(RESULTS / "11b_tiled.json", [self.chapter])
        results.write(RESULTS / "moe_peers.json", [self.others])

    def test_parts_of_the_last_chapters_ceilings(self):
        self.assertEqual(self.writes("<!-- times: ceilings 11a_naive 11b_tiled -->"), [
            "| tokens | 1 | 4,096 | 16,384 |", "|---|---:|---:|---:|",
            "| *fraction of* | *bandwidth* | *cuBLAS* | *cuBLAS* |",
            "| PyTorch, a loop over the experts | 0.05 | 0.10 | - |",
            "| PyTorch, grouped products | - | 0.25 | - |",
            "| Triton | 0.20 | 0.40 | - |",
            "| 11a_naive | - | - | - |",
            "| 11b_tiled | 0.80 | 0.50 | 0.50 |",
            "The read bandwidth is 1,000 GB/s. cuBLAS, timed in runs as long as 11b's, reaches 200 TFLOP/s (4,096 tokens) "
            "and 400 TFLOP/s (16,384 tokens). These numbers were recorded on a GPU with CUDA 1.2 on "
            "2026-01-02 by `gpu/NAME --bench` and `gpu/moe_peers --bench`."])

    def test_one_ceiling_for_all_rows(self):
        results.write(RESULTS / "11a_naive.json", [layer_run("11a_naive", [
            {"num_tokens": 1, "here": us(400.0), "cublas_operations_per_second": 1e14}], 1,
            floor={"read_bytes_per_second": 5e11})])
        self.writes("<!-- times: ceilings 11a_naive 11b_tiled -->")
        self.assertEqual(self.row("| 11a"), "| 11a_naive | 0.25 | - | - |")
        self.assertEqual(self.row("| 11b"), "| 11b_tiled | 0.80 | 0.50 | 0.50 |")
        self.assertEqual(self.row("| Triton"), "| Triton | 0.20 | 0.40 | - |")

    def test_what_is_not_recorded(self):
        lines = self.writes("<!-- times: ceilings balanced 11b_tiled -->")
        self.assertEqual((lines[-2], lines[-1]), ("| 11b_tiled | - | - | - | - | - |", "Nothing is recorded yet."))
        del self.chapter["floor"], self.chapter["rows"][1]["cublas_operations_per_second"]
        self.save()
        self.writes("<!-- times: ceilings 11b_tiled -->")
        self.assertEqual(self.row("| 11b"), "| 11b_tiled | 0.50 |")

    def test_an_older_kernel(self):
        write("tests/peers/moe_layers.py", "2\n")
        write("chapters/11b_tiled/moe.cu", "int changed;\n")
        self.writes("<!-- times: ceilings 11b_tiled -->")
        self.assertIn("Triton (*recorded from an older moe_layers.py*)", self.row("| Triton"))
        self.assertIn("*recorded from an older kernel*", self.row("| 11b"))

    def test_times_of_the_layer(self):
        self.writes("<!-- times: moe 11b_tiled -->")
        self.assertEqual(self.row("| 11b"), "| 11b_tiled | 125 | - | - | - | - | - | 1,000 |")
        self.assertIsNone(self.row("| Triton"), "others stand in the table of ceilings")

    def test_a_roofline(self):
        reading, products, lines, source = times.roofline("ceilings 11b_tiled", results.load())
        self.assertEqual((reading, products), (1e12, 1e14))
        self.assertEqual([(line.kind, line.label, line.points) for line in lines], [
            ("library", "PyTorch, a loop over the experts", [[1000, 2e13], [2000, 1e14]]),
            ("library", "PyTorch, grouped products", [[1000, 5e13]]),
            ("library", "Triton", [[1000, 8e13], [2000, 4e14]]),
            ("chapter", "11b_tiled", [[1000, 1e14], [1000, 2e14], [1000, 8e14]])])
        self.assertEqual(source, "GPU, CUDA 1.2, recorded on 2026-01-02")
        with self.assertRaisesRegex(ValueError, "'ceilings 11a_naive' have no roofline: a run or its ceilings"):
            times.roofline("ceilings 11a_naive", results.load())

    def test_what_is_rejected(self):
        self.refuses("a.md:1: ceilings of nothing; 'ceilings CHAPTER' has a chapter", "<!-- times: ceilings -->")
        self.refuses("a.md:1: '12_x' is no chapter with a moe", "<!-- times: ceilings 12_x -->")


def ranks_run(tokens, ranks, split, path, **took):
    dp, tp, ep = split
    return {"chapter": "12_ranks", "device": "GPU", "toolkit": "CUDA 1.2", "date": "2026-01-02T01:02:03Z",
            "command": f"gpu/12_ranks --gpus {ranks} --tp {tp} --ep {ep} --dispatch {path} --num-tokens {tokens}",
            "kernel_source_sha256": hash_of("chapters/12_ranks/parallel.cu"), "problem": {"num_tokens": tokens},
            "ranks": ranks, "dp": dp, "tp": tp, "ep": ep, "dispatch": path, "stages": [
                {"stage": name.replace("_", " "), "ranks": 0 if name in ("align", "experts", "add") else ranks,
                 "bytes": 2000,
                 "bytes_over_the_bus": 1000, "us": us, "algorithm_gb_per_s": 3.25, "bus_gb_per_s": 1.5}
                for name, us in took.items()]}


class Stages(course.Course):
    def make_course(self):
        write("chapters/12_ranks/parallel.cu", "int ranks;\n")
        self.save(ranks_run(64, 1, (1, 1, 1), "broadcast", broadcast=5.0, align=5.0, experts=190.0),
                  ranks_run(64, 2, (2, 1, 1), "all-to-all", dispatch=50.0, align=5.0, experts=95.0, combine=20.0,
                            add=2.5, gather_TP=2.5),
                  ranks_run(64, 2, (2, 1, 2), "broadcast", broadcast=30.0, align=5.0, experts=100.0, reduce_DP=4.0,
                            reduce_TP=1.0),
                  ranks_run(9, 2, (1, 2, 2), "broadcast", broadcast=1.0, align=1.0, experts=100.0))

    def save(self, *runs):
        results.write(RESULTS / "12_ranks.json", runs)

    def test_what_each_stage_took(self):
        self.assertEqual(self.writes("<!-- stages: times 12_ranks 64 9 -->"), [
            "|  | broadcast (dispatch) | align | experts | sum | reduce (combine) | round (add, gather TP) | all | "
            "speed-up over one GPU |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|", "| *64 tokens* | | | | | | | | |",
            "| one GPU | 5.00 | 5.00 | 190 | 0.00 | 0.00 | 0.00 | 200 | 1.00 |",
            "| EP 2, broadcast | 30.0 | 5.00 | 100 | 0.00 | 5.00 | 0.00 | 140 | 1.43 |",
            "| slices, all-to-all | 50.0 | 5.00 | 95.0 | 0.00 | 20.0 | 5.00 | 175 | 1.14 |",
            "| *9 tokens* | | | | | | | | |", "| TP 2, EP 2 | 1.00 | 1.00 | 100 | 0.00 | 0.00 | 0.00 | 102 | - |",
            "These numbers were recorded on 2 x GPU with CUDA 1.2 on 2026-01-02 by `gpu/NAME --gpus 1 --tp 1 --ep 1 "
            "--dispatch broadcast --num-tokens 64` and similar commands."])

    def test_rows_that_are_named(self):
        lines = self.writes("<!-- stages: times 12_ranks 64 only one GPU; EP 2, broadcast -->")
        self.assertEqual([line.split(" | ")[0] for line in lines[3:-1]], ["| one GPU", "| EP 2, broadcast"])
        with self.assertRaisesRegex(ValueError, "no run is recorded of EP 3"):
            stages.parse("times 12_ranks 64 only EP 3", results.load())

    def test_what_its_collectives_moved(self):
        self.assertEqual(self.writes("<!-- stages: traffic 12_ranks 64 -->")[:-1], [
            "|  | stage | bytes | over the bus | us | alg GB/s | bus GB/s |", "|---|---|---:|---:|---:|---:|---:|",
            "| *64 tokens* | | | | | | |", "| EP 2, broadcast | broadcast | 2,000 | 1,000 | 30.0 | 3.2 | 1.5 |",
            "| EP 2, broadcast | reduce DP | 2,000 | 1,000 | 4.00 | 3.2 | 1.5 |",
            "| EP 2, broadcast | reduce TP | 2,000 | 1,000 | 1.00 | 3.2 | 1.5 |"])

    def test_an_older_kernel_and_nothing(self):
        write("chapters/12_ranks/parallel.cu", "int changed;\n")
        self.writes("<!-- stages: times 12_ranks 64 -->")
        self.assertIn("(*recorded from an older kernel*)", self.row("| one GPU"))
        self.assertEqual(self.writes("<!-- stages: times 12_ranks 5 -->")[-1], "Nothing is recorded yet.")

    def test_parts_of_one_gpus_time(self):
        data = stages.scaling("times 12_ranks 64", results.load())
        self.assertEqual(data["groups"][0]["rows"][1],
                         {"label": "EP 2, broadcast", "parts": [0.15, 0.025, 0.5, 0, 0.025, 0], "text": "140 us"})
        with self.assertRaisesRegex(ValueError, "no run of 9 tokens on one GPU is recorded"):
            stages.scaling("times 12_ranks 9", results.load())

    def test_what_is_rejected(self):
        for words in ("", "times", "times 12_ranks", "times 13_none 64", "speed 12_ranks 64"):
            self.refuses(f"a.md:1: stages of '{words}'; 'times CHAPTER 64' and 'traffic CHAPTER 64' are some",
                         f"<!-- stages: {words} -->")


OVERLAP_HEAD = ["| tokens | 1 | 16 | 64 | 512 | 4,096 | 16,384 | 65,536 |", "|---|---:|---:|---:|---:|---:|---:|---:|"]


class Overlap(course.Course):
    """Runs of the same chapters with and without overlap."""

    def make_course(self):
        for name, source in (("03_gate", "gate.cu"), ("04_align", "align.cu"), ("05_both", "routing.cu")):
            write(f"chapters/{name}/{source}", f"int x_{name};\n")
        plain = gate_run("03_gate", "02_none", 2, [{"num_tokens": 1, "here": us(5.0), "floor_us": 0.5}])
        self.gates = [plain, self.overlapping(plain, 3.0, 5.5),
                      self.overlapping(plain, 3.5, 5.25, "gpu/03_gate_variant --bench")]
        aligned = align_run("04_align", [{"num_tokens": 1, "here": us(7.0), "floor_us": 0.5}])
        both = {**plain, "chapter": "05_both", "before": "a pair", "command": "gpu/05_both --bench",
                "kernel_source_sha256": hash_of("chapters/05_both/routing.cu")}
        results.write(RESULTS / "03_gate.json", self.gates)
        results.write(RESULTS / "04_align.json", [aligned, self.overlapping(aligned, 6.0, 7.5)])
        results.write(RESULTS / "05_both.json", [both, self.overlapping(both, 8.0, 9.0)])

    @staticmethod
    def overlapping(run, here, before, command=None):
        return {**run, "before": "launched one after the other", "command": command or f"{run['command']} --overlap 1",
                "problem": {**run["problem"], "overlap": True},
                "rows": [{"num_tokens": 1, "here": us(here), "before": us(before), "floor_us": 0.5}]}

    def test_overlapping_launches_below_the_same_ones_without_overlap(self):
        rest = " - |" * 6
        self.assertEqual(self.writes("<!-- times: f32 overlap 03_gate 03_gate_variant -->")[:-1], [
            *OVERLAP_HEAD, f"| 03_gate, without overlap | 5.50 |{rest}", f"| 03_gate, overlapping | 3.00 |{rest}",
            f"| 03_gate_variant, overlapping | 3.50 |{rest}", f"| floor | 0.500 |{rest}"])
        self.assertEqual(self.writes("<!-- times: align 64 overlap 04_align -->")[2:4], [
            f"| 04_align, without overlap | 7.50 |{rest}", f"| 04_align, overlapping | 6.00 |{rest}"])
        self.writes("<!-- times: routing f32 overlap 05_both -->")
        self.assertEqual(self.row("| 05_both, without").split("|")[2], " 9.00 ")
        self.assertEqual(times.median("f32 overlap 03_gate", 1, results.load())[1], 3.0)
        self.assertEqual(times.median("f32 overlap 03_gate_variant", 1, results.load())[1], 3.5)

    def test_without_the_word_they_are_not_found(self):
        self.writes("<!-- times: f32 03_gate -->")
        self.assertEqual(self.row("| 03_").split("|")[2], " 5.00 ")
        self.writes("<!-- times: align 64 04_align -->")
        self.assertEqual(self.row("| 04_").split("|")[2], " 7.00 ")
        results.write(RESULTS / "03_gate.json", self.gates[1:])
        self.writes("<!-- times: f32 03_gate -->")
        self.assertEqual(self.row("| 03_").split("|")[2], " - ")

    def test_nothing_is_recorded(self):
        results.write(RESULTS / "03_gate.json", self.gates[:1])
        self.assertEqual(self.writes("<!-- times: f32 overlap 03_gate -->")[-4:], [
            "Nothing is recorded yet.", "Not recorded yet: 03_gate, without overlap.", "Not recorded yet: 03_gate.",
            "Not recorded yet: floor."])

    def test_what_is_rejected(self):
        for words in ("f32 overlap", "align 64 overlap", "routing f32 overlap"):
            self.refuses(f"a.md:1: times of '{words}' without a chapter; '{words} CHAPTER' has one",
                         f"<!-- times: {words} -->")
        self.refuses("a.md:1: 'overlap' is no chapter with a moe", "<!-- times: moe overlap -->")
        results.write(RESULTS / "03_gate.json", [*self.gates[:2], {**self.gates[1], "command": "gpu/03_gate again"}])
        self.refuses("a.md:1: 03_gate: 2 runs are recorded of dtype f32, distribution router, overlap True, cache warm",
                     "<!-- times: f32 overlap 03_gate -->", PAGE[1])


class Chains(course.Course):
    def make_course(self):
        write("chapters/17_chain/decode.cu", "int decode;\n")
        write("chapters/02_first/gate.cu", "int gate;\n")
        rows = [self.kernel(1, "router, gate", "router", 3.0, 5.5, 5.25), self.kernel(1, "router, gate", "all", 4.0, 5.5, 4.75),
                self.kernel(1, "and the layer", "all", 170.5, 173.25, 173.5), self.kernel(16, "router, gate", "all", 14.0, 13.5, 12.0)]
        self.run_of_chain = {"chapter": "17_chain", "before": "", "device": "GPU", "toolkit": "CUDA 1.2", "overlap": True,
                             "date": "2026-01-02T01:02:03Z", "command": "gpu/17_chain --bench", "problem": {"topk": 8},
                             "kernel_source_sha256": hash_of("chapters/17_chain/decode.cu"),
                             "distribution": "generated", "cache": "warm", "rows": rows}
        results.write(RESULTS / "17_chain.json", [self.run_of_chain])

    @staticmethod
    def kernel(tokens, chain, name, alone, plain, overlapped):
        return {"num_tokens": tokens, "chain": chain, "kernel": name, "alone_us": alone, "plain_us": plain,
                "overlapped_us": overlapped, "saved_us": plain - overlapped}

    def test_what_each_kernel_saves(self):
        self.assertEqual(self.writes("<!-- chain: 17_chain 1 16 -->"), [
            "| kernel | alone | without overlap | overlapping | saved |", "|---|---:|---:|---:|---:|",
            "| *1 token: router, gate* | | | | |", "| router | 3.00 | 5.50 | 5.25 | 0.25 |",
            "| all | 4.00 | 5.50 | 4.75 | 0.75 |", "| *1 token: router, gate, align, and the layer* | | | | |",
            "| all | 170.50 | 173.25 | 173.50 | -0.25 |", "| *16 tokens: router, gate* | | | | |",
            "| all | 14.00 | 13.50 | 12.00 | 1.50 |",
            "These numbers were recorded on a GPU with CUDA 1.2 on 2026-01-02 by `gpu/NAME --bench`."])

    def test_what_all_kernels_save_with_the_layer(self):
        self.assertEqual(self.writes("<!-- chain: 17_chain all 1 16 -->")[:-1], [
            "| tokens | without overlap | overlapping | saved |", "|---|---:|---:|---:|", "| 1 | 173.25 | 173.50 | -0.25 |"])

    def test_an_older_kernel_and_nothing(self):
        write("chapters/17_chain/decode.cu", "int changed;\n")
        self.assertIn("*Recorded from an older kernel.* These", self.writes("<!-- chain: 17_chain 1 -->")[-1])
        self.assertEqual(self.writes("<!-- chain: 17_chain 5 -->")[2:-1], [])
        (RESULTS / "17_chain.json").unlink()
        self.assertEqual(self.writes("<!-- chain: 17_chain 1 -->")[-1], "Nothing is recorded yet.")

    def test_what_is_rejected(self):
        for words in ("", "17_chain", "17_chain x", "17_chain all", "02_first 1", "18_none 1"):
            self.refuses(f"a.md:1: a chain of '{words}'; 'chain: CHAPTER 1 16' has the chapter of a decoding step and "
                         "numbers of tokens", f"<!-- chain: {words} -->")


class Trees(course.Course):
    def make_course(self):
        write(RESULTS / "none.txt", "")
        course.program("tree", trace=TRACE)
        course.program("fails", status=3)

    def test_a_tree_step_by_step(self):
        self.page("before", "<!-- tree: 0-3 tree 3 1 7 0 -->", "what it was", "<!-- end -->", "after")
        self.assertEqual(self.tables("--check", "a.md"),
                         (1, "tables: a.md:3: this is not what would be written now: ninja tables writes it anew"))
        self.assertEqual(self.tables(), (0, ""))
        self.assertEqual(pathlib.Path("a.md").read_text(), """before
<!-- tree: 0-3 tree 3 1 7 0 -->

```
word         0   1   2   3
barrier 1    3   1   7   0
end          0   3   4  11
```

Printed by `build/cpu/tree 3 1 7 0 --trace trace.json` and `python3 docs/tools/tree_steps.py 0-3 trace.json`.

<!-- end -->
after
""")
        self.assertEqual(self.tables("--check", "a.md"), (0, ""))
        write("a.md", pathlib.Path("a.md").read_text().replace("4  11", "4  12"))
        self.assertEqual(self.tables("--check", "a.md"),
                         (1, "tables: a.md:7: this is not what would be written now: ninja tables writes it anew"))

    def test_a_tree_and_a_table(self):
        write("chapters/02_first/gate.cu", "int gate;\n")
        self.page("<!-- tree: 2-3 tree -->", PAGE[1], "<!-- times: f32 02_first -->", PAGE[1])
        self.assertEqual(self.tables(), (0, ""))
        self.assertEqual(self.row("barrier"), "barrier 1    7   0")
        self.assertEqual(self.row("| 02_"), "| 02_first | - | - | - | - | - | - | - |")
        self.assertEqual(self.tables("--check", "a.md"), (0, ""))

    def test_what_is_rejected(self):
        self.refuses("a.md:2: a tree of nothing; 'tree: 0-7 PROGRAM' has words and a program", "", "<!-- tree:  -->",
                     PAGE[1])
        for words, command in (("0-7", ""), ("0-7 ../sh 1", "../sh 1")):
            self.refuses(f"a.md:2: '{command}' is no program and its arguments", "", f"<!-- tree: {words} -->", PAGE[1])
        self.refuses("a.md:2: '7-0' is no range of words: FIRST-LAST, as in 0-7, with at most 64 words", "",
                     "<!-- tree: 7-0 tree 1 -->", PAGE[1])
        self.refuses("1 page runs a program not built yet (first: build/cpu/none, for a.md:2); "
                     "try: ninja docs, which builds them and then the site", "", "<!-- tree: 0-7 none -->", PAGE[1])
        write("b.md", f"<!-- prints: build/cpu/none | tail -n 1 -->\n{PAGE[1]}\n")
        write("c.md", f"{PAGE[0]}\nwhat it was\n{PAGE[1]}\n")  # which is out of date
        self.assertEqual(self.tables("--check", "a.md", "b.md", "c.md"), (2, (
            "tables: 2 pages run programs not built yet (first: build/cpu/none, for a.md:2); "
            "try: ninja docs, which builds them and then the site")))
        self.page("<!-- tree: 0-7 fails -->", PAGE[1])
        self.assertRegex(self.tables()[1], r"^tables: a.md:1: build/cpu/fails --trace \S+: exit status 3$")
        self.page("<!-- tree: 0-7 tree -->", PAGE[1])
        self.assertRegex(self.tables()[1],
                         r"^tables: a.md:1: \S+: k, which is traced, has 4 words of dynamic shared memory; 0 to 7 are "
                         r"wanted; PROGRAM --trace-kernel NAME traces another kernel$")


if __name__ == "__main__":
    unittest.main()
