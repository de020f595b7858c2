"""The report of `memfence verify`, and what other reports say of proofs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from memfence.certificates.checker.refusal import Refused
from memfence.certificates.format.header import Claim, Reading
from memfence.certificates.result import Proof, VerifyResult
from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous, State, Step
from memfence.program.ir import Program
from memfence.program.text.steps import step_text
from memfence.report.describe.check_data import state_object
from memfence.report.describe.found import finding_of, tone_of_problem, top_of
from memfence.report.formats.json import Object
from memfence.report.page import Page, Tone
from memfence.report.report import Case, Problem, Report
from memfence.report.views.source_view import source_view


def verify_report(result: VerifyResult) -> Report:
    """A certificate, and the program that it is about."""
    problem: Problem = None if verdict_of(result) == "valid" else "error" if result.is_valid else "failure"
    source = result.program.source
    return Report(
        line=lambda: _verdict_line(result),
        text=lambda style: verify_text(result, quiet=style.quiet),
        data=lambda: verify_object(result),
        page=lambda: _page(result, tone_of_problem(problem)),
        findings=lambda: [
            finding_of(
                "certificate",
                problem,
                " ".join([_verdict_line(result), *(line.strip() for line in _refusal(result))]),
                top_of(source),
                facts={"verdict": verdict_of(result), "claim": claim_text(result.header.claim)},
            )
        ],
        case=lambda: Case(
            group="memfence.verify",
            name=f"{result.certificate}: {source.path}",
            kind=verdict_of(result),
            problem=problem,
            seconds=result.seconds,
        ),
        sources=lambda: [source],
    )


def _refusal(result: VerifyResult) -> Iterator[str]:
    if result.refused is not None:
        yield from _refusal_lines(result.program, result.refused)


def _page(result: VerifyResult, tone: Tone) -> Page:
    """What was claimed; of a refusal the first violated condition, the state and the step."""
    facts = [line.strip().partition("  ") for line in _about(result)]
    return Page(
        title=f"{result.certificate}: {verdict_of(result).replace('_', ' ')}",
        subject=result.program.source.path,
        verdict="REFUSED" if not result.is_valid else _valid_text(result),
        tone=tone,
        headline=claim_text(result.header.claim) if result.refused is None else result.refused.condition.value,
        facts=tuple((name.capitalize(), text.strip()) for name, _, text in facts),
        details=tuple(_refusal(result)),
        sources=(source_view(result.program.source, {}),),
    )


def verify_text(result: VerifyResult, *, quiet: bool = False) -> str:
    """The whole report: valid or refused; of a refusal the first violated condition, the state and the step."""
    lines = [_verdict_line(result)]
    if not quiet:
        lines += _about(result)
        if result.refused is not None:
            lines += ["", *_refusal_lines(result.program, result.refused)]
    return "\n".join(lines) + "\n"


def _verdict_line(result: VerifyResult) -> str:
    if result.refused is not None:
        detail = on_one_line(f": {result.refused.detail}") if result.refused.detail else ""
        return f"{result.certificate}: REFUSED: {result.refused.condition.value}{detail}"
    return f"{result.certificate}: {_valid_text(result)}: {claim_text(result.header.claim)}"


def _valid_text(result: VerifyResult) -> str:
    """`VALID`, or up to which bounds; that on pending stores is part of the claim."""
    if not result.is_bounded:
        return "VALID"
    left_out = f" ({'; '.join(result.bounds)})" if result.bounds else ""
    return f"VALID UP TO BOUNDS{left_out}"


def claim_text(claim: Claim) -> str:
    """What is claimed, in a line."""
    buffers = "" if claim.bound is None else f" with at most {claim.bound} pending stores"
    if claim.per_variable:
        buffers += " of each variable"
    said = f"{', '.join(_claimed(claim))} under {claim.model}{buffers}{' in fair runs' if claim.fair else ''}"
    where = ", ".join(f"{name} is ({text})" for name, text in claim.define)
    said += f", where {where}" if where else ""
    said += f", for any number of {' and '.join(claim.any_number)}" if claim.any_number else ""
    said += ", and no run reaches a bound of the reading" if claim.reaches_no_bound else ""
    return on_one_line(said + _minimum_text(claim))


def _minimum_text(claim: Claim) -> str:
    if claim.fences is None:
        return ""
    count = "1 fence is" if claim.fences == 1 else f"{claim.fences} fences are"
    return f"; its {count} a minimum" + ("" if claim.price is None else f" of cost ({claim.price})")


def on_one_line(text: str) -> str:
    """Whoever made the certificate chose these words: they never look like a line of this report."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _claimed(claim: Claim) -> Iterator[str]:
    if claim.criterion != "safety":
        yield f"the program is {claim.criterion}"
        return
    yield from (f"never ({text})" for text in claim.forbid)
    yield from (f"always ({text})" for text in claim.invariant)
    yield from (f"finally ({text})" for text in claim.final)
    if claim.ltl is not None:
        yield claim.ltl
    if claim.deadlock:
        yield "no deadlock"
    if not (claim.forbid or claim.invariant or claim.final or claim.ltl is not None or claim.deadlock):
        yield "everything that the program states holds"


def reading_text(reading: Reading) -> str:
    """How the text was read, as the certificate says."""
    said = [] if reading.language is None else [f"as {reading.language}"]
    said += [f"{name} {value}" for name in ("int_bits", "split_reads") if (value := getattr(reading, name))]
    said += [f"{name} {value}" for name, value in reading.c.items()]
    return on_one_line(", ".join(said))


