# run: $b
"""Tests the counter tables: compares the course's tables with the programs' reports and the simulator's counts with a
GPU's, and checks that invalid inputs are rejected."""
import json
import os
import pathlib
import re
import sys
import unittest

import course
from course import RESULTS, ROOT, write
import counters
import results
import runs

BUILD = course.build_folder()


class TheCourse(unittest.TestCase):
    """Compares the course's tables with the programs' reports."""

    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)

    def reported(self, chapter, name):
        return json.loads(runs.report_path(BUILD, chapter).read_text())["counters"][name]

    def cell(self, chapter, label, column):
        line = re.search(rf"^\| {label} \|(.*)\|$", (ROOT / "chapters" / chapter / "README.md").read_text(), re.M)
        return float(line[1].split("|")[column].replace(",", ""))

    def test_branches(self):
        for column, chapter in enumerate(("02_warp_per_group", "03_divergence_free")):
            self.assertEqual(self.cell("03_divergence_free", "divergent branches", column),
                             float(f"{self.reported(chapter, 'divergent_branches') / 2048:.3g}"))

    def test_shuffles_per_token(self):
        self.assertEqual(self.cell("05_fused_gate", "shuffles", 1), self.reported("05_fused_gate", "shuffles") / 2048)

    def test_launches(self):
        for column, chapter in enumerate(("11d_moe_async_ring", "16a_layer_bulk_copies")):
            self.assertEqual(self.cell("16a_layer_bulk_copies", "launches", column), self.reported(chapter, "launches"))

    def test_the_simulators_counters_have_names(self):
        listed = (ROOT / "common/simt/counter_list.h").read_text()
        self.assertEqual(len(counters.labels_by_name()), listed.count("\nCOUNTER(") + listed.count("\nRARE_COUNTER("))
        self.assertEqual(len(counters.rare_names()), listed.count("\nRARE_COUNTER("))
        for parts in counters.SUMS.values():
            self.assertLessEqual(set(parts[1:]), set(counters.labels_by_name()))
        self.assertLessEqual({*counters.OTHERWISE_ON_GPU, *counters.NEVER_PER_TOKEN}, set(counters.labels_by_name()))


def report(chapter, shuffles, barriers):
    return {"chapter": chapter, "command": f"elsewhere/cpu/{chapter} --num-tokens 8", "input": "the logits",
            "verified": True,
            "problem": {"num_tokens": 8, "num_experts": 2048},
            "counters": {"launches": 2, "shuffles": shuffles, "block_barriers": barriers,
                         "shared_load_wavefronts": 1000,
                         "shared_store_wavefronts": 234},
            "kernels": [{"name": "first_kernel", "counters": {"shuffles": 1, "block_barriers": 2}},
                        {"name": "last_kernel", "counters": {"shuffles": 3, "block_barriers": 4}}]}


FROM = "These counts come from the CPU simulator, run as `build/cpu/NAME --num-tokens 8` on the logits."
MACHINE = ("The *machine* counts, made by Nsight Compute, were recorded on a GPU with CUDA 1.2 on 2026-01-02 by "
           "`sh tests/gpu/count_on_gpu.sh NAME 4`.")
ROW = "<!-- row: shuffles -->"


