"""BenchExec tool-info module. From the root of the project, with memfence installed in .venv:

    PYTHONPATH=. benchexec --tool-directory .venv/bin benchmark.xml

where the benchmark says `tool="contrib.benchexec.memfence"`. Its options start with the command: `check`, then for
example `--model`, `tso`. The verdict is taken from the exit code; a bounded result is `unknown`, never `true`.

Tasks of SV-COMP's ConcurrencySafety come with a property file. Then the options are `check` and what else is wanted;
the module adds `--model sc --json`, and says which property is violated. A run that violates another property than the
one that was asked for is `unknown`.
"""

import json
from pathlib import Path

import benchexec.result as result
import benchexec.tools.template

UNREACHABLE, OVERFLOW, MEMORY, RACE = "unreach-call", "no-overflow", "valid-memsafety", "no-data-race"
MEMORY_ERRORS = {
    "double free": "valid-free",
    "free of something": "valid-free",
    "null pointer": "valid-deref",
    "invalid pointer": "valid-deref",
    "access out of bounds": "valid-deref",
    "use of freed": "valid-deref",
    "use of a local": "valid-deref",
}


class Tool(benchexec.tools.template.BaseTool2):
    """memfence: does lock-free code still work on hardware with store buffers, and where do the fences go?"""

    def name(self):
        return "memfence"

    def executable(self, tool_locator):
        return tool_locator.find_executable("memfence")

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="memfence")

    def cmdline(self, executable, options, task, rlimits):
        limits = []
        if rlimits.cputime and "--timeout" not in options:
            limits += ["--timeout", str(rlimits.cputime)]
        if rlimits.memory and "--memory" not in options:
            # Nine tenths: memfence then ends by itself with statistics instead of being killed.
            limits += ["--memory", str(max(1, rlimits.memory * 9 // 10 // 1_000_000))]
        command, *rest = options or ["check"]
        asked = property_asked(task)
        if asked is not None:
            rest += ["--model", "sc", "--json"]
            rest += {UNREACHABLE: ["--assertions-only"], RACE: ["--criterion", "drf"]}.get(asked, [])
        return [executable, command, task.single_input_file, *rest, *limits]

    def determine_result(self, run):
        if run.was_timeout:
            return result.RESULT_TIMEOUT
        if run.exit_code.signal:
            return result.RESULT_ERROR
        if run.exit_code.value == 1 and "--json" in run.cmdline:
            return violation(read_object(run.output), run.cmdline)
        words = {
            0: result.RESULT_TRUE_PROP,
            1: result.RESULT_FALSE_PROP,
            2: f"{result.RESULT_ERROR} (usage)",
            3: f"{result.RESULT_ERROR} (input)",
            4: result.RESULT_UNKNOWN,
        }
        return words.get(run.exit_code.value, f"{result.RESULT_ERROR} (internal)")

    def get_value_from_output(self, output, identifier):
        """A column: a key of `stats` or of the object itself, where the options contain `--json`."""
        value = read_object(output)
        found = value.get("stats", {}).get(identifier, value.get(identifier))
        return None if found is None else str(found)


def property_asked(task):
    """The property of SV-COMP, by the name of its file; None where there is none."""
    path = getattr(task, "property_file", None)
    return None if path is None else Path(path).stem


def read_object(output):
    try:
        return json.loads("\n".join(line.rstrip("\n") for line in output))
    except ValueError:
        return {}


def violation(value, cmdline):
    """The property that the run violates, as SV-COMP calls it."""
    false = result.RESULT_FALSE_PROP
    if "drf" in cmdline:
        return f"{false}({RACE})"
    steps = value.get("trace") or [{}]
    reason = steps[-1].get("failure") or ""
    if reason == "assertion violated":
        return f"{false}({UNREACHABLE})" if "--assertions-only" in cmdline else result.RESULT_UNKNOWN
    if reason.startswith("signed integer overflow"):
        return f"{false}({OVERFLOW})"
    kind = next((kind for start, kind in MEMORY_ERRORS.items() if reason.startswith(start)), None)
    if kind is None or "--assertions-only" in cmdline:
        return result.RESULT_UNKNOWN
    return f"{false}({kind})"
