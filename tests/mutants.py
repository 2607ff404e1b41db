"""Makes one change at a time to a kernel and checks that the checker or the simulator rejects every wrong kernel.

    python3 tests/mutants.py [--build DIR] [--jobs N] [--list] [--all] [--new] [--alone] [WORD...]

A mutant is a kernel with one change, such as a barrier removed, <= replaced by <, or a statement deleted (RULES lists
the kinds of changes). It is compiled with the commands that built the chapter's program, as Ninja prints them, and run
with --check-corners, with the arguments in RUNS and with --check-all. If a chapter's launches share a workspace, the
mutant is also run in the test of such launches (LAUNCHES). A mutant is rejected if it does not compile, if the
simulator finds a fault, if the checker or that test finds a wrong answer, or if it does not terminate. Every other
mutant must be in tests/mutants_equivalent.txt, with the reason why the changed kernel is still correct. Code that only
a GPU's compiler reads is not changed.

Most of a chapter's mutants are in one program (tests/mutants_in_one.py), which must give correct results while no
mutant is enabled. A mutant that changes a constant or a type has its own program; with --alone, every mutant has one.
Chapter 01 runs on the host, where no simulator checks it, so it is also compiled with gcc's sanitizers. Chapter 12 has
no --check-all, and each run of its program starts two processes.

Prints each survivor and, for each chapter, the number of mutants rejected in each way; exits with 1 if any mutant
survived. WORDs select the mutants whose path, rule and line together contain all of the words. A header belongs to the
first chapter that includes it. --list prints the mutants; --new omits mutants of lines that an earlier chapter also
has; --all also runs mutants that are listed as equivalent, and reports an entry as wrong if its mutant is rejected.
"""
import argparse
import concurrent.futures
import dataclasses
import fnmatch
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import mutants_in_one

