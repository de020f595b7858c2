"""The one clock: time that is up ends plain Python by TimeUp, wherever the alarm finds it, but no foreign code."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from memfence.deadline import AGAIN_SECONDS, GRACE_SECONDS, Deadline, TimeUp
from memfence.foreign_calls import call_and_wait
from memfence.safe_points import uninterrupted

LONG_SECONDS = 0.15
"""Longer than the time that is up in the tests; an alarm that is put off comes every 0.02 s."""


class SlowToName:
    def __set_name__(self, owner: type, name: str) -> None:
        while True:
            pass


def test_an_alarm_while_a_class_is_made_is_that_alarm() -> None:
    with pytest.raises(TimeUp), Deadline(0.01).enforced(grace=0.0):
        type("Made", (), {"slow": SlowToName()})


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="not about time"), Deadline(60.0).enforced():
        raise RuntimeError("not about time")


def busy(seconds: float) -> None:
    """Many steps of Python, at each of which an alarm could come out."""
    end = Deadline(seconds)
    while not end.passed:
        pass


def outlives(step: Callable[[], None]) -> bool:
    """Whether the step is done to its end though the time is up meanwhile; TimeUp comes afterwards."""
    done = []
    with pytest.raises(TimeUp), Deadline(0.01).enforced(grace=0.0):
        step()
        done.append(True)
        busy(60.0)
    return bool(done)


def foreign_step(name: str) -> Callable[[], None]:
    """A function that takes long, as of a module of that name."""
    module = ModuleType(name)
    vars(module).update(busy=busy, seconds=LONG_SECONDS)
    exec("def step():\n    busy(seconds)\n", vars(module))
    step: Callable[[], None] = vars(module)["step"]
    return step


@pytest.mark.parametrize("name", ["pysat.solvers", "pysat.examples.rc2", "importlib._bootstrap", "weakref", "tempfile"])
def test_foreign_code_is_not_ended_half_way(name: str) -> None:
    assert outlives(foreign_step(name))


@pytest.mark.parametrize(
    "name", ["lark.parser", "json.encoder", "memfence.report.describe.check_text", "subprocess", "threading.x"]
)
def test_plain_python_is_ended(name: str) -> None:
    assert not outlives(foreign_step(name))


def test_a_destructor_is_not_ended_half_way() -> None:
    done = []

    class Slow:
        def __del__(self) -> None:
            busy(LONG_SECONDS)
            done.append(True)

    def lose() -> None:
        Slow()

    assert outlives(lose) and done == [True]


def test_an_import_is_not_ended_half_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text(
        f"import time\nend = time.monotonic() + {LONG_SECONDS}\nwhile time.monotonic() < end: pass\nwhole = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert outlives(lambda: __import__("slow_to_import") and None)
    assert sys.modules["slow_to_import"].whole


def test_a_temporary_folder_is_removed_to_the_end() -> None:
    folder = tempfile.TemporaryDirectory()
    for number in range(3000):
        (Path(folder.name) / str(number)).touch()
    with pytest.raises(TimeUp), Deadline(0.001).enforced(grace=0.0):
        folder.cleanup()
        busy(60.0)
    assert not Path(folder.name).exists()


def test_a_function_of_ours_can_be_marked_as_one_that_is_not_ended() -> None:
    assert outlives(uninterrupted(lambda: busy(LONG_SECONDS)))
    assert not outlives(lambda: busy(LONG_SECONDS))


def test_what_was_found_can_be_said_before_the_next_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    alarms: list[tuple[float, ...]] = []
    set_alarm = signal.setitimer

    def noted(*arguments: float) -> tuple[float, float]:
        alarms.append(arguments)
        return set_alarm(*arguments)

    monkeypatch.setattr(signal, "setitimer", noted)
    with Deadline(0.01).enforced(grace=0.0):
        with pytest.raises(TimeUp):
            busy(60.0)
        assert alarms[-1] == (signal.ITIMER_REAL, GRACE_SECONDS, AGAIN_SECONDS)


def test_no_alarm_is_left_behind() -> None:
    """Not by one that rings while its own region ends, either."""
    before = signal.getsignal(signal.SIGALRM)
    for number in range(1000):
        try:
            with Deadline(1e-6).enforced(grace=0.0):
                busy(0.0008 + number * 3e-7)
        except TimeUp:
            pass
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        assert signal.getsignal(signal.SIGALRM) is before


def test_an_alarm_within_another_does_not_silence_it() -> None:
    with pytest.raises(TimeUp) as outer, Deadline(0.1).enforced(grace=0.0):
        with pytest.raises(TimeUp) as inner, Deadline(0.01).enforced(grace=0.0):
            busy(60.0)
        assert inner.value.seconds == 0.01
        busy(60.0)
    assert outer.value.seconds == 0.1


def test_a_solver_is_deleted_once_though_the_time_is_up_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Freed twice is a crash without an answer: so this counts, and frees nothing."""
    from pysat import solvers

    freed: list[object] = []

    def slow_to_free(solver: object) -> None:
        busy(LONG_SECONDS)
        freed.append(solver)

    monkeypatch.setattr(solvers.pysolvers, "minisat22_del", slow_to_free)
    solver = solvers.Solver(name="minisat22")
    assert outlives(solver.delete)
    del solver
    gc.collect()
    assert len(freed) == 1


