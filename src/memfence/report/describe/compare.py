"""The report of `memfence compare`: all criteria in one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memfence.certificates.result import Proof
from memfence.models.spec import PSO, SC, TSO
from memfence.questions.compare import Compared, Comparison, FencesNeeded
from memfence.report.describe.found import kind_and_level, rule, top_of
from memfence.report.describe.verify import proof_object, proof_word
from memfence.report.formats.json import Object
from memfence.report.page import Page, TableView, Tone
from memfence.report.report import Case, Finding, Report
from memfence.report.views.bars import Bar, render_bars
from memfence.report.views.execution_view import place_text
from memfence.report.views.source_view import source_view
from memfence.report.views.table import Column, render_table
from memfence.report.words.coverage import assumptions, covered_facts
from memfence.report.words.sentences import stop_text
from memfence.tasks.answer import Verdict
from memfence.tasks.implications import Requirement

COLUMNS = (
    Column("criterion", 12),
    Column("model", 5),
    Column("verdict", 8),
    Column("states", 6, align_right=True),
    Column("time", 6, align_right=True),
    Column("fences", 6, align_right=True),
    Column("how", 10),
)


PROOF = Column("proof", 7)
Proofs = Mapping[Requirement, Proof]
"""Of the answers that are proofs, where these were asked for; else empty."""
NO_PROOFS: Proofs = {}


def comparison_report(comparison: Comparison, proofs: Proofs = NO_PROOFS) -> Report:
    """With what became of the proofs, where they were asked for."""
    path = comparison.program.source.path
    return Report(
        line=lambda: f"{path}: {_counted(comparison)}",
        text=lambda style: render_comparison(comparison, proofs, width=style.width),
        data=lambda: comparison_object(comparison, proofs),
        page=lambda: comparison_page(comparison, proofs),
        findings=lambda: (_finding(comparison, row) for row in comparison.rows),
        case=lambda: Case(
            group="memfence.compare",
            name=path,
            kind="decided" if comparison.is_conclusive else "not decided",
            problem=None if comparison.is_conclusive else "error",
            seconds=sum(row.stats.seconds for row in comparison.rows if row.implied_by is None),
        ),
        sources=lambda: [comparison.program.source],
        brief=lambda: path,
    )


def _finding(comparison: Comparison, row: Compared) -> Finding:
    """Criteria differ, and not every one has to hold: one that does not is a note."""
    kind, level = kind_and_level(row.verdict)
    name = f"{row.requirement.criterion.value} ({_models(row.requirement)})"
    return Finding(
        rule=rule(row.requirement.criterion.value),
        kind=kind,
        level="note" if kind == "fail" else level,
        message=f"{comparison.program.source.path}: {name}: {_verdict(row)}, {_how(row)}",
        at=top_of(comparison.program.source),
        run=None if row.answer is None else row.answer.trace,
        facts={"model": row.requirement.model.name, "verdict": row.verdict.value},
    )


def _counted(comparison: Comparison) -> str:
    held = sum(row.verdict is Verdict.HOLDS for row in comparison.rows)
    return f"{held} of {len(comparison.rows)} criteria hold"


def render_comparison(comparison: Comparison, proofs: Proofs = NO_PROOFS, *, width: int) -> str:
    """The table, and what it does not say by itself."""
    rows = _rows(comparison, proofs)
    table = render_table(_columns(proofs), rows, width)
    if table is None:  # a very narrow terminal: one line an answer
        table = "\n".join("  ".join(cells).rstrip() for cells in rows)
    covered = [text for _, text in covered_facts(comparison.program, TSO.name, verbose=False)]
    said = (
        *_notes(comparison), *covered, *_about_models(comparison), *_about_fences(comparison), *_about_proofs(proofs)
    )  # fmt: skip
    notes = "".join(f"note: {note}\n" for note in said)
    return f"{comparison.program.source.path}\n{table}\n{notes}"


def _notes(comparison: Comparison) -> tuple[str, ...]:
    """What the reader of the program said, and which criteria are missing, and why."""
    left = comparison.left_out
    if left is None:
        return comparison.program.notes
    *most, last = (criterion.value for criterion in left.criteria)
    place = place_text(left.span, comparison.program)
    about = f"{left.what} ({place})" if place else left.what
    why = f"they are about single accesses of shared memory, and have no meaning for {about}"
    return (*comparison.program.notes, f"{', '.join(most)} and {last} are left out: {why}")


def _about_models(comparison: Comparison) -> Iterator[str]:
    """Whether a memory model makes a difference to what was asked of infinite runs."""
    for model in (TSO, PSO) if comparison.asks_infinite_runs else ():
        match comparison.is_affected(model):
            case True:
                yield f"affected by {model.name}: what was asked of infinite runs holds under sc only"
            case False:
                yield f"not affected by {model.name}: what was asked of infinite runs has the same answer as under sc"
            case None:
                yield f"not known to be affected by {model.name}: the rows of safety say how far was looked"


def _columns(proofs: Proofs) -> tuple[Column, ...]:
    return (*COLUMNS[:-1], PROOF, COLUMNS[-1]) if proofs else COLUMNS


def _rows(comparison: Comparison, proofs: Proofs) -> list[list[str]]:
    rows = [_cells(row) for row in comparison.rows]
    if proofs:
        for cells, row in zip(rows, comparison.rows, strict=True):
            cells.insert(-1, proof_word(proofs.get(row.requirement)))
    return rows


def _about_proofs(proofs: Proofs) -> Iterator[str]:
    """What the words in the column mean, and why proofs are missing."""
    if any(proof_word(proof) == "checked" for proof in proofs.values()):
        yield "`checked`: the answer was certified, and the proof was checked without the engines"
    for requirement, proof in proofs.items():
        if proof.missing is not None:
            yield f"{requirement.name} has no proof that can be checked: {proof.missing}"


def comparison_page(comparison: Comparison, proofs: Proofs = NO_PROOFS) -> Page:
    """The page that `memfence compare --html` writes."""
    held = sum(row.verdict is Verdict.HOLDS for row in comparison.rows)
    decided = sum(row.verdict in (Verdict.HOLDS, Verdict.VIOLATED) for row in comparison.rows)
    tone: Tone = "open" if decided < len(comparison.rows) else "good" if held == decided else "bad"
    source = comparison.program.source
    legend = "Green holds, red is violated; what is neither was not decided within the limits"
    note = "; ".join([*_about_models(comparison), *_about_fences(comparison), *_about_proofs(proofs), legend])
    titles = tuple(column.title for column in _columns(proofs))
    table = TableView("Criteria", titles, tuple(map(tuple, _rows(comparison, proofs))), note)
    return Page(
        title=f"{comparison.program.name}: every criterion",
        subject=source.path,
        verdict=_counted(comparison),
        tone=tone,
        headline="every criterion side by side, strongest first",
        facts=tuple(("Note", text) for text in _notes(comparison)),
        tables=(table,),
        plots=_plots(comparison),
        assumptions=assumptions(comparison.program, TSO.name),
        sources=(source_view(source, {}),),
    )


TONES = {Verdict.HOLDS: "#2a8f5b", Verdict.VIOLATED: "#c0392b"}


def _plots(comparison: Comparison) -> tuple[str, ...]:
    """States, seconds and fences, criterion by criterion, where there is anything to compare."""
    computed = [row for row in comparison.rows if row.implied_by is None]
    states = [_bar(row, row.stats.states, f"{row.stats.states:,}") for row in computed]
    seconds = [_bar(row, row.stats.seconds, _time(row.stats.seconds)) for row in computed]
    counted = [row for row in comparison.rows if row.fences is not None]
    fences = [_bar(row, None if row.fences is None else row.fences.count, _fences(row.fences)) for row in counted]
    figures = [("States visited", states), ("Time", seconds), ("Fences needed", fences)]
    return tuple(render_bars(title, bars) for title, bars in figures if len(bars) > 1)


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def _bar(row: Compared, value: float | None, text: str) -> Bar:
    name = f"{row.requirement.criterion.value} ({_models(row.requirement)})"
    return Bar(name, value, text, TONES.get(row.verdict, "#b7791f"))


def comparison_object(comparison: Comparison, proofs: Proofs = NO_PROOFS) -> Object:
    """`memfence compare --json`, before it becomes text."""
    return {
        "file": comparison.program.source.path,
        "notes": list(_notes(comparison)),
        "assumptions": list(assumptions(comparison.program, TSO.name)),
        "criteria": {row.requirement.name: _row_object(row, proofs) for row in comparison.rows},
    } | _affected(comparison)


def _affected(comparison: Comparison) -> Object:
    if not comparison.asks_infinite_runs:
        return {}
    return {"affected": {model.name: comparison.is_affected(model) for model in (TSO, PSO)}}


def _cells(row: Compared) -> list[str]:
    is_derived = row.implied_by is not None
    return [
        row.requirement.criterion.value,
        _models(row.requirement),
        _verdict(row),
        "" if is_derived else f"{row.stats.states:,}",
        "" if is_derived else f"{row.stats.seconds:.2f} s",
        _fences(row.fences),
        _how(row),
    ]


def _fences(needed: FencesNeeded | None) -> str:
    if needed is None:
        return "-"
    if needed.impossible:
        return "no"
    if needed.count is None:
        return "?"
    return str(needed.count) if needed.fewest else f"<={needed.count}"


def _about_fences(comparison: Comparison) -> Iterator[str]:
    """What the signs in the column mean, where they occur."""
    signs = {_fences(row.fences) for row in comparison.rows}
    if "no" in signs:
        yield "`no`: no fence makes this criterion hold"
    if "?" in signs:
        yield "`?`: how many fences are needed was not found within the limits"
    if any(sign.startswith("<=") for sign in signs):
        yield "`<=`: so many fences are enough; that fewer are not was not proved"


def _models(requirement: Requirement) -> str:
    """Races are about SC runs, whatever the model."""
    return (SC if requirement.criterion.is_about_races else requirement.model).name


def _verdict(row: Compared) -> str:
    if row.verdict is not Verdict.HOLDS_UP_TO:
        return row.verdict.value
    return "holds, bounded" if row.bound is None else f"holds up to {row.bound}"


def _how(row: Compared) -> str:
    if row.implied_by is not None:
        return f"implied by {row.implied_by.name}"
    return _limit(row) or "computed"


def _limit(row: Compared) -> str | None:
    if row.answer is None or row.limits is None or row.verdict is not Verdict.UNKNOWN:
        return None
    return stop_text(row.answer.stop, row.limits)


def _row_object(row: Compared, proofs: Proofs) -> Object:
    proof = proofs.get(row.requirement)
    return {
        "criterion": row.requirement.criterion.value,
        "model": row.requirement.model.name,
        "verdict": row.verdict.value,
        "bound": row.bound,
        "implied_by": None if row.implied_by is None else row.implied_by.name,
        "limit": _limit(row),
        "fences": None if row.fences is None else row.fences.count,
        "fences_are_fewest": None if row.fences is None or row.fences.count is None else row.fences.fewest,
        "fences_cannot_help": None if row.fences is None else row.fences.impossible,
        "stats": {
            "states": row.stats.states,
            "transitions": row.stats.transitions,
            "seconds": round(row.stats.seconds, 6),
        },
    } | ({} if proof is None else {"proof": proof_object(proof)})