SECONDS, SECONDS_OF_ALL = 60, 300  # limits on a run's CPU time, without and with --check-all
# Arguments of the runs after --check-corners: the real data, and problems whose indices need more than 15 bits.
RUNS = {"gate": ["", "--num-tokens 32769 --num-experts 64 --num-expert-group 2 --topk-group 1 --topk 2 --dist normal",
                 "--num-tokens 200 --num-experts 4096 --num-expert-group 1 --topk-group 1 --topk 8 --dist normal"],
        "align": ["", "--num-tokens 5000 --num-experts 8192 --dist uniform --block-size 3",
                  "--num-tokens 5000 --num-experts 32 --dist uniform --kernel small"],
        "moe": ["", "--num-tokens 33000 --num-experts 2 --topk 1 --hidden-size 1 --intermediate-size 1 --dist uniform",
                "--num-tokens 64 --num-experts 65536 --topk 8 --hidden-size 1 --intermediate-size 1 --dist uniform",
                "--num-tokens 1 --num-experts 2 --topk 2 --hidden-size 32769 --intermediate-size 1 --dist uniform"],
        "11d_moe_async_ring": [  # sizes in multiples of 64; blocks of 10080 rows use the small tile
            "", "--num-tokens 9 --num-experts 1 --topk 1 --hidden-size 64 --intermediate-size 64 --block-size 10080",
            "--num-tokens 1 --num-experts 2 --topk 2 --hidden-size 64 --intermediate-size 32832 --dist uniform",
            "--num-tokens 33000 --num-experts 2 --topk 1 --hidden-size 64 --intermediate-size 64 --dist uniform",
            "--num-tokens 1 --num-experts 9 --topk 9 --hidden-size 32832 --intermediate-size 64 --dist uniform"],
        "12_expert_parallel": [f"--intermediate-size 64 --hidden-size {words}" for words in (
            "64 --num-experts 8 --topk 2 --tokens-per-group 2,1 --dispatch all-to-all",
            "64 --num-experts 8 --topk 2 --num-tokens 3 --dtype f32 --ep 1 --tp 2",
            "64 --num-experts 8 --topk 2 --num-tokens 3 --dtype f32 --dispatch all-to-all --ep 1",
            "64 --num-experts 8 --topk 2 --num-tokens 0 --dispatch all-to-all",
            "64 --num-experts 8 --topk 2 --num-tokens 0 --dtype f32",
            "192 --num-experts 8 --topk 2 --tokens-per-group 150,200 --dispatch all-to-all",
            "4160 --num-experts 10 --topk 9 --num-tokens 1",
            "64 --num-experts 2 --topk 1 --num-tokens 66000 --dispatch all-to-all")],
        "13c_gate_fewer_instructions": [  # including two routers that --check-all does not try
            "", "--num-tokens 960 --dist normal", "--num-tokens 99 --num-expert-group 16 --dist nan --bias none",
            *(f"--num-tokens {tokens} {router} --dist {dist}" for dist in ("normal", "ties", "nan")
              for tokens, router in ((35, "--num-experts 128 --num-expert-group 4 --topk-group 2 --topk 4"),
                                     (7, "--num-experts 512 --num-expert-group 16 --topk-group 8 --topk 16"))),
            "--num-tokens 33 --dist normal --num-fused-shared-experts 9 --scale-later 1",
            "--num-tokens 33 --dist nan --num-fused-shared-experts 2",
            *(f"--num-tokens 9 --dist normal {router}" for router in (  # similar to the shapes for which it has kernels
                "--num-expert-group 16 --topk-group 5",
                "--num-experts 128 --num-expert-group 4 --topk-group 3 --topk 4",
                "--num-experts 512 --num-expert-group 16 --topk-group 9 --topk 16")),
            "--num-tokens 2048 --dtype bf16 --bias-dtype same"],
        "14a_align_bit_ranks": [  # each of its kernels
            "", "--num-tokens 0", "--num-tokens 4 --block-size 9000",  # slots beyond 15 bits
            "--num-tokens 32 --topk 1 --num-experts 2048 --dist repeated",
            "--num-tokens 5 --topk 6 --num-experts 33 --block-size 3 --dist invalid --expert-map random",
            "--num-tokens 200 --num-experts 64 --dist uniform", "--num-tokens 400 --num-experts 64 --dist uniform",
            "--num-tokens 128 --num-experts 161 --dist zipf --block-size 16 --expert-map random --ids i64 --room spare",
            "--num-tokens 341 --topk 3 --num-experts 1000 --dist sparse --block-size 1 --room exact",
            "--num-tokens 9 --num-experts 64 --dist uniform", "--num-tokens 4 --topk 2 --num-experts 2 --dist uniform",
            "--num-tokens 33 --topk 1 --num-experts 3 --dist uniform", "--num-tokens 205 --topk 5 --dist uniform",
            "--num-tokens 300 --num-experts 700 --dist one", "--num-tokens 0 --kernel large"],
        "14b_align_published_counts": [  # its kernel; few ids, which fall back to 14a's kernel
            "", "--num-tokens 0", "--num-tokens 400 --num-experts 64 --dist uniform",
            "--num-tokens 625 --num-experts 64 --dist invalid --ids i64 --expert-map random --block-size 3",
            "--num-tokens 625 --num-experts 1025 --dist one",
            "--num-tokens 103 --topk 10 --num-experts 1025 --dist uniform --kernel large",
            "--num-tokens 8192 --dist uniform",
            "--num-tokens 32768 --dist zipf", "--num-tokens 40000 --dist uniform --block-size 3",
            "--num-tokens 66000", "--num-tokens 66000 --dist repeated",  # tiles of 16,384 ids, and shorter ones
            "--num-tokens 5000 --num-experts 2048 --dist uniform",
            "--num-tokens 4097 --topk 1 --dist uniform",
            *(f"{words} --kernel large --dist uniform" for words in (  # block parts that end within a run or a tile
                "--num-tokens 0", "--num-tokens 1 --topk 1 --num-experts 1", "--num-tokens 255 --topk 1",
                "--num-tokens 257", "--num-tokens 2049 --topk 1", "--num-tokens 1793 --topk 1",
                "--num-tokens 155 --topk 19")),
            "--num-tokens 97 --topk 1 --num-experts 3 --dist one --kernel large",
            "--num-tokens 95 --topk 1 --num-experts 3 --dist one --kernel large",
            # a quotient that is one too low
            "--num-tokens 140001 --topk 1 --num-experts 1 --block-size 70000 --dist uniform",
            "--num-tokens 65536 --dist one", "--num-tokens 66000 --dist one"],  # counts beyond 16 bits
        # These cover each of the chapter's routers, one and several tokens, the tokens' slots in the list, and ties.
        "15_one_launch": [
            "--num-tokens 1", "--num-tokens 5 --dtype bf16 --expert-map random",
            "--num-tokens 33 --num-experts 128 --num-expert-group 4 --topk-group 2 --topk 4 --dist normal --dtype bf16",
            "--num-tokens 40 --num-experts 256 --num-expert-group 16 --renormalize 0 --block-size 3",
            "--num-tokens 40 --num-experts 128 --num-expert-group 8 --topk-group 8 --dist equal --bias none --block-size 1",
            "--num-tokens 2 --topk-group 5", "--num-tokens 2 --topk-group 5 --num-expert-group 16",  # falls back
            "--num-tokens 1 --num-experts 128 --num-expert-group 4 --topk-group 2 --topk 4 --dist normal "
            "--block-size 1048577",
            "--num-tokens 64 --dist ties --block-size 16", "--num-tokens 256 --dist nan --dtype f16 --bias none",
            "--num-tokens 256 --dist normal --bias-dtype same --dtype f16 --block-size 1"],
        # These cover rings that are filled several times, more tiles than blocks, and large indices.
        "16a_layer_bulk_copies": [
            "", "--num-tokens 64 --num-experts 1 --topk 1 --hidden-size 128 --intermediate-size 64 --dist uniform",
            "--num-tokens 20 --num-experts 8 --topk 2 --hidden-size 2112 --intermediate-size 192 --dist uniform "
            "--expert-map random",
            "--num-tokens 1 --num-experts 2 --topk 2 --hidden-size 32896 --intermediate-size 64 --dist uniform",
            "--num-tokens 1 --num-experts 18 --topk 9 --hidden-size 32896 --intermediate-size 64 --dist uniform "
            "--expert-map random",
            "--num-tokens 33000 --num-experts 2 --topk 1 --hidden-size 128 --intermediate-size 64 --dist uniform"],
        # These cover both of the chapter's tiles, and everything that chapter 16a's runs cover.
        "16b_layer_warpgroup_products": [
            "--num-tokens 9 --num-experts 4 --topk 2 --hidden-size 128 --intermediate-size 64 --dist uniform "
            "--block-size 192", "",
            "--num-tokens 64 --num-experts 1 --topk 1 --hidden-size 128 --intermediate-size 64 --dist uniform "
            "--block-size 32",
            "--num-tokens 20 --num-experts 8 --topk 2 --hidden-size 768 --intermediate-size 192 --dist uniform "
            "--block-size 16 --expert-map random",
            "--num-tokens 100 --num-experts 2 --topk 1 --hidden-size 384 --intermediate-size 192 --dist uniform "
            "--block-size 176",
            "--num-tokens 1 --num-experts 2 --topk 2 --hidden-size 32896 --intermediate-size 64 --dist uniform",
            "--num-tokens 192 --num-experts 1 --topk 1 --hidden-size 1408 --intermediate-size 64 --dist uniform",
            "--num-tokens 1 --num-experts 18 --topk 9 --hidden-size 32896 --intermediate-size 64 --dist uniform "
            "--expert-map random",
            "--num-tokens 33000 --num-experts 2 --topk 1 --hidden-size 128 --intermediate-size 64 --dist uniform"]}
