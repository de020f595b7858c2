"""Proofs of minimum sets of fences that were tampered with: each mutation changes sites and clauses, in place."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any


def a_site_is_another(random: Random, sites: list[Any], clauses: list[Any]) -> None:
    site = random.choice(sites)
    way = random.randrange(6)
    if way == 0:
        site[0] = random.choice(("mfence", "sfence", "locked", "lock"))
    elif way == 1 and site[1]:
        place = random.choice(site[1])
        place[random.randrange(2)] += random.choice((-1, 1))
    elif way == 2:
        site[1] = site[1][1:] if random.random() < 0.5 else [*site[1], *random.choice(sites)[1]]
    elif way == 3:
        site[2] = random.choice((1, 2, 10, 1 << 61, 1 << 80, 0))
    elif way == 4:
        site[3] = not site[3]
    else:
        other = random.choice(sites)
        site[3], other[3] = other[3], site[3]


def sites_are_others(random: Random, sites: list[Any], clauses: list[Any]) -> None:
    at = random.randrange(len(sites))
    random.choice([lambda: sites.pop(at), lambda: sites.append(deepcopy(sites[at])), lambda: random.shuffle(sites)])()


def a_clause_is_another(random: Random, sites: list[Any], clauses: list[Any]) -> None:
    numbers = random.choice(clauses)["sites"]
    if numbers and random.random() < 0.6:
        numbers.pop(random.randrange(len(numbers)))
    else:
        numbers.append(random.randrange(len(sites) + 1))


def clauses_are_others(random: Random, sites: list[Any], clauses: list[Any]) -> None:
    at = random.randrange(len(clauses))
    random.choice([lambda: clauses.pop(at), lambda: clauses.append(deepcopy(clauses[at]))])()


def a_run_is_another(random: Random, sites: list[Any], clauses: list[Any]) -> None:
    clause = random.choice(clauses)
    steps = clause["steps"]
    if not steps or random.random() < 0.1:
        clause["start"] = random.choice((0, 1, 5, 1 << 63, 1 << 64, 1 << 80, -1))
        return
    at = random.randrange(len(steps))
    match random.randrange(7):
        case 0:
            del steps[at]
        case 1:
            del steps[at:]
        case 2:
            steps.insert(at, deepcopy(random.choice(steps)))
        case 3:
            other = random.randrange(len(steps))
            steps[at], steps[other] = steps[other], steps[at]
        case 4:
            steps[at][random.randrange(1, len(steps[at]))] += random.choice((-1, 1, 1 << 31, 1 << 64))
        case 5:
            steps[at] = random.choice(
                (["commit", 0, 0], ["drop", 0], ["commit", 1, 0], ["meet", 0, 0, 1, 0], ["run", 0])
            )
        case _:
            steps[at + 1 :] = []
            steps[at:] = random.sample(steps[at:], len(steps[at:]))


MUTATIONS = [a_site_is_another, sites_are_others, a_clause_is_another, clauses_are_others, a_run_is_another]