LIVES_OF_SOLVERS = """
import random, sys
from memfence.deadline import AGAIN_SECONDS, GRACE_SECONDS, Deadline, TimeUp
from memfence.engines.axiomatic.clauses import Clauses
from memfence.engines.axiomatic.sat import Sat
from memfence.tasks.limits import Limits

random.seed(1)
ended = 0
for number in range(150):
    try:
        with Deadline(random.uniform(1e-5, 2e-3)).enforced(grace=0.0):
            while True:
                clauses = Clauses()
                names = [clauses.fresh() for _ in range(20)]
                for _ in range(60):
                    clauses.add(*(random.choice((-1, 1)) * name for name in random.sample(names, 3)))
                sat = Sat(clauses, Limits())
                try:
                    sat.solve([])
                finally:
                    sat.close()
    except TimeUp:
        ended += 1
print(ended)
"""


def test_solvers_survive_alarms_at_any_moment() -> None:
    done = subprocess.run([sys.executable, "-c", LIVES_OF_SOLVERS], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "150\n", "")


def test_waiting_for_foreign_code_can_be_given_up() -> None:
    asked: list[str] = []

    def search() -> None:
        while not asked:
            time.sleep(0.001)
        asked.append("ended")

    with pytest.raises(TimeUp), Deadline(0.01).enforced(grace=0.0):
        call_and_wait(search, lambda: asked.append("interrupted"))
    assert asked == ["interrupted", "ended"]


def test_waiting_for_the_threads_of_a_pool_can_be_given_up() -> None:
    given_up = threading.Event()
    with ThreadPoolExecutor(2) as pool, pytest.raises(TimeUp):
        try:
            with Deadline(0.05).enforced(grace=0.0):
                assert list(pool.map(given_up.wait, (5, 5))) == [True, True], "nobody gave up"
        finally:
            given_up.set()


def test_a_foreign_call_returns_what_it_returns_or_raises_what_it_raises() -> None:
    assert call_and_wait(lambda: 42, lambda: None) == 42
    with pytest.raises(ZeroDivisionError):
        call_and_wait(lambda: 1 // 0, lambda: None)


def test_a_hard_formula_is_given_up_when_the_time_is_up() -> None:
    """Pigeons and holes: no budget of conflicts is small enough to come back in time by itself."""
    from memfence.engines.axiomatic.clauses import Clauses
    from memfence.engines.axiomatic.sat import Sat
    from memfence.tasks.limits import Limits

    clauses, holes = Clauses(), 11
    sits = [[clauses.fresh() for _ in range(holes)] for _ in range(holes + 1)]
    for one in sits:
        clauses.add(*one)
    for hole in range(holes):
        for number, one in enumerate(sits):
            for other in sits[:number]:
                clauses.add(-one[hole], -other[hole])
    sat = Sat(clauses, Limits())
    with pytest.raises(TimeUp), Deadline(0.3).enforced(grace=0.0):
        sat.solve([])
    sat.close()
