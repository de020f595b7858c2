"""The reports of `memfence fix` for models with memory orders: which orders and fences, the proof, and the diff."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.frontends.c.editable import may_be_edited
from memfence.frontends.c.orders import ATOMIC_CALL
from memfence.program.ir import Load, Program, Rmw, Store
from memfence.program.orders import MemoryOrder
from memfence.report.describe.models_text import STOPS, answer_object, bound_text, reason_text, verdict_text
from memfence.report.formats.json import Object
from memfence.report.views.table import wrap
from memfence.report.words.findings import in_brackets
from memfence.report.words.next_command import command
from memfence.report.words.sentences import UNFIT
from memfence.synthesis.orders.needed import NeededOrders, WeakerOrder
from memfence.synthesis.orders.places import OrderPlace
from memfence.synthesis.orders.result import OrderChange, OrderFix, RacingVariable
from memfence.synthesis.result import FixVerdict
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import peak_megabytes
from memfence.tasks.result import ModelAnswer


def order_fix_text(result: OrderFix, *, width: int, quiet: bool = False) -> str:
    """The whole report; with `quiet` its first line."""
    lines = [first_line(result)]
    if quiet:
        return f"{lines[0]}\n"
    lines += [f"  {change_line(change)}" for change in result.changes]
    lines += [f"  {name:<9}{text}" for name, text in order_facts(result)]
    for number, changes in enumerate(result.sets or (), 1):
        lines += ["", f"set {number}", *(f"  {change_line(change)}" for change in changes)]
    if result.diff:
        lines += ["", result.diff.rstrip("\n")]
    return "\n".join(lines) + "\n"


def first_line(result: OrderFix) -> str:
    """The verdict in one line."""
    models = ", ".join(result.models)
    path = result.program.source.path
    bound = "" if result.bound is None else f", loops followed up to {_times(result.bound)}"
    match result.verdict:
        case FixVerdict.FIXED:
            return f"FIXED under {models}: {_count(result.changes)}{bound} ({path})"
        case FixVerdict.ALREADY_HOLDS:
            return f"NOTHING TO FIX under {models}{bound} ({path})"
        case FixVerdict.IMPOSSIBLE:
            return f"IMPOSSIBLE under {models}: the strongest orders everywhere are not enough ({path})"
        case FixVerdict.UNKNOWN if result.racing:
            names = ", ".join(f"`{variable.name}`" for variable in result.racing)
            return f"NOT FIXED under {models}: {names} must become atomic first ({path})"
        case FixVerdict.UNKNOWN if result.elsewhere or result.broken:
            return f"NOT FIXED under {models}: no place that may be edited is enough ({path})"
        case FixVerdict.UNKNOWN:
            return f"UNKNOWN under {models} ({path})"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _count(changes: Sequence[OrderChange]) -> str:
    fences = sum(change.place.point is not None for change in changes)
    orders = len(changes) - fences
    parts = [f"{n} {what}{'s' * (n > 1)}" for n, what in ((orders, "stronger order"), (fences, "fence")) if n]
    return " and ".join(parts)


def change_line(change: OrderChange) -> str:
    """Where, and what becomes of what is there."""
    place = change.place
    where = f"{place.span.source.path}:{place.span.line}"
    if place.point is not None:
        article = "an" if change.order.value[0] in "aeiou" else "a"
        return f"{where}: {article} {change.order.value} fence behind `{place.point.after or place.span.text}`"
    return f"{where}: {place.order.value} -> {change.order.value}, {place.kind}"


def order_facts(result: OrderFix) -> list[tuple[str, str]]:
    """What the verdict covers, and what it cost."""
    facts = []
    if result.verdict is FixVerdict.FIXED and result.is_minimum:
        what = "no cheaper set is" if result.minimise == "cost" else "fewer changes are not"
        facts.append(("minimum", f"proved: {what} enough, of all stronger orders and fences behind statements"))
    facts += [("needs", _elsewhere_text(result, change)) for change in result.elsewhere]
    facts += [("needs", _racing_text(result, variable)) for variable in result.racing]
    facts += [("refused", f"the compiler takes no change at {span.place}") for span in result.broken]
    limit = _limit(result)
    if limit is not None:
        facts.append(("limit", limit))
    if result.refused is not None:
        facts.append(("try", "`--model tso`, for which fences are chosen"))
    for answer in result.answers:
        bound = bound_text(answer)
        loops = f" (loops: {bound})" if bound else ""
        facts.append((answer.name, f"{verdict_text(answer)}{loops}: {reason_text(answer)}"))
    facts.append(("search", f"{result.places} places, {result.asked} choices tried, {result.seconds:.2f} s"))
    return facts


def _elsewhere_text(result: OrderFix, change: OrderChange) -> str:
    """What would have to be changed, and why it was not."""
    place = change.place
    source = place.span.source
    if not may_be_edited(result.program, source):
        return f"{change_line(change)}; this file is not to be edited"
    if place.point is None and place.kind in ("load", "store") and not ATOMIC_CALL.search(place.span.text):
        names = " or ".join(f"`{name}`" for name in _variables(result.program, place))
        return (
            f"{source.path}:{place.span.line}: {change.order.value} for this {place.kind}: {names} must become atomic"
        )
    return f"{change_line(change)}; the text there does not say the order"


def _variables(program: Program, place: OrderPlace) -> list[str]:
    """The variables that the place accesses."""
    ops = (program.processes[p].transitions[t].ops[o] for p, t, o in sorted(place.ops))
    addresses = (op.address for op in ops if isinstance(op, Load | Store | Rmw))
    numbers = dict.fromkeys(number for address in addresses for number in address.variables)
    return [program.variables[number].name for number in numbers]


def _racing_text(result: OrderFix, variable: RacingVariable) -> str:
    where = in_brackets(result.program, variable.accesses)
    return f"`{variable.name}` as an atomic variable: its plain accesses race{where}; then fix again"


def _limit(result: OrderFix) -> str | None:
    """Why there is no answer, where it is not in the answers."""
    if result.refused is not None:
        return f"orders cannot be chosen here: {UNFIT[result.refused]}"
    return None if result.stop is None else STOPS.get(result.stop, "the search was stopped")


def order_fix_object(result: OrderFix) -> Object:
    """`memfence fix --json` for such models, before it becomes text."""
    return {
        "file": result.program.source.path,
        "models": [answer_object(answer) for answer in result.answers],
        "verdict": result.verdict.value,
        "bound": result.bound,
        "minimise": result.minimise,
        "minimum": result.is_minimum,
        "fences": [_change_object(result, change) for change in result.changes],
        "count": len(result.changes),
        "instances": sum(len(_processes(result, change.place)) for change in result.changes),
        "sets": None if result.sets is None else [[_change_object(result, c) for c in one] for one in result.sets],
        "sets_complete": None if result.sets is None else result.are_all,
        "diff": result.diff,
        "patched": result.patched,
        "files": [{"file": one.source.path, "patched": one.text} for one in result.files],
        "elsewhere": [_change_object(result, change) for change in result.elsewhere],
        "make_atomic": [
            {"variable": one.name, "places": [span.place for span in one.accesses]} for one in result.racing
        ],
        "limit": _limit(result),
        "assumptions": list(result.program.assumed),
        "warnings": [],
        "stats": {
            "sites": result.places, "checks": result.asked, "seconds": round(result.seconds, 6),
            "peak_mb": peak_megabytes(),
        },
    }  # fmt: skip


def _change_object(result: OrderFix, change: OrderChange) -> Object:
    place = change.place
    processes = _processes(result, place)
    return {
        "kind": change.order.value,
        "of": place.kind,
        "was": None if place.point is not None else place.order.value,
        "file": place.span.source.path,
        "line": place.span.line,
        "process": processes[0] if processes else "",
        "processes": processes,
        "location": place.span.place,
        "after": (place.point.after or place.span.text) if place.point is not None else None,
        "text": place.span.text,
    }


def _processes(result: OrderFix, place: OrderPlace) -> list[str]:
    """The instances of the code at the place."""
    return [result.program.processes[p].name for p in sorted({p for p, _, _ in place.ops})]


def needed_text(result: NeededOrders, *, width: int) -> str:
    """`memfence why --model LIST`: a paragraph for each order that could be weaker."""
    lines = [f"{result.program.source.path}: as it is, " + _verdicts(result.before)]
    if result.before and all(answer.verdict is Verdict.VIOLATED for answer in result.before):
        return "\n".join([*lines, *wrap(_fails_anyway(result), width)]) + "\n"
    for one in result.orders:
        lines += ["", *wrap(needed_line(one), width)]
        lines += [f"  {answer.name:<9}{_weaker_text(answer, one)}" for answer in one.answers]
    return "\n".join(lines) + "\n"


def _fails_anyway(result: NeededOrders) -> str:
    """Nothing can be said of what a program needs that fails under every model as it is."""
    asked = (result.program, "--model", ",".join(result.models))
    again = f"`{command('check', *asked)}` shows how, and `{command('fix', *asked)}` what is missing"
    return f"The program fails as it is, so that this does not tell which orders it needs: {again}."


def _verdicts(answers: Sequence[ModelAnswer]) -> str:
    return ", ".join(f"{answer.name} {verdict_text(answer)}" for answer in answers)


def _weaker_text(answer: ModelAnswer, one: WeakerOrder) -> str:
    if answer.verdict is Verdict.VIOLATED and answer.name in one.failing:
        return f"{verdict_text(answer)}, as it is, too"
    return f"{verdict_text(answer)}: {reason_text(answer)}"


def needed_line(one: WeakerOrder) -> str:
    """Whether the order is needed."""
    place = one.place
    words = {True: "needed", False: "not needed", None: "not known to be needed"}
    what = "without this fence" if _is_removed(one) else f"with {one.weaker.value} in its place"
    return (
        f"{place.span.source.path}:{place.span.line}: {place.order.value} {place.kind} {words[one.is_needed]}: {what}"
    )


def _is_removed(one: WeakerOrder) -> bool:
    return one.place.kind == "fence" and one.weaker is MemoryOrder.RELAXED


def needed_object(result: NeededOrders) -> Object:
    """The same as an object."""
    return {
        "file": result.program.source.path,
        "models": [answer_object(answer) for answer in result.before],
        "orders": [
            {
                "file": one.place.span.source.path,
                "line": one.place.span.line,
                "of": one.place.kind,
                "order": one.place.order.value,
                "weaker": None if _is_removed(one) else one.weaker.value,
                "needed": one.is_needed,
                "models": [answer_object(answer) for answer in one.answers],
            }
            for one in result.orders
        ],
    }