# Programs without --check-all, and the commands that start them.
STARTED_BY = {"12_expert_parallel": "mpirun --allow-run-as-root --oversubscribe -n 2"}
# Tests of several launches that share one workspace, and of launches that give up.
LAUNCHES = {"14b_align_published_counts": "tests/test_align_exchange.c", "15_one_launch": "tests/test_routing_exchange.c",
            "16b_layer_warpgroup_products": "tests/test_moe_counters.c"}
# In the mutants' programs, a block gives up after fewer unsuccessful polls.
DEFINED = dict.fromkeys(("14b_align_published_counts", "15_one_launch", "16a_layer_bulk_copies",
                         "16b_layer_warpgroup_products"), "-DMAX_POLLS=1000")
# TWINS are other builds of a chapter's kernel, in which the mutants are also run because --check-all's problems have
# few tokens.
RUNS["11c_moe_tensor_cores"] = RUNS["11d_moe_async_ring"]
TWINS = {"13c_gate_fewer_instructions": ["13c_gate_fewer_instructions_many"]}
RUNS["13a_gate_bound"] = RUNS["13c_gate_fewer_instructions"]
RUNS["13c_gate_fewer_instructions_many"] = RUNS["13b_gate_lane_per_group"] = [
    *RUNS["13c_gate_fewer_instructions"][3:],
    *(f"--num-tokens {tokens} --num-expert-group 16 --dist ties --bias {bias}"
      for tokens, bias in ((99, "random"), (999, "none"))),
    "--num-tokens 33000 --num-experts 128 --num-expert-group 4 --topk-group 2 --topk 4 --dist normal"]

