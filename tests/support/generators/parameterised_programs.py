"""Random programs with any number of instances of one or two templates, beside fixed processes."""

from __future__ import annotations

from random import Random

from memfence.program.expressions import At, Binary, Const, Expr, RegisterOf, conjunction
from memfence.program.ir import Program, SharedVar
from memfence.program.parameterised import fixed_processes, instances_of, several
from support.generators.cyclic_programs import VALUES, random_process


def parameterised_program(seed: int) -> Program:
    """The same for the same seed: one template, sometimes two, and at most one fixed process."""
    random = Random(seed)
    variables = random.choice([1, 2, 2, 2])
    shared = tuple(SharedVar(f"x{n}", VALUES, (random.choice([0, 0, 0, 1]),)) for n in range(variables))
    templates = ["T", "U"][: random.choice([1, 1, 1, 1, 2])]
    fixed = [random_process(random, "P", variables, 3)] if random.random() < 0.4 else []
    instances = [
        several(random_process(random, name, variables, 4 if len(templates) == 1 else 3)) for name in templates
    ]
    processes = (*fixed, *(one for members in instances for one in members))
    return Program(f"instances {seed}", shared, processes, any_number=tuple(templates))


def bad_state(program: Program, random: Random) -> Expr:
    """Where two of the instances are, and what some of their registers hold."""
    first = instances_of(program, program.any_number[0])
    named = [first[0], first[1]] if random.random() < 0.7 else [first[0]]
    named += [instances_of(program, t)[0] for t in program.any_number[1:] if random.random() < 0.7]
    named += [p for p in fixed_processes(program) if random.random() < 0.5]
    facts: list[Expr] = []
    for p in named:
        process = program.processes[p]
        facts.append(At(p, frozenset({random.randrange(len(process.locations))})))
        if len(process.registers) > 1 and random.random() < 0.5:
            facts.append(Binary("==", RegisterOf(p, 0), Const(random.randrange(3))))
    return conjunction(*facts)
