"""Composes the notes below tables and plots that name the sources of the numbers. Used by the tools that write these
tables and plots."""
import re

import results


def distinct(texts):
    """Returns the distinct, non-empty texts in their order, with "?" in place of characters that are not printable
    ASCII or that Markdown would interpret."""
    clean = ["".join(c if " " <= c <= "~" and c not in "`|<>" else "?" for c in text) for text in texts]
    return [text for text in dict.fromkeys(clean) if text]


def join(texts, quote=""):
    """Joins strings as `a`, `b` and `c`."""
    quoted = [f"{quote}{text}{quote}" for text in texts]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def _devices(runs, format_device):
    """Returns the distinct devices and toolkits of recorded runs, formatted and joined."""
    most = max((run.get("ranks", 1) for run in runs), default=1)  # some of the runs may be on one GPU
    return join(distinct(format_device(*((run["gpu"], f"CUDA {run['cuda']}") if "counters" in run else
                                         (f"{most} x " * (most > 1) + run.get("device", "?"), run.get("toolkit", "?"))))
                         for run in runs))


def _when(runs):
    days = sorted(distinct(run["date"][:10] for run in runs))
    return f"from {days[0]} to {days[-1]}" if len(days) > 2 else f"on {join(days)}"


def machines(runs):
    """Returns the devices of recorded runs and the dates: "NVIDIA H200, CUDA 13.0, recorded on 2026-01-02"."""
    return f"{_devices(runs, lambda device, toolkit: f'{device}, {toolkit}')}, recorded {_when(runs)}"


def _with_article(device):
    """Puts "a" or "an" before a device's name, unless the name begins with a number, as in "2 x NVIDIA H200"."""
    return device if device[:1].isdigit() else ("an " if device[:1] in "AEINOU" else "a ") + device


def _commands(commands, only_first):
    """Joins commands as "`a`, `b` and `c`", or as "`a` and similar commands", and omits their --out options."""
    commands = distinct(command.split(" --out ")[0].rstrip() for command in commands)
    return f"`{commands[0]}` and similar commands" if only_first and len(commands) > 1 else join(commands, "`")


def where_and_when(runs):
    """Returns the devices of recorded runs and the dates as a part of a sentence: "on an NVIDIA H200 with CUDA 13.0 on
    2026-01-02"."""
    return f"on {_devices(runs, lambda device, toolkit: f'{_with_article(device)} with {toolkit}')} {_when(runs)}"


def recorded(runs, only_first_command=False, subject="These numbers"):
    """Returns a sentence in Markdown that names the devices, dates and commands of the runs that are not None."""
    runs = [run for run in runs if run]
    if not runs:
        return "Nothing is recorded yet."
    programs = [results.program_of(run) for run in runs]  # replaced by NAME, so that equal commands merge
    commands = [run["command"] if program in results.PEERS else run["command"].replace(program, "NAME", 1)
                for run, program in zip(runs, programs)]
    return f"{subject} were recorded {where_and_when(runs)} by {_commands(commands, only_first_command)}."


def _input_in_words(text):
    """Returns the input that a report names as a part of a sentence."""
    text = re.sub(r"^generated: (.*)", r"generated input (\1)", text)
    return re.sub(r"^experts: (.*); arrays: generated, (seed \d+)$", r"generated arrays (experts: \1; \2)", text)


def _inputs(reports):
    """Returns the inputs that reports name as a part of a sentence. If the second input is what a gate chooses from the
    first, the chapters that use it follow in parentheses."""
    texts = [_input_in_words(text) for text in distinct(report["input"] for report in reports)]
    if len(texts) == 2 and texts[1] == f"what the gate chooses from {texts[0]}":
        chapters = distinct(report["chapter"].partition("_")[0] for report in reports if report["input"] == texts[1])
        return f"{texts[0]} ({join(chapters)}: on the ids that the gate chooses from them)"
    return join(texts)


def describe_simulated_runs(reports, any_program, only_first_command=False, subject="These counts"):
    """Returns a sentence in Markdown that names the commands and the inputs of the simulator's reports. With
    any_program, NAME replaces the program's own name. The programs' folder is shown as build/cpu, wherever they were
    built."""
    commands = [re.sub(r"^(?:.*cpu(64)?/)?(\S*)", lambda match: f"build/cpu{match[1] or ''}/" +
                       ("NAME" if any_program else match[2]), report["command"]) for report in reports]
    inputs = _inputs(reports)
    return (f"{subject} come from the CPU simulator, run as {_commands(commands, only_first_command)}" +
            (f" on {inputs}" if inputs else "") + ".")