# Headers that the first chapter to include them uses only in part, each with the chapter that uses the whole header.
TRIED_WITH = {"common/kernels/gate_choice.cuh": "13c_gate_fewer_instructions"}

# Each rule: its name, the pattern that it replaces in code without comments, and the replacement.
RULES = [
    ("a barrier removed", r"__sync(threads|warp)\(\)", "(void)0"),
    ("a mask narrowed", r"\b(FULL_MASK|0xffffffffu)(?=,)", "0x0000ffffu"),
    ("<= for <", r" < ", " <= "),
    ("< for <=", r" <= ", " < "),
    (">= for >", r"(?<!offset) > ", " >= "),
    ("> for >=", r" >= ", " > "),
    ("a tie reversed", r"(?<=id) < (?=\w+\.id)|(?<=\(group \^ i\)) < ", " > "),
    ("- for +", r" \+ ", " - "),
    ("+ for -", r" - ", " + "),
    ("|| for &&", r" && ", " || "),
    ("&& for ||", r" \|\| ", " && "),
    ("| for &", r" & ", " | "),
    ("& for |", r" \| ", " & "),
    ("a ! lost", r"!(?=\w)", ""),
    ("fminf for fmaxf", r"\bfmaxf\b", "fminf"),
    ("fmaxf for fminf", r"\bfminf\b", "fmaxf"),
    ("a sign lost", r"(?<![\w)] )-(?=\w)", ""),
    ("a constant one larger", r"(?<![\w.])\d+(?![\w.])", lambda match: str(int(match[0]) + 1)),
    ("another constant", r"\b([01])\.0f", lambda match: "2.0f" if match[1] == "1" else "1.0f"),
    ("an atomic made plain", r"atomicAdd\(&(\w+\[(?:[^][]|\[[^]]*\])*\]), 1\)", r"\1++"),
    ("an index of 16 bits", r"\b(int64_t|size_t)(?= \w+ =)", "short"),
    ("an index of 16 bits", r"\[([^][A-Z]*\*[^][]*)\]", r"[(short)(\1)]"),
    ("always", r" \? ", " || true ? "),
    ("never", r" \? ", " && false ? "),
]
DECLARATION = re.compile(r"(return|else|case|template|using|enum|struct|break|continue|default)\b|"
                         r"(static|const|constexpr|extern|unsigned) |[A-Za-z_]\w*\(\*const |"
                         r"[A-Za-z_]\w*(<[^;=]*>)?( [*&]*(const )?|\** )[A-Za-z_]\w*( =|;|,|\[|\()")


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str
    rule: str
    line: int
    before: str  # the line or lines that the mutant changes, joined
    after: str
    text: str  # text of the whole file
    span: tuple  # begin, end, replacement
    below: str  # the next three lines, each followed by //

    def name(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.before}  ->  {self.after}"


