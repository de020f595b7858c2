"""Programs that are written in Python, without a file."""

from __future__ import annotations

import pytest

import memfence


def store_buffering(*, fenced: bool) -> memfence.Model:
    model = memfence.Model("store buffering")
    x, y = model.shared("x", "y")
    for name, mine, other in (("P", x, y), ("Q", y, x)):
        with model.process(name) as process:
            seen = process.local("seen")
            process.store(mine, 1)
            if fenced:
                process.fence()
            process.load(seen, other)
            process.label("done")
            process.skip()
    model.forbid("P@done && Q@done && P.seen == 0 && Q.seen == 0")
    return model


def test_a_program_written_in_python_is_checked_and_fixed() -> None:
    assert store_buffering(fenced=False).check(model="tso").verdict == "violated"
    assert store_buffering(fenced=False).check(model="sc").verdict == "holds"
    assert store_buffering(fenced=True).check(model="tso").verdict == "holds"
    assert store_buffering(fenced=False).fix(model="tso").chosen.count == 2


def test_a_verb_takes_a_model_as_any_other_program() -> None:
    assert memfence.check(store_buffering(fenced=False), model="pso").verdict == "violated"


def test_loops_branches_and_read_modify_writes() -> None:
    model = memfence.Model("spin lock")
    lock, counter = model.shared("lock", "counter")
    with model.process("P", copies=2) as process:
        old, seen = process.local("old", "seen")
        process.assign(old, 1)
        with process.while_(old == 1):
            process.exchange(old, lock, 1)
        process.load(seen, counter)
        process.store(counter, seen + 1)
        process.store(lock, 0)
    model.final(counter == 2)
    assert model.check(model="tso").verdict == "holds"
    assert model.check(model="pso").verdict == "violated"


def test_choices_arrays_waits_and_assertions() -> None:
    model = memfence.Model("waiting")
    flag = model.array("flag", 2)
    with model.process("P") as process:
        process.store(flag[0], 1)
        process.wait(flag[1] == 1)
        with process.if_(flag[0] == 1):
            process.skip()
        with process.else_():
            process.check(False)
    with model.process("Q") as process, process.loop(), process.if_(flag[0] == 1):
        process.store(flag[1], 1)
        process.leave()
    assert model.check(model="tso").verdict == "holds"


def test_compare_and_swap_and_fetch_and_add() -> None:
    model = memfence.Model("counter")
    counter = model.shared("counter")
    with model.process("P", copies=2) as process:
        old = process.local("old")
        process.fetch_add(old, counter, 1)
        process.compare_exchange(old, counter, 7, 8)
    model.final(counter == 2)
    assert model.check(model="pso").verdict == "holds"


def test_the_text_is_promela_and_runs_show_it() -> None:
    model = store_buffering(fenced=False)
    assert "active proctype P()" in model.text
    assert "x = 1" in str(model.check())


def test_a_name_that_cannot_be_one_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a name"):
        memfence.Model("m").shared("not a name")
    with pytest.raises(ValueError, match="declared twice"):
        memfence.Model("m").shared("x", "x")
