"""Attacks on persistence and robustness, looked for by all machines of a cluster.

Walks and chains start from one state and need no other: each part looks for attacks from the states that it owns. What
they found together depends on states only, so that it is the same however fast each of them was.
"""

from __future__ import annotations

from collections.abc import Sequence

from memfence.engines.native.found_attack import FoundAttack
from memfence.engines.native.partition import PartAttack


def merged_attacks(
    found: Sequence[tuple[int, Sequence[PartAttack]]], *, all_levels: bool
) -> list[tuple[int, FoundAttack]]:
    """One attack for each clause, smallest clause first, and who has the state where it starts.

    Without `all_levels`, only what was found in the first level with an attack counts. Of several attacks with a clause
    it is the one from the smallest state. Torn steps, which cross nothing, are all listed.
    """
    first = min((level for level, attacks in found if level), default=0)
    torn: list[tuple[bytes, int, FoundAttack]] = []
    best: dict[object, tuple[bytes, int, FoundAttack]] = {}
    for owner, (level, attacks) in enumerate(found):
        for attack in attacks if all_levels or level == first else ():
            one = attack.state, owner, attack.found
            if not attack.found.crossed:
                torn.append(one)
                continue
            known = best.get(attack.found.clause)
            if known is None or one[0] < known[0]:
                best[attack.found.clause] = one
    torn.sort(key=lambda one: (one[0], one[2].clause))
    others = sorted(best.values(), key=lambda one: (len(one[2].crossed), one[2].clause))
    return [(owner, attack) for _, owner, attack in (*torn, *others)]