def blank(text):
    """Returns the text with each character except newlines replaced by a space."""
    return re.sub(r"[^\n]", " ", text)


def code_of(text):
    """Returns the text with comments, strings, directives, static assertions and code that only a GPU's compiler reads
    blanked out."""
    for pattern in (r"/\*.*?\*/", r"//[^\n]*", r'"[^"\n]*"', r"^#ifdef.*?^#else$", r"^#[^\n]*$",
                    r"static_assert\((?:[^()]|\([^()]*\))*\);",
                    r"\b(wgmma_compiler_fence|registers_\w+<\d+>|__nanosleep)\([^;]*\);"):
        text = re.sub(pattern, lambda match: blank(match[0]), text, flags=re.DOTALL | re.MULTILINE)
    return text


def end_of(code, at, pair="()"):
    """Returns the position of the bracket that closes the bracket at `at`."""
    depth = 0
    for end in range(at, len(code)):
        depth += (code[end] == pair[0]) - (code[end] == pair[1])
        if depth == 0:
            return end
    raise ValueError(f"a bracket at {at} never closes")


def conditions(code):
    for match in re.finditer(r"\bif \(", code):
        for rule, value in (("a guard dropped", "true"), ("a branch never taken", "false")):
            yield rule, match.end(), end_of(code, match.end() - 1), value


def roundings(code):
    for match in re.finditer(r"\bround_to<\w+>\(|\bdtype_round\((?:[^(),]|\([^()]*\))*, ", code):
        if not re.match(r"\s*{", code[end_of(code, code.index("(", match.start())) + 1:]):  # a definition
            end = end_of(code, code.index("(", match.start()))
            yield "a rounding dropped", match.start(), end + 1, "(" + code[match.end():end] + ")"


def statements(code):
    """Yields complete assignments and calls: from the end of the previous statement to the semicolon."""
    for match in re.finditer(r"(?:[;{}):]|\belse|^)\s*\n\s*(?=[\w*(])", code, re.MULTILINE):
        start, depth, end = match.end(), 0, match.end()
        while end < len(code) and (depth > 0 or code[end] not in ";{}"):
            depth += (code[end] in "([{") - (code[end] in ")]}")
            end += 1
        piece = code[start:end]
        if end < len(code) and code[end] == ";" and re.search(r"[=(]|\+\+|--", piece) and not re.match(
                r"(if|for|while|switch|do)\b", piece) and not DECLARATION.match(piece + ";") and "__sync" not in piece:
            yield "a statement lost", start, end, ""


def places(code):
    """Yields every change as (rule, begin, end, replacement)."""
    for rule, pattern, replacement in RULES:
        for match in re.finditer(pattern, code):
            new = replacement(match) if callable(replacement) else match.expand(replacement)
            yield rule, match.start(), match.end(), new
    yield from conditions(code)
    yield from roundings(code)
    yield from statements(code)


def mutants_of(path):
    text = pathlib.Path(path).read_text()
    code = code_of(text)
    for rule, begin, end, replacement in sorted(places(code), key=lambda place: place[1]):
        first, last = text.rfind("\n", 0, begin) + 1, text.find("\n", end)
        before, after = text[first:last], text[first:begin] + replacement + text[end:last]
        yield Mutant(path, rule, text.count("\n", 0, begin) + 1, " ".join(before.split()), " ".join(after.split()),
                     text[:begin] + replacement + text[end:], (begin, end, replacement),
                     "".join(" ".join(line.split()) + " // "
                             for line in re.findall(r"\S.*", text[last:last + 500])[:3]))


