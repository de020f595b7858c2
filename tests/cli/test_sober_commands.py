"""`memfence monitor` and `memfence explore` as scripts see them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from support.command_line import memfence

SOBER = Path(__file__).resolve().parents[2] / "examples" / "sober"
STORE_BUFFERING = """\
{"op":"st","thread":0,"addr":"x","value":1,"loc":"a.c:1"}
{"op":"ld","thread":0,"addr":"y","value":0,"loc":"a.c:2"}
{"op":"st","thread":1,"addr":"y","value":1,"loc":"b.c:1"}
{"op":"ld","thread":1,"addr":"x","value":1,"loc":"b.c:2"}
"""
FENCED = STORE_BUFFERING.replace('{"op":"ld"', '{"op":"fence","thread":0}\n{"op":"ld"', 1).replace(
    '{"op":"ld","thread":1', '{"op":"fence","thread":1}\n{"op":"ld","thread":1'
)
FAILING = """\
byte x;
active proctype P() { x = 1; x = 2 }
active proctype Q() { assert(x != 1) }
"""
TORN = """\
byte x = 0;
byte y = 0;
process P { state a, b; init a; trans a -> b { effect x = 1, y = 1; }; }
process Q { state a, b; init a; trans a -> b { effect y = 2, x = 2; }; }
system async;
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "sb.jsonl"
    path.write_text(STORE_BUFFERING)
    return path


def test_a_borderline_trace_exits_1_and_says_what_to_fence(trace: Path) -> None:
    done = memfence("monitor", trace)
    text = done.stdout
    assert (done.returncode, done.stderr) == (1, "")
    assert text.startswith(f"{trace}: VIOLATED (store-buffer safety): the load in line 4 is borderline\n")
    assert "line 4: thread 1 loads x = 1 at b.c:2" in text
    assert "line 1: thread 0 stores x = 1 at a.c:1" in text
    assert "see an older value: possible with store buffers" in text
    assert "thread 0: after a.c:1, before a.c:2" in text
    assert "thread 1: after b.c:1, before b.c:2" in text


def test_a_fenced_trace_exits_0(tmp_path: Path) -> None:
    path = tmp_path / "fenced.jsonl"
    path.write_text(FENCED)
    done = memfence("monitor", path)
    assert done.returncode == 0, done.stdout
    assert "HOLDS" in done.stdout


def test_the_json_object_of_monitor(trace: Path) -> None:
    done = memfence("monitor", trace, "--json")
    value = json.loads(done.stdout)
    assert value["verdict"] == "violated"
    assert (value["event"]["line"], value["event"]["addr"], value["event"]["thread"]) == (4, "x", "1")
    assert value["event"]["missed"]["line"] == 1
    assert [step["line"] for step in value["event"]["path"]] == [1, 2, 3, 4]
    assert [(f["after"]["line"], f["before"]["line"]) for f in value["event"]["fences"]] == [(1, 2), (3, 4)]
    assert (value["events"], value["threads"], value["addresses"]) == (4, 2, 2)


def test_an_initial_value_that_the_trace_shows_is_the_stale_value(tmp_path: Path) -> None:
    path = tmp_path / "init.jsonl"
    path.write_text('{"op":"init","addr":"x","value":7}\n' + STORE_BUFFERING)
    assert json.loads(memfence("monitor", path, "--json").stdout)["event"]["stale"] == 7


def test_gzip_and_standard_input_are_read(trace: Path, tmp_path: Path) -> None:
    zipped = tmp_path / "sb.jsonl.gz"
    zipped.write_bytes(gzip.compress(trace.read_bytes()))
    assert memfence("monitor", zipped).returncode == 1
    assert memfence("monitor", "-", given=trace.read_bytes()).returncode == 1
    assert memfence("monitor", "-", given=zipped.read_bytes()).returncode == 1
    assert memfence("monitor", "-", given=b"").returncode == 0


