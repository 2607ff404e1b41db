"""Tests recorded runs: where they are added, their layout, and the commands that record everything."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

import course
from course import RESULTS, ROOT, write
import record
import record_all
import results


def run(program="02_first", tokens=(1,), **more):
    rows = [{"num_tokens": number, "here": {"median_us": 1.5}} for number in tokens]
    return {"chapter": "02_first", "device": "NVIDIA H200", "command": f"build/gpu/{program} --bench",
            "date": "2026-01-02",
            "kernel_source_sha256": "0" * 64, "distribution": "router", "cache": "warm", "problem": {"dtype": "f32"},
            **more, "rows": rows}


def other(size, **more):
    return run(command=f"build/gpu/02_first --block-size {size} --bench", problem={"block_size": size}, **more)


COUNTED = {"chapter": "02_first", "gpu": "NVIDIA H200", "cuda": "1.2", "date": "2026-01-02",
           "kernel_source_sha256": "0" * 64,
           "command": "sh tests/gpu/count_on_gpu.sh 02_first 2048",
           "counters": [{"counter": "votes", "simulator": 1, "gpu": 1}]}


class Record(course.Course):
    def make_course(self):
        write("chapters/02_first/gate.cu", "int first;\n")

    def recorded(self):
        return json.loads((RESULTS / "02_first.json").read_text())

    def record(self, *runs):
        return course.call(record.main, stdin="\n".join(json.dumps(entry, indent=1) for entry in runs))

    def test_runs_go_to_their_chapters_files(self):
        self.assertEqual(self.record(run("02_first_bare"), run(), COUNTED), (0, "\n".join([
            f"recorded in {RESULTS}/02_first.json: build/gpu/02_first_bare --bench",
            f"recorded in {RESULTS}/02_first.json: build/gpu/02_first --bench",
            f"recorded in {RESULTS}/02_first.json: {COUNTED['command']}"])))
        self.assertEqual(self.recorded(), [run(), COUNTED, run("02_first_bare")])
        self.assertEqual(results.load(), {"02_first": [run(), COUNTED], "02_first_bare": [run("02_first_bare")]})
        self.assertEqual(results.find_counters(results.load(), "02_first"), COUNTED)
        self.assertEqual(os.listdir(RESULTS), [name for name in os.listdir(RESULTS) if name.endswith(".json")])

    def test_a_run_takes_the_place_of_one_of_the_same_command_or_problem(self):
        self.record(run(), other(16), COUNTED)
        again = run(date="2026-02-03")
        renamed = other(16, date="2026-02-03")
        renamed["command"] = "build/gpu/02_first --bench --block 16"
        self.record(again, renamed)
        self.assertEqual(self.recorded(), [again, renamed, COUNTED])
        self.record(run(tokens=(1, 2), command="build/gpu/02_first --more --bench"))
        self.assertEqual(len(self.recorded()), 4, "more tokens are another problem")

    def test_the_order_is_that_of_the_commands_whatever_came_first(self):
        self.record(COUNTED, other(128), other(16), run())
        first = (RESULTS / "02_first.json").read_text()
        self.assertEqual(self.recorded(), [run(), other(16), other(128), COUNTED])
        self.record(run(), other(16), other(128), COUNTED)
        self.assertEqual((RESULTS / "02_first.json").read_text(), first)

    def test_a_field_or_row_is_a_line(self):
        self.record(run(tokens=(1, 2), floor={"us": 0.5}))
        self.assertEqual((RESULTS / "02_first.json").read_text(), """[
  {
    "chapter": "02_first",
    "device": "NVIDIA H200",
    "command": "build/gpu/02_first --bench",
    "date": "2026-01-02",
    "kernel_source_sha256": "%s",
    "distribution": "router",
    "cache": "warm",
    "problem": {"dtype": "f32"},
    "floor": {"us": 0.5},
    "rows": [
      {"num_tokens": 1, "here": {"median_us": 1.5}},
      {"num_tokens": 2, "here": {"median_us": 1.5}}
    ]
  }
]
""" % ("0" * 64))

    def test_a_run_of_several_ranks_keeps_no_counters(self):
        stages = {name: value
                  for name, value in run().items() if name != "rows"} | {"stages": [{"stage": "experts", "us": 1.5}]}
        self.record({**stages, "counters": {}, "kernels": []})
        self.assertEqual(self.recorded(), [stages])
        self.assertIsNone(results.find(results.load(), "02_first"), "it is no run of times over sizes")

    def test_folders_are_named_for_gpus(self):
        for name, folder in (("NVIDIA H200", "h200"), ("NVIDIA GeForce RTX 4090", "geforce_rtx_4090"),
                             ("a/../b", "a_b")):
            self.assertEqual(record.gpu_of({"device": name}), folder)
        self.assertEqual(record.gpu_of(COUNTED), "h200")

    def test_what_is_rejected(self):
        needs = 'a run needs "command", "date", "kernel_source_sha256", and a list "rows", "counters", "figures" or "stages"'
        piped = ("a run is what PROGRAM --bench --format json prints: "
                 "build/gpu/PROGRAM (build/cpu/01_cpu_baseline for chapter 01) --bench --format json | python3 docs/tools/record.py")
        no_object = "this is not JSON, or not a JSON object"
        for text, message in (("", "there is no run in it"),
                              ('{"rows": ', f"line 1, column 10: this is not JSON; {piped}"),
                              ("02_first on the CPU simulator\n", f"line 1, column 1: {no_object}; {piped}"),
                              ("\n 3", f"line 2, column 2: {no_object}; {piped}"),
                              ("{}", f"the text: {needs}"),
                              (json.dumps(run("03_none")), "03_none: chapters/03_none, which it measured, is gone")):
            self.assertEqual(course.call(record.main, stdin=text), (1, f"record: /dev/stdin: {message}"))
        counted = {name: text for name, text in run().items() if name not in ("date", "rows")} | {"counters": {"votes": 1}}
        self.assertEqual(self.record(counted), (1, 'record: /dev/stdin: 02_first: a run needs "date", '
                                                   'and a list "rows", "counters", "figures" or "stages"'))
        self.assertEqual(self.record(run(date=None)), (1, 'record: /dev/stdin: 02_first: a run needs "date"'))
        simulated = {**counted, "device": "CPU simulator"}
        self.assertEqual(self.record(simulated), (1,
            "record: /dev/stdin: 02_first: a run on the CPU simulator, without measurements; only measured runs on a GPU are "
            "recorded: build/gpu/02_first --bench --format json | python3 docs/tools/record.py"))
        self.assertEqual(course.call(record.main, "none.json"), (1, "record: none.json: No such file or directory"))
        self.assertFalse(RESULTS.exists())

    def test_a_file_that_is_not_text(self):
        pathlib.Path("program").write_bytes(b"\x7fELF\xe0\xff")
        self.assertEqual(course.call(record.main, "program"), (
            1, "record: program: this is not text; a run is what PROGRAM --bench --format json prints: "
               "build/gpu/PROGRAM (build/cpu/01_cpu_baseline for chapter 01) --bench --format json | python3 docs/tools/record.py"))

    def test_help_is_the_files_description(self):
        status, said = course.call(record.main, "--help")
        self.assertEqual(status, 0)
        self.assertIn(record.__doc__.strip(), said)

    def test_all_needs_programs_for_a_gpu(self):
        self.assertEqual(course.call(record_all.main, "--only", "02_first"),
                         (1, "record_all: build/gpu has none of these programs; run ninja gpu first"))
        write("build/gpu/arch", "sm_90")
        self.assertEqual(course.call(record_all.main, "--only", "02_first")[0], 1)
        self.assertEqual(course.call(record_all.main, "--only", "02_first", "--list")[0], 0)
        self.assertEqual(course.call(record_all.main, "--only", "no_such"),
                         (1, "record_all: --only no_such: no command contains it; --list prints the commands"))

    def test_all_runs_a_program_that_fails_and_one_that_does_not(self):
        write("build/gpu/02_first", f"#!/bin/sh\ncase $* in *f16*) echo no such type >&2; exit 2;; esac\ncat <<'END'\n"
              f"{json.dumps(run())}\nEND\n", 0o755)
        status, said = course.call(record_all.main, "--only", "02_first", "--results", "elsewhere")
        self.assertEqual(status, 1)
        self.assertRegex(said, r"^1/3 +[0-9.]+ s  build/gpu/02_first --dtype f32 --bench --format json\n"
                               r"2/3 +[0-9.]+ s  build/gpu/02_first --dtype f16 --bench --format json: no such type\n"
                               r"3/3 +[0-9.]+ s  build/gpu/02_first --dtype bf16 --bench --format json: no such type$")
        self.assertEqual(json.loads(pathlib.Path("elsewhere/h200/02_first.json").read_text()), [run()])

    def test_all_names_a_program_that_does_not_start_and_an_output_that_is_no_run(self):
        write("chapters/03_next/gate.cu", "int next;\n")
        write("build/gpu/02_first", "#!/bin/sh\necho 02_first on NVIDIA H200\n", 0o755)
        status, said = course.call(record_all.main, "--only", "f32 --bench")
        self.assertEqual(status, 1)
        self.assertIn("02_first --dtype f32 --bench --format json: line 1, column 1: this is not JSON, ", said)
        self.assertRegex(said, "(?m)03_next --dtype f32 --bench --format json: build/gpu/03_next: No such file or directory$")

    def test_options_are_not_abbreviated(self):
        status, said = course.call(record_all.main, "--counter", "--list")
        self.assertEqual((status, said.splitlines()[-1]), (2, "tool: error: unrecognized arguments: --counter"))

    def test_outside_the_root_a_line_says_so(self):
        os.rename("chapters", "elsewhere")
        hint = "; run it in the repository's root"
        self.assertEqual(course.call(record.main, "none.json"), (1, f"record: none.json: No such file or directory{hint}"))
        self.assertEqual(course.call(record_all.main), (
            1, f"record_all: build/gpu has none of these programs; run ninja gpu first{hint}"))


class TheCourse(unittest.TestCase):
    def test_every_recorded_run_has_its_command(self):
        def listed(option):
            return subprocess.run([sys.executable, "docs/tools/record_all.py", "--list", option], cwd=ROOT,
                                  capture_output=True,
                                  text=True, check=True).stdout.splitlines()

        kept = os.getcwd()
        os.chdir(ROOT)
        try:
            recorded = [entry for runs in results.load().values() for entry in runs]
        finally:
            os.chdir(kept)
        commands = listed("--counters")
        if any("figures" in entry for entry in recorded):  # either all claims are recorded, or none
            commands += listed("--claims")
        if any(results.program_of(entry) == "moe_peers" for entry in recorded):  # either all runs of the layer, or none
            commands += listed("--layer")
        if any("stages" in entry for entry in recorded):  # either all splits of the layer, or none
            commands += listed("--gpus")
        if any(results.field(entry, "overlap") for entry in recorded):  # either all overlapping launches, or none
            commands += listed("--overlap")
        self.assertEqual(len(set(commands)), len(commands))
        self.assertEqual(len(commands), len(recorded))
        self.assertEqual(sorted({results.program_of(entry) for entry in recorded}),
                         sorted({self.program(command) for command in commands}))

    def program(self, command):
        words = command.split()
        return words[2] if words[0] == "sh" else pathlib.Path(words[1] if "python" in words[0] else words[0]).stem


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
