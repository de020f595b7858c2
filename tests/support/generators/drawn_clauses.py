"""Random sites of fences, runs and questions for clauses of a minimum: most are as they may be, some are not."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from memfence.certificates.checker.question import Question, question_of
from memfence.certificates.format.header import Claim
from memfence.certificates.format.minimum import Site
from memfence.models.spec import ModelSpec
from memfence.models.state import Commit, DropSeparator, ProcessStep, Step
from memfence.models.steps import starts, take
from memfence.program.expressions import At, Binary, BufferEmpty, Const, Expr, RegisterOf, Shared, variable_address
from memfence.program.ir import Fence, Final, Program
from support.generators.random_runs import random_run


def drawn_sites(program: Program, random: Random) -> list[Site]:
    """Most of them as a certificate may have them, some not."""
    sites, taken = list[Site](), set[tuple[int, int]]()
    for p, process in enumerate(program.processes):
        for t, step in enumerate(process.transitions):
            is_fence = bool(step.ops) and all(isinstance(op, Fence) for op in step.ops)
            kind = random.choice(("mfence", "sfence", "locked"))
            is_chosen = (is_fence and kind != "locked") or (kind == "locked" and step.locked)
            if random.random() < 0.02:
                is_chosen = not is_chosen
            if random.random() < 0.5 and ((p, t) not in taken or not (is_chosen or kind == "locked")):
                sites.append(Site(kind, ((p, t),), random.randint(1, 3), is_chosen))
                taken.add((p, t))
    random.shuffle(sites)
    return sites


def drawn_run(program: Program, model: ModelSpec, random: Random) -> tuple[int, list[Step]]:
    """A run that is often drained at the end, and sometimes is none."""
    run = random_run(program, model.definition, random, most=random.choice((4, 12, 30)))
    steps, state = [taken.step for taken in run.steps], run.end
    if run.failure is None and random.random() < 0.8:
        for p, _ in enumerate(program.processes):
            while (found := next(iter(model.definition.background(program, state, p)), None)) is not None:
                if take(program, model.definition, state, found[0]) is None:
                    break
                steps.append(found[0])
                state = found[1]
    first = list(starts(program, model.definition)).index(run.start)
    if random.random() < 0.15:
        others = [
            ProcessStep(0, 0),
            ProcessStep(1, 2),
            Commit(0),
            Commit(0, 1),
            Commit(7),
            DropSeparator(0),
            ProcessStep(-1, 0),
            ProcessStep(0, 1 << 70),
        ]
        at = random.randrange(len(steps) + 1)
        steps[at : at + random.randint(0, 1)] = random.choice([[], [random.choice(others)]])
    return (first if random.random() < 0.97 else first + random.choice((1, 2, 1 << 40))), steps


def drawn_question(program: Program, model: ModelSpec, random: Random) -> Question:
    """Something about one or two parts of a state, deadlocks, and final states."""

    def look() -> Expr:
        p = random.randrange(len(program.processes))
        process = program.processes[p]
        kept = [r for r, register in enumerate(process.registers) if not register.transient]
        leaves: list[Expr] = [
            At(p, frozenset(random.sample(range(len(process.locations)), 2)))
            if len(process.locations) > 1
            else Const(1),
            BufferEmpty(p),
            Binary(
                "==", Shared(variable_address(random.randrange(len(program.variables)))), Const(random.randint(0, 1))
            ),
            Binary("==", RegisterOf(p, random.choice(kept)), Const(random.randint(0, 1))),
            Binary("==", Binary("/", Const(1), RegisterOf(p, random.choice(kept))), Const(1)),
        ]
        return random.choice(leaves)

    question = question_of(Claim(model=model.name), program)
    finals = [Final(random.choice(("exists", "not exists", "forall")), look(), "f", (("o", Const(0)),)) for _ in "ab"]
    return replace(
        question,
        model=model,
        bad=random.choice((None, look(), Binary(random.choice(("&&", "||")), look(), look()))),
        deadlock=random.random() < 0.5,
        finals=tuple(finals[: random.choice((0, 1, 1, 2))]),
    )
