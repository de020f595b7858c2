"""Persistence, trace-robustness, triangular-race and data-race freedom: decided from SC exploration alone (DESIGN 7).

A violation is shown as a run of the relaxed model; a race as the SC run up to it.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.engines.native.attacks import AttackKind, Decided, explore_attacks, explore_races
from memfence.execution.trace import Trace
from memfence.models.spec import TSO
from memfence.passes.flattening import distinct_processes, flatten
from memfence.passes.orders import for_hardware
from memfence.passes.shared_memory_form import other_communication, shared_memory_form
from memfence.program.facts.effects import has_torn_steps
from memfence.program.ir import Program
from memfence.questions.safety import limits_of, stats_of
from memfence.tasks.limits import Cost, Deadline, Limits, Stop
from memfence.tasks.options import CheckOptions, Criterion
from memfence.tasks.result import CheckResult, Verdict

PROPERTIES: dict[Criterion, str] = {
    "persistent": "persistence: same program order and store order as some SC run",
    "robust": "trace-robustness: every run has the happens-before trace of an SC run",
    "state-robust": "state-robustness: every state with empty buffers is reachable under SC",
    "trf": "no triangular race",
    "drf": "no data race",
}


def check_criterion(program: Program, criterion: Criterion, options: CheckOptions) -> CheckResult:
    """Decide one of the criteria that need no property."""
    if criterion == "state-robust":
        from memfence.questions.state_robustness import check_state_robustness

        return check_state_robustness(program, options)
    program = shared_memory_form(program)
    require_plain_processes(program)
    if options.model == "sc" and criterion in ("persistent", "robust"):
        return _sc_itself(program, criterion)
    limits = limits_of(options)
    if criterion in ("trf", "drf"):
        return _races(program, criterion, options, limits)
    return _attacks(program, criterion, options, limits)


def require_plain_processes(program: Program) -> None:
    """The criteria are not defined for what processes tell each other beside shared memory."""
    found = other_communication(program)
    if found is not None:
        what, span = found
        message = f"{what} has no meaning for this criterion: it is about single accesses of shared memory"
        hint = "use --criterion safety, or --ltl"
        raise InputError([Diagnostic(Code.UNSUPPORTED, message, Label(span), hint=hint)])


def _sc_itself(program: Program, criterion: Criterion) -> CheckResult:
    """Both ask for an SC run like the one at hand: under SC that is the run itself."""
    return CheckResult(
        program=program,
        model="sc",
        criterion=criterion,
        verdict=Verdict.HOLDS,
        property=PROPERTIES[criterion],
        engine="sc attacks",
        scope="every run: SC compared with itself",
        bound=None,
        trace=None,
        stats=stats_of(Cost()),
    )


def attack_kind(criterion: Criterion, model: str) -> AttackKind:
    """The attack that decides the criterion; persistence is about TSO, and implied by robustness under SC and PSO."""
    if criterion == "persistent":
        return "persistence"
    return "pso" if model == "pso" else "tso"


def _attacks(program: Program, criterion: Criterion, options: CheckOptions, limits: Limits) -> CheckResult:
    kind = attack_kind(criterion, options.model)
    deadline = Deadline(limits)
    flat = Cost()
    if criterion == "persistent" and options.abstract is not None:
        is_proved, flat = _is_persistent_flattened(program, options.abstract, deadline)
        if is_proved:
            return _proved_flattened(program, options, flat)
    decided = explore_attacks(program, kind, limits=deadline.remaining())
    decided = replace(decided, cost=flat + decided.cost)
    trace: Trace | None = None
    details: tuple[str, ...] = ()
    if decided.attacks:
        attack = decided.attacks[0]
        trace = decided.attack_trace(attack, "pso" if kind == "pso" else "tso")
        delayed, variable = (program.variables[v].name for v in (attack.delayed, attack.variable))
        access = "store to" if attack.is_store else "read of"
        name = program.processes[attack.attacker].name
        when = f"its {access} {variable} in the same step" if attack.is_one_step else f"its later {access} {variable}"
        details = (f"`{name}` delays its store to {delayed}; {when} takes effect first",)
    return _result(program, criterion, options, limits, decided, trace, details)


def _is_persistent_flattened(program: Program, steps: int, deadline: Deadline) -> tuple[bool, Cost]:
    """Whether the abstract programs of all processes are persistent, and what it took; False says nothing."""
    cost = Cost()
    program = for_hardware(program, TSO)
    if has_torn_steps(program):
        return False, cost
    for process in distinct_processes(program):
        decided = explore_attacks(flatten(program, process, steps), "persistence", limits=deadline.remaining())
        cost += decided.cost
        if decided.attacks or not decided.complete:
            return False, cost
    return True, cost


def _proved_flattened(program: Program, options: CheckOptions, cost: Cost) -> CheckResult:
    return CheckResult(
        program=program,
        model=options.model,
        criterion="persistent",
        verdict=Verdict.HOLDS,
        property=PROPERTIES["persistent"],
        engine="sc attacks, flattened",
        scope="unbounded buffers and loops: complete (every process alone is, beside the others flattened after "
        f"{options.abstract} steps)",
        bound=None,
        trace=None,
        stats=stats_of(cost),
    )


def _races(program: Program, criterion: Criterion, options: CheckOptions, limits: Limits) -> CheckResult:
    decided = explore_races(program, triangular=criterion == "trf", limits=limits)
    trace: Trace | None = None
    details: tuple[str, ...] = ()
    if decided.race is not None:
        race = decided.race
        trace = decided.race_trace()
        first, second = (program.processes[p].name for p in (race.process, race.other))
        variable = program.variables[race.variable].name
        if race.unfenced is None:
            details = (f"`{first}` is about to write {variable} while `{second}` is about to access it",)
        else:
            store = program.variables[race.unfenced].name
            details = (
                f"`{first}` is about to read {variable} with its store to {store} not yet fenced, "
                f"while `{second}` is about to write {variable}",
            )
    return _result(program, criterion, options, limits, decided, trace, details)


def _result(
    program: Program,
    criterion: Criterion,
    options: CheckOptions,
    limits: Limits,
    decided: Decided,
    trace: Trace | None,
    details: tuple[str, ...],
) -> CheckResult:
    if trace is not None:
        verdict = Verdict.VIOLATED
        scope = "a run was found and replayed step by step"
    elif decided.complete:
        verdict = Verdict.HOLDS
        scope = "unbounded buffers and loops: complete (decided from every SC-reachable state)"
    else:
        verdict = Verdict.UNKNOWN
        scope = decided.incompleteness
    limited = verdict is Verdict.UNKNOWN and decided.stop is not Stop.NOTHING_LEFT
    return CheckResult(
        program=program,
        model=options.model,
        criterion=criterion,
        verdict=verdict,
        property=PROPERTIES[criterion],
        engine="sc attacks" if criterion in ("persistent", "robust") else "sc races",
        scope=scope,
        bound=None,
        trace=trace,
        stats=stats_of(decided.cost),
        limit=limits.describe(decided.stop) if limited else None,
        advice="try a longer --timeout or a larger --memory" if decided.stop in (Stop.TIMEOUT, Stop.MEMORY) else None,
        details=details,
    )
