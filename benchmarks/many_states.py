"""`python benchmarks/many_states.py [N] [THREADS]`: a complete search of two counters modulo N, by bare states.

N = 5272 has 1,000,583,424 states. The number of states is known from theory; another one fails the run.
"""

from __future__ import annotations

import resource
import sys

from cases import TWO_COUNTERS, states_of_two_counters
from run import UNREDUCED, measure

from memfence.pipeline import load_text
from memfence.source import SourceText
from memfence.tasks.options import COMPACT_FROM
from support.models import spec


def main(modulus: int, threads: int) -> None:
    program = load_text(SourceText("two counters.pml", TWO_COUNTERS.format(n=modulus)))
    expected = states_of_two_counters(modulus)
    found = measure(program, spec("tso", 2), UNREDUCED, expected, threads=threads, compact_from=COMPACT_FROM)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{expected:,} states, {found.explored.cost.transitions:,} transitions, {threads} thread(s): "
        f"{found.cpu:.1f} s of processor time, {found.wall:.1f} s on the clock, "
        f"{expected / found.cpu:,.0f} states per processor second, "
        f"{found.explored.bytes_held / expected:.2f} bytes per state, {peak_mb:,.0f} MB in all"
    )


if __name__ == "__main__":
    main(*(int(text) for text in (sys.argv[1:] + ["5272", "1"][len(sys.argv) - 1 :])))