def _about(result: VerifyResult) -> Iterator[str]:
    yield f"  program  {result.program.source.path}, sha256 {result.header.digest[:16]}..."
    yield f"  made by  {on_one_line(result.header.tool)}"
    said = reading_text(result.header.reading)
    if said:
        yield f"  read     {said}"
    if result.checked is not None:
        yield f"  checked  {result.checked.states:,} states, {result.seconds:.2f} s, {result.checked.checker} checker"
    yield from (f"  note     {note}" for note in _notes(result))


def _notes(result: VerifyResult) -> list[str]:
    """What the verdict does not cover; a bound that no run reaches is none."""
    unreached = result.program.marked_cuts if result.header.claim.reaches_no_bound else ()
    return [note for note in result.program.notes if note not in unreached]


def _refusal_lines(program: Program, refused: Refused) -> Iterator[str]:
    if refused.state is not None:
        yield "The state:"
        yield from _state_lines(program, refused.state)
    if refused.step is not None:
        yield f"The step:   {_step_line(program, refused.step)}"
    if refused.after is not None:
        yield "leads to:"
        yield from _state_lines(program, refused.after)


def _state_lines(program: Program, state: State) -> Iterator[str]:
    shown = state_object(program, state)
    yield "  memory    " + _values(shown["memory"])
    for process in program.processes:
        name = process.name
        pending = ", ".join(
            "separator" if "separator" in entry else f"{entry['variable']}={entry['value']}"
            for entry in shown["buffers"][name]
        )
        buffer = f"; pending {pending}" if pending else ""
        registers = _values(shown["registers"][name])
        yield f"  {name:9} at {shown['locations'][name]}{': ' + registers if registers else ''}{buffer}"


def _values(values: dict[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def _step_line(program: Program, step: Step) -> str:
    match step:
        case ProcessStep():
            return _run_line(program, step)
        case Rendezvous(sender, receiver):
            return f"{_run_line(program, sender)} / {_run_line(program, receiver)}"
        case Commit(process, buffer):
            return f"`{program.processes[process].name}` commits from buffer {buffer}"
        case DropSeparator(process):
            return f"`{program.processes[process].name}` drops a separator"
        case _:
            assert_never(step)


def _run_line(program: Program, run: ProcessStep) -> str:
    process = program.processes[run.process]
    transition = process.transitions[run.transition]
    return f"`{process.name}` {step_text(program, run.process, transition)} ({transition.span.place})"


def verify_object(result: VerifyResult) -> Object:
    """`memfence verify --json`, before it becomes text."""
    header, refused = result.header, result.refused
    return {
        "certificate": result.certificate,
        "file": result.program.source.path,
        "verdict": verdict_of(result),
        "valid": result.is_valid,
        "claim": claim_text(header.claim),
        "reading": reading_text(header.reading),
        "model": header.claim.model,
        "criterion": header.claim.criterion,
        "bound": header.claim.bound,
        "bounds": list(result.bounds),
        "digest": header.digest,
        "tool": header.tool,
        "notes": _notes(result),
        "checker": None if result.checked is None else result.checked.checker,
        "states": None if result.checked is None else result.checked.states,
        "seconds": round(result.seconds, 6),
        "refused": None if refused is None else _refused_object(result.program, refused),
    }


def verdict_of(result: VerifyResult) -> str:
    """`valid`, `valid_up_to` bounds or `refused`."""
    if not result.is_valid:
        return "refused"
    return "valid_up_to" if result.is_bounded else "valid"


def _refused_object(program: Program, refused: Refused) -> Object:
    return {
        "condition": refused.condition.value,
        "detail": refused.detail or None,
        "state": None if refused.state is None else state_object(program, refused.state),
        "step": None if refused.step is None else _step_line(program, refused.step),
        "after": None if refused.after is None else state_object(program, refused.after),
    }


def proof_text(proof: Proof) -> str:
    """What became of the proof beside an answer."""
    lines = []
    if proof.missing is not None:
        lines.append(f"  proof   none: {proof.missing}")
    if proof.written is not None:
        lines.append(f"  proof   {proof.written.path}, {proof.written.size:,} bytes")
    if proof.not_minimum is not None:
        lines.append(f"  minimum not proved there: {proof.not_minimum}")
    if proof.verified is not None and proof.verified.checked is not None:
        checked = proof.verified.checked
        lines.append(f"  checked {checked.states:,} states, {proof.verified.seconds:.2f} s, {checked.checker} checker")
    elif proof.verified is not None:
        lines.append(
            "internal error: the proof of this answer was refused. Do not rely on the answer; please report it."
        )
        lines.append(verify_text(proof.verified).rstrip())
    return "\n".join(lines) + "\n"


def proof_facts(proof: Proof | None) -> list[tuple[str, str]]:
    """What a page says of the proof: that it was checked, or why there is none."""
    if proof is None:
        return []
    if proof.missing is not None:
        return [("Certificate", f"none: {proof.missing}")]
    facts = [] if proof.written is None else [("Certificate", str(proof.written.path))]
    if proof.verified is not None and proof.verified.checked is not None:
        checked = proof.verified.checked
        facts.append(("Checked", f"without the engines: {checked.states:,} states, {checked.checker} checker"))
    elif proof.verified is not None:
        facts.append(("Checked", "REFUSED: do not rely on this answer"))
    return facts


def proof_object(proof: Proof) -> Object:
    """The same for `check --json`."""
    return {
        "file": None if proof.written is None else str(proof.written.path),
        "size": None if proof.written is None else proof.written.size,
        "missing": proof.missing,
        "verification": None if proof.verified is None else verify_object(proof.verified),
    }


def proof_word(proof: Proof | None) -> str:
    """What a table says of a proof, in a word; empty: none was asked for."""
    if proof is None:
        return ""
    if proof.is_refused:
        return "REFUSED"
    return "none" if proof.missing is not None else "checked"
