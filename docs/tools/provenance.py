"""Where figures come from, in the words that stand below a table or a plot."""
import results


def distinct(texts):
    """The different texts in the order they come in, without empty ones and without what Markdown would take for its own."""
    clean = ["".join(c if " " <= c <= "~" and c not in "`|<>" else "?" for c in text) for text in texts]
    return [text for text in dict.fromkeys(clean) if text]


def join(texts, quote=""):
    """`a`, `b` and `c`."""
    quoted = [f"{quote}{text}{quote}" for text in texts]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def machines(runs):
    """What recorded runs ran on, and when: "NVIDIA H200, CUDA 13.0, recorded on 2026-01-02"."""
    names = distinct(f"{run['gpu']}, CUDA {run['cuda']}" if "counters" in run else
                     f"{run.get('device', '?')}, {run.get('toolkit', '?')}" for run in runs)
    return f"{join(names)}, recorded on {join(distinct(run['date'][:10] for run in runs))}"


def _general_command(run):
    """The run's command, NAME for the program so that those of several chapters are one; where it wrote to says nothing."""
    program = results.program_of(run)
    command = run["command"] if program in results.PEERS else run["command"].replace(program, "NAME", 1)
    return command.split(" --out ")[0]


def recorded(runs, only_first_command=False):
    """What recorded the runs, when and by which commands: the rest of a sentence in Markdown."""
    commands = distinct(map(_general_command, runs))
    more = only_first_command and len(commands) > 1
    return f"{machines(runs)} by {join(commands[:1] if more else commands, '`')}{', and so on' if more else ''}."


def simulated(reports, any_program, only_first_command=False):
    """The commands and the inputs of the simulator's reports, in Markdown: "`command`; the input: words."; with any_program NAME
    stands for the program's own name. Programs have the folder that they have in the course, wherever they were built."""
    commands = []
    for report in reports:
        program, _, arguments = report["command"].rpartition("cpu/")[2].partition(" ")
        commands.append(f"build/cpu/{'NAME' if any_program else program} {arguments}".split(" --out ")[0].rstrip())
    commands = distinct(commands)[:1 if only_first_command else None]
    inputs = distinct(report["input"] for report in reports)
    return (join(commands, "`") + (", and so on" if only_first_command else "") +
            (f"; the input: {join(inputs)}" if inputs else "") + ".")
