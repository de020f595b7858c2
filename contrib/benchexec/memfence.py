"""BenchExec tool-info module. From the root of the project, with memfence installed in .venv:

    PYTHONPATH=. benchexec --tool-directory .venv/bin benchmark.xml

where the benchmark says `tool="contrib.benchexec.memfence"`. Its options start with the command: `check`, then for
example `--model`, `tso`. The verdict is taken from the exit code; a bounded result is `unknown`, never `true`.
"""

import json

import benchexec.result as result
import benchexec.tools.template


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
        return [executable, command, task.single_input_file, *rest, *limits]

    def determine_result(self, run):
        if run.was_timeout:
            return result.RESULT_TIMEOUT
        if run.exit_code.signal:
            return result.RESULT_ERROR
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
        try:
            value = json.loads("\n".join(line.rstrip("\n") for line in output))
        except ValueError:
            return None
        found = value.get("stats", {}).get(identifier, value.get(identifier))
        return None if found is None else str(found)
