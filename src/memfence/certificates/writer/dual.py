"""Backward search: the minimal configurations from which something bad is reached. In plain Python: slow."""

from __future__ import annotations

import json
from heapq import heappop, heappush

from memfence.certificates.checker.dual import Above, DualRules
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Refused
from memfence.certificates.format.dual import Configuration, configuration_as_list
from memfence.certificates.format.sections import OBJECT, SECTION
from memfence.certificates.writer.chunks import Chunks, NoCertificate
from memfence.tasks.limits import Limits

MOST_CONFIGURATIONS, MOST_OF_CROWDS = 50_000, 3_000
"""Those of crowds are compared with all others of the same memory."""
CONFIGURATIONS_IN_A_CHUNK = 1000


def dual_chunks(question: Question, limits: Limits) -> Chunks:
    """A section that proves what `question` asks under TSO with buffers of any length."""
    try:
        found = _minimal(DualRules(question), limits)
    except Refused as reason:
        raise NoCertificate(reason.detail) from None
    yield SECTION, json.dumps({"kind": "dual"}).encode()
    for at in range(0, len(found), CONFIGURATIONS_IN_A_CHUNK):
        part = [configuration_as_list(c) for c in found[at : at + CONFIGURATIONS_IN_A_CHUNK]]
        yield OBJECT, json.dumps({"configurations": part}, separators=(",", ":")).encode()


def _minimal(rules: DualRules, limits: Limits) -> list[Configuration]:
    """Bad configurations and all from which they are reached, but for those above others; few messages first."""
    known, found = Above(len(rules.fixed)), list[Configuration]()
    queue: list[tuple[int, int, Configuration]] = []
    count = 0

    def add(c: Configuration) -> None:
        nonlocal count
        if not known.covers(c):
            known.add(c)
            found.append(c)
            count += 1
            heappush(queue, (sum(map(len, c.fifos)), count, c))

    for bad in rules.bad():
        add(bad)
    while queue:
        *_, c = heappop(queue)
        if rules.is_initial(c):
            raise NoCertificate("something bad can be reached")
        if len(found) > (MOST_OF_CROWDS if rules.crowds else MOST_CONFIGURATIONS) or limits.deadline.passed:
            raise NoCertificate("there are too many configurations for the backward search")
        for before in rules.before(c):
            add(before)
    return found
