"""Random questions about where processes are, and what is left out of their places: often too much."""

from __future__ import annotations

from random import Random

from memfence.certificates.checker.question import Question
from memfence.certificates.format.abridged import Abridgement
from memfence.certificates.writer.abridging import passed_alone
from memfence.models.spec import TSO
from memfence.program.expressions import FALSE, At, Binary, Const, Expr, RegisterOf, conjunction
from memfence.program.ir import Program
from memfence.program.parameterised import alike, instances_of


def drawn(random: Random, question: Question) -> Abridgement:
    """What the writer would leave out under TSO, with a location or a register more here and there."""
    processes, most = question.program.processes, next(passed_alone(question, TSO))
    passing = list(most.passing)
    dead = list(most.dead)
    for p, process in enumerate(processes):
        first = alike(question.program, p)[0]
        if first < p:
            passing[p], dead[p] = passing[first], dead[first]
            continue
        more = frozenset(at for at in range(len(process.locations)) if random.random() < 0.3)
        passing[p] = random.choice([passing[p], passing[p] | more, more])
        every = range(len(process.registers))
        dead[p] = tuple(some | {n for n in every if random.random() < 0.05} for some in dead[p])
    return Abridgement(tuple(passing), tuple(dead))


def seen_state(program: Program, random: Random) -> Expr:
    """Where some of the processes are, and what registers hold; of instances at most two."""
    instances = [p for t in program.any_number for p in instances_of(program, t)[2:]]
    facts: list[Expr] = []
    for p, process in enumerate(program.processes):
        if p not in instances and random.random() < 0.7:
            facts.append(At(p, frozenset({random.randrange(len(process.locations))})))
        if p not in instances and random.random() < 0.3:
            facts.append(Binary("==", RegisterOf(p, 0), Const(random.randrange(3))))
    return conjunction(*facts) if facts else FALSE
