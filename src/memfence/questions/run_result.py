"""What `memfence run` is asked and answers: options, findings, warnings, and the verdict that they amount to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Literal

from memfence.binary.build import Sources
from memfence.binary.places import SourceLine
from memfence.binary.records import GraphEvent, Layout, RunCounts, RunProgress
from memfence.binary.steps import ProgramStep, StaleLoad
from memfence.deadline import Deadline
from memfence.failures import Allow, C, Reading
from memfence.models.catalogue import model_of, states_of
from memfence.models.spec import SPECS, ModelSpec
from memfence.records import Record
from memfence.tasks.answer import Verdict
from memfence.tasks.shown import Shown

DEFAULT_DEPTH = 10_000
RunKind = Literal["borderline", "deadlock", "lost wake-up", "failure", "race"]


class RunOptions(Record, kw_only=True):
    """Every option of `memfence run`, under the same name. `random`: so many executions at random instead of all.
    `model`: one with states. Without store buffers nothing is borderline; where stores overtake stores, the buffers are
    explored, since borderline is about TSO. `leaks`: they are errors. `prune`: what happens for no reason and leads
    nowhere is not followed. `spurious`: wake-ups without a signal and failures of weak compare-exchanges for no reason,
    at each place, of each thread, in each execution. `allow`: ends of the process that are no failures. `cluster`:
    `local`, `local:N` or the address of a Ray cluster; each processor takes a part. `edition` and `cfg`: of Rust."""

    macros: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    std: str | None = None
    flags: tuple[str, ...] = ()
    edition: str | None = None
    cfg: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    preemptions: int | None = None
    random: int | None = None
    seed: int = 1
    threads: int = 1
    cluster: str | None = None
    depth: int = DEFAULT_DEPTH
    timeout_seconds: float | None = None
    hang_seconds: float = 5.0
    first: bool = False
    reduce: bool = True
    prune: bool = True
    confirm: bool = True
    model: str = "tso"
    leaks: bool = False
    spurious: int = 1
    allow: tuple[Allow, ...] = ()
    progress: Callable[[RunProgress], object] | None = field(default=None, compare=False)
    deadline: Deadline | None = field(default=None, compare=False)

    @property
    def spec(self) -> ModelSpec:
        """The rules of the executions that are run step by step; those without buffers for models that have none."""
        known = SPECS.get(states_of(self.model))
        return known or next(spec for spec in SPECS.values() if not spec.has_buffers)

    @property
    def graphs(self) -> str:
        """What the explorer of execution graphs calls the model; nothing where its states are explored."""
        model = model_of(self.model)
        return "" if model is None or model.states else model.graphs

    def sources(self, files: tuple[str, ...]) -> Sources:
        """What a compiler makes the program of."""
        return Sources(
            files=files, macros=self.macros, include=self.include, std=self.std, flags=self.flags, edition=self.edition,
            cfg=self.cfg,
        )  # fmt: skip


class Confirmation(Record):
    """What goes wrong with the store held back; `kind` None: nothing did in so many attempts."""

    attempts: int
    kind: str | None = None
    message: str = ""
    thread: int | None = None
    schedule: tuple[int, ...] = ()
    steps: tuple[ProgramStep, ...] = ()
    waiting: tuple[ProgramStep, ...] = ()


class MissingOrder(Record):
    """`read` has read from `write`, which does not release (`is_release`), or does not acquire."""

    write: ProgramStep
    read: ProgramStep
    value: int
    is_release: bool


class RunFinding(Record):
    """`cause`: for a failure, the runtime's word for it: `assertion`, `crash` and so on. `schedule`: who takes each
    step; ~t, negative, is a store of thread t that reaches memory. `is_buffered`: it was met with store buffers.
    `graph`: its events, where it was met as a graph. `race`: two accesses, and what is `missing` between them: an order
    where the later thread has read something of the other one; None: it has read nothing of it.
    `layout`: what its schedule refers to, where that is not what the others refer to."""

    kind: RunKind
    cause: str
    message: str
    thread: int | None
    place: SourceLine
    executions: int
    schedule: tuple[int, ...]
    steps: tuple[ProgramStep, ...]
    waiting: tuple[ProgramStep, ...]
    stale: StaleLoad | None = None
    confirmation: Confirmation | None = None
    is_buffered: bool = False
    layout: Layout | None = None
    graph: tuple[GraphEvent, ...] = ()
    race: tuple[ProgramStep, ProgramStep] | None = None
    missing: MissingOrder | None = None

    @property
    def is_confirmed(self) -> bool:
        return self.confirmation is not None and self.confirmation.kind is not None

    @property
    def is_wrong(self) -> bool:
        """Whether it shows a run that goes wrong, with store buffers or without."""
        return self.is_confirmed or (self.kind != "borderline" and self.cause != "unsupported")


class PlainRace(Record):
    """A warning: two plain accesses that nothing orders, so that an optimising compiler may move or merge them."""

    first: ProgramStep
    second: ProgramStep


class Leak(Record):
    """A warning, or a finding if asked for: memory that is never freed, and that no static variable leads to."""

    place: SourceLine
    bytes: int
    schedule: tuple[int, ...]


class RunResult(Shown, Record, repr=False):
    """The answer. HOLDS only if every class of executions was run to its end, and none is borderline; or every one with
    store buffers was, and none goes wrong.

    VIOLATED: an execution goes wrong, without store buffers or with one; or one is borderline and nothing is asserted.
    `asserts`: the program has assertions of its own. `simulated`: executions with store buffers, where these were run.
    `fault`: why there is no answer. `reading`: which ends of the process are failures.
    """

    files: tuple[str, ...]
    verdict: Verdict
    counts: RunCounts
    findings: tuple[RunFinding, ...]
    layout: Layout
    options: RunOptions
    races: tuple[PlainRace, ...] = ()
    leaks: tuple[Leak, ...] = ()
    simulated: int | None = None
    is_simulation_complete: bool = False
    fault: str | None = None
    asserts: bool = True
    reading: Reading = C

    @property
    def is_complete(self) -> bool:
        """Whether all executions were run, each to its end."""
        asked, counts = self.options, self.counts
        left_out = asked.preemptions is not None and counts.cut > 0
        bounded = (
            asked.random is not None or left_out or (asked.spec.reorders_stores and not self.is_simulation_complete)
        )
        cut_off = counts.truncated or counts.out_of_time or counts.spins_roughly
        cut_off = cut_off or counts.more_wake_ups or counts.more_failures
        return not (bounded or cut_off or self.fault)

    @property
    def is_robust(self) -> bool | None:
        """Whether every execution with store buffers is one without; None where that is open."""
        if self.counts.borderline:
            return False
        spec = self.options.spec
        is_about_tso = spec.has_buffers and not spec.reorders_stores
        return True if self.verdict is Verdict.HOLDS and is_about_tso else None

    @property
    def confirmed(self) -> int:
        """Findings that show what goes wrong with store buffers."""
        wrong = [finding for finding in self.findings if finding.is_buffered and finding.is_wrong]
        return len(wrong) + sum(finding.is_confirmed for finding in self.findings)


def verdict_of(result: RunResult) -> Verdict:
    """A program that asserts nothing is asked whether it is robust, as models are: a borderline execution is enough.

    One that asserts something is asked whether it goes wrong: that stays open where nothing confirms the execution.
    """
    borderline_matters = not result.is_simulation_complete  # else all that it could lead to was run
    is_borderline = borderline_matters and any(finding.kind == "borderline" for finding in result.findings)
    if any(finding.is_wrong for finding in result.findings) or (is_borderline and not result.asserts):
        return Verdict.VIOLATED
    is_open = is_borderline or any(finding.kind != "borderline" for finding in result.findings)
    if is_open or result.fault or result.counts.out_of_time:
        return Verdict.UNKNOWN
    return Verdict.HOLDS if result.is_complete else Verdict.HOLDS_UP_TO