def test_damaged_gzip_is_bad_input(trace: Path, tmp_path: Path) -> None:
    zipped = tmp_path / "sb.jsonl.gz"
    zipped.write_bytes(gzip.compress(trace.read_bytes() * 50)[:-20])
    done = memfence("monitor", zipped)
    assert done.returncode == 3
    assert "error[MF002]" in done.stderr


def test_a_malformed_line_is_bad_input_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(STORE_BUFFERING + '{"op":"load","thread":1,"addr":"x"}\n')
    done = memfence("monitor", path)
    assert done.returncode == 1  # the finding comes first
    path.write_text(FENCED + '{"op":"load","thread":1,"addr":"x"}\n')
    done = memfence("monitor", path)
    assert done.returncode == 3
    assert done.stderr.startswith(f"error[MF301]: unknown operation `load`\n  --> {path}:7:7\n")
    assert "^^^^^^" in done.stderr
    assert json.loads(memfence("monitor", path, "--json").stdout)["diagnostics"][0]["line"] == 7


def test_a_trace_that_is_not_sequentially_consistent_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wrong.jsonl"
    path.write_text(STORE_BUFFERING.replace('"x","value":1,"loc":"b.c:2"', '"x","value":0,"loc":"b.c:2"'))
    done = memfence("monitor", path)
    assert done.returncode == 3
    assert "error[MF302]: the load sees 0 in `x`, but the last write wrote 1 (line 1)" in done.stderr


def test_a_missing_trace_is_bad_input(tmp_path: Path) -> None:
    done = memfence("monitor", tmp_path / "none.jsonl")
    assert done.returncode == 3
    assert "error[MF002]" in done.stderr


def test_exploration_finds_the_borderline_execution_of_fig_1b() -> None:
    done = memfence("explore", SOBER / "fig1b.pml")
    text = done.stdout
    assert (done.returncode, done.stderr) == (1, "")
    assert "VIOLATED (stateless exploration): borderline" in text
    assert "3 interleavings, 2 borderline" in text
    assert "replayed under tso" in text
    assert "overtook" in text


def test_a_complete_exploration_exits_0_and_a_bounded_one_4() -> None:
    assert memfence("explore", SOBER / "dekker_fenced.pml").returncode == 0
    done = memfence("explore", SOBER / "dekker_fenced.pml", "--preemptions", 1)
    assert done.returncode == 4
    assert "NO VIOLATION within 1 preemption (stateless" in done.stdout
    done = memfence("explore", SOBER / "dekker_fenced.pml", "--depth", 5)
    assert done.returncode == 4
    assert "NO VIOLATION within 5 steps" in done.stdout


def test_without_the_monitor_nothing_is_claimed_about_store_buffers() -> None:
    done = memfence("explore", SOBER / "dekker.pml", "--no-monitor")
    assert done.returncode == 0
    assert "borderline\n" not in done.stdout and "TSO" not in done.stdout
    assert "no assertion fails in any SC execution; nothing is claimed about store buffers" in done.stdout


def test_steps_with_several_stores_are_no_proof(tmp_path: Path) -> None:
    path = tmp_path / "torn.dve"
    path.write_text(TORN)
    done = memfence("explore", path)
    assert done.returncode == 4
    assert "NO VIOLATION within runs in which the stores of one step reach memory together" in done.stdout
    assert "a step of `P`, `Q` makes several stores" in done.stdout
    assert memfence("check", path, "--criterion", "robust", "--model", "tso").returncode == 1


def test_a_bound_that_forbids_nothing_is_a_proof() -> None:
    done = memfence("explore", SOBER / "fig1b_fenced.pml", "--preemptions", 9, "--json")
    value = json.loads(done.stdout)
    assert (done.returncode, value["verdict"], value["bound"]) == (0, "holds", None)
    assert [i["interleavings"] for i in value["iterations"]] == [2, 4, 6]


