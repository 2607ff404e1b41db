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
    """Joins texts as `a`, `b` and `c`."""
    quoted = [f"{quote}{text}{quote}" for text in texts]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def machines(runs):
    """Returns the devices of recorded runs and the dates: "NVIDIA H200, CUDA 13.0, recorded on 2026-01-02"."""
    most = max((run.get("ranks", 1) for run in runs), default=1)  # some of the runs may be on one GPU
    names = distinct(f"{run['gpu']}, CUDA {run['cuda']}" if "counters" in run else
                     f"{most} x " * (most > 1) + f"{run.get('device', '?')}, {run.get('toolkit', '?')}" for run in runs)
    days = sorted(distinct(run["date"][:10] for run in runs))
    when = f"from {days[0]} to {days[-1]}" if len(days) > 2 else f"on {join(days)}"
    return f"{join(names)}, recorded {when}"


def _commands(commands, only_first):
    """Joins commands as "`a`, `b` and `c`", or as "`a`, and so on", and omits their --out options."""
    commands = distinct(command.split(" --out ")[0].rstrip() for command in commands)
    return f"`{commands[0]}`, and so on" if only_first and len(commands) > 1 else join(commands, "`")


def recorded(runs, only_first_command=False):
    """Returns, as the rest of a sentence in Markdown, the devices, dates and commands of the runs that are not
    None."""
    runs = [run for run in runs if run]
    if not runs:
        return "Nothing is recorded yet."
    programs = [results.program_of(run) for run in runs]  # replaced by NAME, so that equal commands merge
    commands = [run["command"] if program in results.PEERS else run["command"].replace(program, "NAME", 1)
                for run, program in zip(runs, programs)]
    return f"{machines(runs)} by {_commands(commands, only_first_command)}."


def simulated(reports, any_program, only_first_command=False):
    """Returns the commands and the inputs of the simulator's reports, in Markdown: "`command`; the input: words.". With
    any_program, NAME replaces the program's own name. The programs' folder is shown as build/cpu, wherever they were
    built."""
    commands = [re.sub(r"^(?:.*cpu(64)?/)?(\S*)", lambda match: f"build/cpu{match[1] or ''}/" +
                       ("NAME" if any_program else match[2]), report["command"]) for report in reports]
    inputs = distinct(report["input"] for report in reports)
    return _commands(commands, only_first_command) + (f"; the input: {join(inputs)}" if inputs else "") + "."