def kernels():
    """Yields each chapter's name, its kernel, and the headers that no earlier chapter includes or that TRIED_WITH
    assigns to it."""
    seen = set()
    for folder in sorted(pathlib.Path("chapters").glob("[0-9][0-9]*_*")):
        if folder.name == "19_sixty_four_lanes":  # for a device that the mutants' programs do not simulate
            continue
        names = ("gate.c", "gate.cu", "align.cu", "moe.cu", "parallel.cu", "routing.cu")
        kernel = next((path for path in sorted(folder.iterdir()) if path.name in names), None)
        if not kernel:
            continue
        read, headers = [kernel], []
        while read:
            for name in re.findall(r'#include "((?:kernels/)?\w+\.cuh)"', (reader := read.pop()).read_text()):
                header = (pathlib.Path("common") if "/" in name else reader.parent) / name
                simulated = pathlib.Path("common/simt", name).exists()  # the simulator has its own version
                if str(header) not in seen and not simulated and TRIED_WITH.get(str(header), folder.name) <= folder.name:
                    seen.add(str(header))
                    headers.append(str(header))
                    read.append(header)
        yield folder.name, str(kernel), headers


class Chapter:
    """The commands that build a chapter's program from a kernel in another folder."""

    def __init__(self, build, name, kernel):
        program, target = f"{build}/cpu/{name}", pathlib.Path(kernel).stem
        self.name, self.kernel, self.target, self.file = name, kernel, target, pathlib.Path(kernel).name
        self.rewriter = f"{build}/cpu/rewrite_launch"
        self.object, self.program = f"{build}/cpu/obj/{name}/{target}.o", program
        commands = subprocess.run(["ninja", "-t", "commands", program], capture_output=True, text=True, check=True)
        own = [line for line in commands.stdout.splitlines() if self.object in line]
        self.commands = [line.replace(" -MMD ", f" {DEFINED.get(name, '')} -MMD ") for line in own]
        self.launches = []
        if name in LAUNCHES:
            self.launches = self.commands_of_launches(build, *own)
        self.threads = "1"
        if self.file.endswith(".c"):  # no simulator checks it, and it creates threads
            sanitizers = "-fsanitize=address,undefined -fno-sanitize-recover=undefined"
            self.commands = [f"{command} {sanitizers}" for command in self.commands]
            self.threads = "3"

    def commands_of_launches(self, build, compile_kernel, link):
        """Returns the commands that build FOLDER/launches, the test of launches, with two builds of the kernel as in
        build.ninja. One of these builds, the impatient one, gives up after fewer polls."""
        launch, objects = f"{self.target}_launch", f"{build}/cpu/obj/{self.name}"
        impatient = f"{build}/tests/obj/{self.target}_impatient.o"
        commands = subprocess.run(["ninja", "-t", "commands", impatient], capture_output=True, text=True, check=True)
        test = f"-Icommon/simt -Icommon {LAUNCHES[self.name]} FOLDER/impatient.o"
        link = re.sub(rf"{build}/cpu/obj/\S+\.o ", "", link.replace(f"{objects}/main.o", f"{test} FOLDER/patient.o"))
        patient = compile_kernel.replace(" -MMD ", f" -D{launch}={launch}_patient -MMD ")
        return [patient.replace(self.object, "FOLDER/patient.o"),
                commands.stdout.splitlines()[-1].replace(impatient, "FOLDER/impatient.o"),
                link.replace(self.program, "FOLDER/launches") + " -lcmocka"]

    def compile(self, folder, commands, more=""):
        """Compiles the folder's kernel with the commands that built the chapter's program, and links the additional
        objects `more`. Returns whether all commands succeeded, and their messages."""
        for header in (folder / "kernels").glob("*.cuh"):  # as common/ninja/kernel.sh does with the headers in common
            if not header.read_text().startswith("#line"):
                done = subprocess.run([self.rewriter, header], capture_output=True, text=True, check=False)
                if done.returncode:
                    return False, done.stderr
                header.write_text(done.stdout)
        for command in commands:
            command = re.sub(r"-iquote \S+( \S+\))?", "", command).replace(self.kernel, f"{folder}/{self.file}")
            command = command.replace(self.object, f"{folder}/kernel.o")
            command = command.replace(f"-o {self.program} ", "-o FOLDER/program ")
            command = re.sub(r"-o FOLDER/(program|launches) ", rf"-o FOLDER/\1 {more} ", command)
            command = command.replace("FOLDER", str(folder))
            command = command.replace("-Icommon/simt", f"-I{folder} -Icommon/simt", 1)
            result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
            if result.returncode:
                return False, result.stderr
        return True, result.stderr

    def copy(self, folder):
        """Copies the kernel and the headers in its folder into another folder."""
        (folder / "kernels").mkdir()
        for path in (pathlib.Path(self.kernel), *pathlib.Path(self.kernel).parent.glob("*.*h")):
            self.write_copy(str(path), path.read_text(), folder)

    def write_copy(self, path, text, folder):
        """Writes the copy of a file, with full paths to the headers of other chapters, which are not copied."""
        self.place(path, folder).write_text(text.replace('"../', f'"{pathlib.Path("chapters").resolve()}/'))

    def place(self, path, folder):
        """Returns the path of the copy of a file that the kernel reads, or of the kernel itself."""
        return folder / (pathlib.Path(path).relative_to("common") if path.startswith("common/")
                         else pathlib.Path(path).name)

    def write(self, mutant, folder):
        """Writes the mutant's files into the folder."""
        self.copy(folder)
        self.write_copy(mutant.path, mutant.text, folder)

    def verdict(self, program, arguments, number=0):
        """Runs a program with the mutant of this number enabled. Returns how it was rejected and the first line of the
        message, or None if it was not rejected."""
        runs = RUNS[self.name if self.name in RUNS else self.target]
        start = STARTED_BY.get(self.name, "")
        problems = [] if start else ["--check-corners", "--check-all"]
        commands = [f"{start} {program} {words}" for words in arguments or [*problems[:1], *runs, *problems[1:]]]
        launches = program.with_name("launches")
        if self.launches and not arguments:
            commands.insert(-1, launches)
        for command in commands:
            if command == launches and not launches.exists():
                self.compile(program.parent, self.launches, " ".join(map(str, program.parent.glob("chosen.o"))))
            seconds = SECONDS_OF_ALL if command == commands[-1] else SECONDS
            result = subprocess.run(["sh", "-c", f"ulimit -t {seconds}; exec {command}"], text=True,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                                    env={**os.environ, "OMP_NUM_THREADS": self.threads, "MUTANT": str(number)})
            if result.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
                return "does not end", f"{command}"
            taken = result.returncode != 2 or command == launches  # 2: the chapter does not support this problem
            if result.returncode and taken:
                said = (result.stderr.strip() or f"exit {result.returncode}").splitlines()
                said = next((line for line in said if "Sanitizer: " in line), said[0])
                return ("crash" if result.returncode < 0 else
                        "fault" if re.search(r"\.(cuh?|h):\d+: |Sanitizer: |runtime error: ", said) else
                        "wrong answer" if re.search(r"[;:] expected |as before the launch|ERROR +]", said) else
                        "refused otherwise"), said
        return None

    def verdict_alone(self, mutant, arguments):
        """Returns the verdict on a program that contains only this mutant."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.write(mutant, folder)
            done, said = self.compile(folder, self.commands)
            return self.verdict(folder / "program", arguments) if done else ("does not compile", said.splitlines()[0])

    def all_in_one(self, mutants, folder, arguments):
        """Builds {folder}/program with all mutants that can share a program; returns {mutant: number}. The program must
        give right results while no mutant is enabled."""
        folder.mkdir()
        files = [mutants_in_one.File(path, code_of(pathlib.Path(path).read_text()),
                                     [mutant for mutant in mutants if mutant.path == path], DECLARATION.match)
                 for path in sorted({mutant.path for mutant in mutants})]
        numbers = mutants_in_one.build(self, files, folder)
        wrong = self.verdict(folder / "program", arguments)
        if wrong:
            sys.exit(f"{self.name}: with all mutants in it, and none of them on: {wrong}")
        return numbers


def read_equivalents(path):
    """Returns (path pattern, line before, line after, reason) for each entry."""
    entries = []
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            fields = [field.strip() for field in line.split(" :: ")]
            if len(fields) != 4:
                sys.exit(f"{path}:{number}: not PATH :: BEFORE :: AFTER :: REASON")
            entries.append(tuple(fields))
    return entries


def entry_for(mutant, entries):
    for entry in entries:
        line, _, below = entry[1].partition(" // ")
        if (fnmatch.fnmatch(mutant.path, entry[0]) and (mutant.before, mutant.after) == (line, entry[2])
                and (not below or mutant.below.startswith(f"{below} // "))):
            return entry
    return None


def try_all(chapters, mutants, entries, options):
    """Runs a chapter's mutants in its program and in the program's twins. Prints the survivors and the chapter's
    summary line; returns the number of survivors and wrong entries."""
    counts, survivors = {}, 0

    run = [mutant for mutant in mutants if options.all or not entry_for(mutant, entries)]
    counts["equivalent"] = len(mutants) - len(run)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folders = [pathlib.Path(folder, chapter.name) for chapter in chapters]
        numbers = [{} if options.alone else chapter.all_in_one(run, program_folder, options.run)
                   for chapter, program_folder in zip(chapters, folders)]

        def try_one(mutant):
            for chapter, program_folder, number in zip(chapters, folders, numbers):
                if mutant in number:
                    verdict = chapter.verdict(program_folder / "program", options.run, number[mutant])
                else:
                    verdict = chapter.verdict_alone(mutant, options.run)
                if verdict:
                    return mutant, verdict
            return mutant, None

        for done in concurrent.futures.as_completed([pool.submit(try_one, mutant) for mutant in run]):
            mutant, verdict = done.result()
            known = entry_for(mutant, entries)
            word = verdict[0] if verdict else "equivalent" if known else "survived"
            counts[word] = counts.get(word, 0) + 1
            if options.verbose or word == "survived" or (verdict and known):
                print(f"{'listed as equivalent, but ' if verdict and known else ''}{word}: {mutant.name()}"
                      + (f"  [{verdict[1][:160]}]" if verdict else ""), flush=True)
            survivors += word == "survived" or bool(verdict and known)
    refusals = {word: count for word, count in sorted(counts.items()) if word not in ("equivalent", "survived")}
    print(f"{chapters[0].name}: {len(mutants)} mutants: {sum(refusals.values())} refused ("
          + ", ".join(f"{word} {count}" for word, count in refusals.items())
          + f"), {counts['equivalent']} equivalent, {counts.get('survived', 0)} survived", flush=True)
    return survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--new", action="store_true", help="only lines that no chapter before has")
    parser.add_argument("--alone", action="store_true", help="compile a program for each mutant")
    parser.add_argument("--verbose", action="store_true", help="print each mutant and what refused it")
    parser.add_argument("--equivalent", default="tests/mutants_equivalent.txt", metavar="FILE")
    parser.add_argument("--run", action="append", metavar="ARGUMENTS", help="run mutants so, and in no other way")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    entries, survivors, total, tried = read_equivalents(options.equivalent), 0, 0, set()
    unused = set(entries)
    for name, kernel, headers in kernels():
        mutants = [mutant for path in [*headers, kernel] for mutant in mutants_of(path)]
        for mutant in mutants:
            unused.discard(entry_for(mutant, entries))
        old, tried = tried, tried | {(mutant.before, mutant.after) for mutant in mutants}
        mutants = [mutant for mutant in mutants if all(word in mutant.name() for word in options.words)
                   and not (options.new and (mutant.before, mutant.after) in old)]
        total += len(mutants)
        if options.list:
            print(*(mutant.name() for mutant in mutants), sep="\n", end="\n" if mutants else "")
        elif mutants:
            chapters = [Chapter(options.build, program, kernel) for program in (name, *TWINS.get(name, []))]
            survivors += try_all(chapters, mutants, entries, options)
    if total == 0 and options.words:
        print(f"mutants: no mutant matches '{' '.join(options.words)}'; --list shows all", file=sys.stderr)
        sys.exit(2)
    for entry in sorted(unused):
        print(f"{options.equivalent}: there is no such mutant: {' :: '.join(entry[:3])}")
    print(f"{total} mutants" + ("" if options.list else f", {survivors} neither refused nor equivalent"))
    sys.exit(survivors > 0 or bool(unused))


if __name__ == "__main__":
    main()
