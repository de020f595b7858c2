"""What an answer claims, in the words that the checker reads again."""

from __future__ import annotations

from memfence.certificates.format.header import Claim
from memfence.diagnostics import InputError
from memfence.models.spec import ModelSpec
from memfence.program.expressions import Expr
from memfence.program.ir import Program
from memfence.program.text.properties import parse_expression, print_expression
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Bound, Evidence, Exhausted
from memfence.tasks.options import CheckOptions, what_is_asked


def claim_of(program: Program, options: CheckOptions, criterion: Criterion, evidence: Evidence | None = None) -> Claim:
    """The claim that the criterion holds; for temporal properties with the bound that they are subject to."""
    model = evidence.model if isinstance(evidence, Bound) else _model(program, options, criterion, evidence)
    return Claim(
        model=model.name,
        criterion=criterion.value,
        bound=model.bound,
        per_variable=model.per_variable,
        forbid=tuple(_text(program, p.expr, p.text, "--forbid") for p in options.forbid),
        invariant=tuple(_text(program, p.expr, p.text, "--invariant") for p in options.invariant),
        final=tuple(_text(program, p.expr, p.text, "--final") for p in options.final),
        deadlock=options.deadlock,
        ltl=None if options.ltl is None else options.ltl.text,
        define=options.define,
        fair=options.fair,
        any_number=program.any_number,
    )


def _model(program: Program, options: CheckOptions, criterion: Criterion, evidence: Evidence | None) -> ModelSpec:
    """Temporal properties are about bounded buffers; everything else that holds does so without a bound."""
    if criterion is not Criterion.SAFETY or not what_is_asked(program, options).temporal:
        return options.spec
    from memfence.questions.ltl.check import bounded_model

    model = bounded_model(options)
    if isinstance(evidence, Exhausted) and evidence.pending is not None:
        return model.bounded(evidence.pending, per_variable=model.per_variable)
    return model


def _text(program: Program, expr: Expr, text: str, option: str) -> str:
    """A text that is read as `expr`: that of the user, if it is one."""
    try:
        is_read_so = parse_expression(text, program, option) == expr
    except InputError:
        is_read_so = False
    return text if is_read_so else print_expression(expr, program)