class Tables(course.Course):
    def make_course(self):
        write("chapters/03_third/gate.cu", "int third;\n")
        write("chapters/04_fourth/gate.cu", "int fourth;\n")
        course.program("03_third", report("03_third", 1234567, 12))
        course.program("04_fourth", report("04_fourth", 117, 0))
        self.record()

    def record(self, **more):
        results.clear_caches()
        run = {"chapter": "04_fourth", "gpu": "GPU", "cuda": "1.2", "date": "2026-01-02",
               "kernel_source_sha256": results.source_hash(pathlib.Path("chapters/04_fourth/gate.cu")),
               "command": "sh tests/gpu/count_on_gpu.sh 04_fourth 4",
               "counters": [{"counter": "shuffles", "simulator": 1234567, "gpu": 7654321,
                             "metric": "SHFL instructions"},
                            {"counter": "branches", "simulator": None, "gpu": 282,
                             "metric": "smsp__sass_branch_targets.sum"},
                            {"counter": "block_barriers", "simulator": 3, "gpu": 96, "metric": "BAR instructions"}],
               **more}
        write(RESULTS / "04_fourth.json", json.dumps([{key: value for key, value in run.items() if value is not None}]))

    def test_two_chapters(self):
        self.assertEqual(self.writes("<!-- counters: 03 04 -->", "<!-- row: shuffles: it falls: 8 x 2 -->",
                                     "<!-- row: shared_wavefronts -->"), [
            "| counter | 03 | 04 | remark |", "|---|---:|---:|---|", "| shuffles | 1,234,567 | 117 | it falls: 8 x 2 |",
            "| shared load and store wavefronts | 1,234 | 1,234 | |", FROM])
        text = pathlib.Path("a.md").read_text()
        self.assertEqual(text.count("<!-- "), 4, "its markers are kept")
        write("a.md", text.replace("117", "118"))
        self.assertEqual(self.tables("--check", "a.md"),
                         (1, "tables: a.md:7: this is not what would be written now: ninja tables writes it anew"))

    def test_a_counter_that_reports_leave_out(self):
        made = report("04_fourth", 117, 0)
        made["counters"]["tensor_operations"] = 5
        course.program("04_fourth", made)
        self.assertEqual(self.writes("<!-- counters: 03 04 -->", "<!-- row: tensor_operations -->"), [
            "| counter | 03 | 04 |", "|---|---:|---:|", "| tensor-core operations | 0 | 5 |", FROM])

    def test_per_token(self):
        self.assertEqual(self.writes("<!-- counters: per token, 03 04 -->", "<!-- row: launches -->", ROW,
                                     "<!-- row: block_barriers -->"), [
            "| counter | 03 | 04 |", "|---|---:|---:|", "| launches | 2 in all | 2 in all |",
                                         "| shuffles | 154,321 | 14.6 |",
            "| block barriers | 1.50 | 0 |", FROM.replace("counts", "counts per token")])

    def test_kernels(self):
        own = FROM.replace("NAME", "03_third")
        self.assertEqual(self.writes("<!-- counters: 03:first_kernel 03:last_kernel -->", ROW), [
            "| counter | `first_kernel` | `last_kernel` |", "|---|---:|---:|", "| shuffles | 1 | 3 |", own])
        self.assertEqual(self.writes("<!-- counters: 03:first_kernel 04 -->", ROW), [
            "| counter | 03, `first_kernel` | 04 |", "|---|---:|---:|", "| shuffles | 1 | 117 |", FROM])
        self.assertEqual(self.writes("<!-- counters: of last_kernel, 03 04 -->", ROW), [
            "| counter | 03 | 04 |", "|---|---:|---:|", "| shuffles | 3 | 3 |",
            FROM.replace("counts", "counts of `last_kernel`")])

    def test_by_a_number_of_the_problem(self):
        self.assertEqual(self.writes("<!-- counters: by num_experts, 04 -->", ROW), [
            "| experts | 2,048 |", "|---|---:|", "| shuffles | 117 |",
            FROM.replace("NAME", "04_fourth")])

    def test_generated_inputs(self):
        for words, shown in (("generated: uniform, seed 1", "generated input (uniform, seed 1)"),
                             ("experts: zipf; arrays: generated, seed 1",
                              "generated arrays (experts: zipf; seed 1)")):
            course.program("04_fourth", {**report("04_fourth", 117, 0), "input": words})
            self.assertEqual(self.writes("<!-- counters: 04 -->", ROW)[-1],
                             FROM.replace("NAME", "04_fourth").replace("the logits", shown))

    def test_the_ids_that_a_gate_chooses_from_the_input(self):
        course.program("04_fourth", {**report("04_fourth", 117, 0), "input": "what the gate chooses from the logits"})
        self.assertEqual(self.writes("<!-- counters: 03 04 -->", ROW)[-1], FROM.replace(
            "on the logits", "on the logits (04: on the ids that the gate chooses from them)"))

    def test_kernels_built_otherwise_and_many_experts(self):
        course.program("03_third_plain_tree", report("03_third", 5, 0))
        self.writes("<!-- counters: 03 03_plain_tree -->", ROW)
        self.assertEqual(self.row("| counter"), "| counter | 03 | 03, plain tree |")
        self.assertEqual(self.row("| shuffles"), "| shuffles | 1,234,567 | 5 |")
        many = "--kernel large --num-tokens 64 --dist uniform --num-experts 32"
        self.assertEqual(counters.run_of("03_e32"), ("03_third", many))
        self.assertEqual(counters.run_of("03_plain_tree_e32"), ("03_third_plain_tree", many))
        self.assertEqual(counters.run_of("03_t256"), ("03_third", "--num-tokens 256"))

    def test_the_simulator_and_a_gpu(self):
        self.assertEqual(self.writes("<!-- counters: 04 machine:04 -->", ROW, "<!-- row: branches -->"), [
            "| counter | source, 04 | machine, 04 |", "|---|---:|---:|", "| shuffles | 117 | 7,654,321 |",
            "| branch instructions | | 282 |", FROM.replace("These", "The *source*").replace("NAME", "04_fourth"), MACHINE])
        self.assertEqual(self.writes("<!-- counters: per token, machine:04 -->", "<!-- row: branches -->"), [
            "| counter | machine, 04 |", "|---|---:|", "| branch instructions | 70.5 |", MACHINE])
        write("chapters/04_fourth/gate.cu", "int changed;\n")
        self.writes("<!-- counters: 04 machine:04 -->", ROW)
        self.assertEqual(self.row("| counter"), "| counter | source, 04 | machine, 04 *(an older kernel)* |")

    def test_what_is_rejected(self):
        end = "<!-- end -->"
        for message, *lines in (
                ("a.md:2: 'shufles' is no counter", "<!-- counters: 03 -->", "<!-- row: shufles: 8 -->"),
                ('a.md:1: 03_third: it has no counter "votes"', "<!-- counters: 03 -->", "<!-- row: votes -->"),
                ("a.md:2: '05' is no chapter with a kernel", "", "<!-- counters: 03 05 -->", ROW),
                ("a.md:1: 03_third: it has no counters of the kernel 'sort_kernel'",
                 "<!-- counters: 03:sort_kernel -->", ROW),
                ("a.md:1: what Nsight Compute counts of 03_third is not recorded", "<!-- counters: machine:03 -->",
                 ROW),
                ("a.md:1: '05' is no chapter with a kernel", "<!-- counters: machine:05 -->", ROW),
                ('a.md:1: the GPU\'s counters of 04_fourth: it has no counter "votes"', "<!-- counters: machine:04 -->",
                 "<!-- row: votes -->"),
                ("a.md:1: a GPU counts block_barriers once for each warp: it has no column beside the simulator's",
                 "<!-- counters: machine:04 -->", "<!-- row: block_barriers -->"),
                ("a.md:1: a GPU's counters are of all kernels of one problem: no 'of' and no 'by'",
                 "<!-- counters: of last_kernel, machine:04 -->", ROW),
                ("a.md:1: counters without rows; <!-- row: shuffles --> is one", "<!-- counters: 03 -->"),
                ("a.md:1: a row must follow <!-- counters: ... -->, <!-- values: ... --> or another row", ROW),
                ("a.md:4: a row must follow <!-- counters: ... -->, <!-- values: ... --> or another row", "<!-- counters: 03 -->", ROW, "",
                 ROW),
                ("a.md:1: counters of nothing; 'counters: 03 04' is of two chapters", "<!-- counters: per token, -->"),
                ("a.md:1: counters 'per expert'; 'per token', '64 lanes', 'of KERNEL' and 'by NUMBER' are known",
                 "<!-- counters: per expert, 03 -->", ROW),
                ("a.md:1: a column '../03'; 03, 06:fill_kernel and machine:03 are some", "<!-- counters: ../03 -->",
                 ROW),
                ("a.md:1: a column '03:a/b'; 03, 06:fill_kernel and machine:03 are some", "<!-- counters: 03:a/b -->",
                 ROW),
                ("a.md:2: a remark with a '|', which would end the table's cell", "<!-- counters: 03 -->",
                 "<!-- row: shuffles: a | b -->")):
            self.refuses(message, *lines, end)
        self.refuses("a.md:1: the table has no <!-- end -->", "<!-- counters: 03 -->", ROW)

    def test_reports_that_are_rejected(self):
        page = ("<!-- counters: 04 machine:04 -->", ROW, "<!-- end -->")
        for change, message in (
                ({"chapter": "03_third"}, '04_fourth: it reports "chapter" as "03_third"; it must be "04_fourth"'),
                ({"verified": False}, "04_fourth: its result was not verified"),
                ({"problem": {}}, '04_fourth: its problem has no "num_tokens"')):
            course.program("04_fourth", {**report("04_fourth", 117, 0), **change})
            self.refuses(f"a.md:1: {message}", page[0].replace(": 04", ": per token, 04"), *page[1:])
        write("build/cpu/04_fourth", "#!/bin/sh\necho '['\n", 0o755)
        self.page(*page)
        self.assertRegex(self.tables()[1], "^tables: a.md:1: 04_fourth: .*Expecting value")
        write("build/cpu/04_fourth", "#!/bin/sh\necho why >&2\nexit 2\n", 0o755)
        self.refuses("a.md:1: build/cpu/04_fourth --format json: why", *page)

    def test_counters_of_a_gpu_that_are_rejected(self):
        path = RESULTS / "04_fourth.json"
        needs, lists = f'{path}: a run needs ', 'a list "rows", "counters", "figures" or "stages"'
        for change, message in (
                ({"kernel_source_sha256": None}, f'{needs}"kernel_source_sha256"'), ({"counters": []}, needs + lists),
                ({"counters": None}, needs + lists),
                ({"gpu": None}, f'{path}: counters need "gpu", "cuda" and a command that ends with chapter and tokens'),
                ({"command": "sh tests/gpu/count_on_gpu.sh 03_third 4"},
                 f'{path}: counters need "gpu", "cuda" and a command that ends with chapter and tokens'),
                ({"chapter": "03_third"}, f'{path}: a run of "03_third"; it must be of "04_fourth"')):
            self.record(**change)
            self.refuses(message, "<!-- counters: 04 machine:04 -->", ROW, "<!-- end -->")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