def test_the_json_object_of_explore() -> None:
    value = json.loads(
        memfence("explore", SOBER / "dekker_fenced.pml", "--preemptions", 1, "--json", "--timing").stdout
    )
    assert (value["verdict"], value["bound"], value["borderline"]) == ("holds_up_to", 1, 0)
    assert value["interleavings"] == value["iterations"][-1]["interleavings"] > 0
    assert value["iterations"][0]["seconds_without_monitor"] is not None
    assert value["findings"] == []


def test_a_timeout_is_unknown() -> None:
    done = memfence("explore", SOBER / "bakery_fenced.pml", "--preemptions", 50, "--timeout", 0.2)
    assert done.returncode == 4
    assert "UNKNOWN" in done.stdout
    assert "timeout" in done.stdout


def test_assertion_failures_and_borderline_executions_are_different_findings(tmp_path: Path) -> None:
    path = tmp_path / "both.pml"
    path.write_text(
        "byte x, y;\nactive proctype P() { byte r; x = 1; r = y; assert(r == 0) }\n"
        "active proctype Q() { byte s; y = 1; s = x }\n"
    )
    value = json.loads(memfence("explore", path, "--json").stdout)
    assert [finding["kind"] for finding in value["findings"]] == ["assertion failure", "borderline"]
    assert value["failed"] > 0


def test_schedules_are_saved_and_replayed(tmp_path: Path) -> None:
    for name, text, kind in (
        ("failing.pml", FAILING, "assertion failure"),
        ("sb.pml", f'#include "{SOBER}/fig1b.pml"\n', "borderline"),
    ):
        path, schedule = tmp_path / name, tmp_path / f"{name}.json"
        path.write_text(text)
        assert memfence("explore", path, "--save-schedule", schedule).returncode == 1
        done = memfence("explore", path, "--replay", schedule)
        assert done.returncode == 1, done.stderr
        assert kind in done.stdout.splitlines()[0]
        assert json.loads(memfence("explore", path, "--replay", schedule, "--json").stdout)["verdict"] == "violated"


def test_a_schedule_of_another_program_is_refused(tmp_path: Path) -> None:
    path, schedule = tmp_path / "failing.pml", tmp_path / "found.json"
    path.write_text(FAILING)
    memfence("explore", path, "--save-schedule", schedule)
    path.write_text(FAILING.replace("x != 1", "x != 5"))
    done = memfence("explore", path, "--replay", schedule)
    assert done.returncode == 3
    assert "error[MF303]" in done.stderr
    for text in ("", "[]", "{}", '{"findings":[]}', '{"kind":"borderline","model":"tso"}', "[" * 100_000):
        schedule.write_text(text)
        done = memfence("explore", path, "--replay", schedule)
        assert done.returncode == 3, text[:40]
        assert "error[MF303]" in done.stderr


def test_saved_traces_are_read_by_the_monitor_with_the_same_answer(tmp_path: Path) -> None:
    done = memfence("explore", SOBER / "takequeue.pml", "--save-trace", tmp_path / "traces", "--json")
    value = json.loads(done.stdout)
    files = sorted((tmp_path / "traces").iterdir())
    assert len(files) == value["interleavings"]
    from memfence.questions.monitor import monitor
    from memfence.tasks.answer import Verdict

    violated = [monitor(path).verdict is Verdict.VIOLATED for path in files]
    assert sum(violated) == value["borderline"]


def test_wrong_usage_exits_2() -> None:
    assert memfence("monitor").returncode == 2
    assert memfence("explore", SOBER / "fig1b.pml", "--preemptions", -1).returncode == 2


def test_a_timeout_while_the_program_is_read_is_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    from memfence.api import explore as verb
    from memfence.deadline import TimeUp

    def slow(*_: object) -> None:
        raise TimeUp(0.2)

    monkeypatch.setattr(verb, "read_program", slow)
    done = memfence("explore", SOBER / "bakery_fenced.pml", "--timeout", 0.2)
    assert (done.returncode, done.stderr) == (4, "")
    assert "UNKNOWN" in done.stdout and "timeout" in done.stdout
