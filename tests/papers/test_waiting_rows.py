"""GenMC's programs about liveness: those of `wrong` have a thread that waits for ever, the others have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.pipeline import load, load_text
from memfence.program.ir import NoDeadlock, Program
from memfence.questions.models import check_models
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import Counterexample, CounterexampleRun, Deadlocked
from memfence.tasks.options import CheckOptions
from support.c_compiler import HAS_CLANG
from support.corpus import CORPUS, needs_corpus

FOLDER = CORPUS / "c" / "genmc"
MODELS = ("x86", "rc11", "armv8")
NOT_JOINED = {"lock-deadlock0", "lamport-deadlock0"}
"""`main` returns without having joined its threads, which ends the process: none waits then. GenMC lets them go on."""
NOT_READ = {"wb-maximals+dsa"}
"""Its header is not part of the corpus."""

pytestmark = [needs_corpus, pytest.mark.skipif(not HAS_CLANG, reason="neither ziglang nor clang is installed")]


def programs(kind: str) -> list[Path]:
    found = sorted((FOLDER / kind / "liveness").glob("*/variants/*.c"))
    return [path for path in found if path.parts[-3] not in NOT_READ]


def _verdict(program: Program, model: str) -> Verdict:
    (answer,) = check_models(program, (model,), CheckOptions(timeout_seconds=60)).answers
    return answer.verdict


@pytest.mark.parametrize("path", programs("wrong"), ids=lambda path: path.stem)
def test_a_thread_waits_for_ever(path: Path) -> None:
    if path.stem in NOT_JOINED:
        for model in MODELS:
            assert _verdict(load(path), model) in (Verdict.HOLDS, Verdict.HOLDS_UP_TO)  # loops may have no end
        joined = path.read_text().replace("return 0;", "pthread_join(t1, NULL); pthread_join(t2, NULL); return 0;")
        program = load_text(SourceText(str(path), joined))
        assert {_verdict(program, model) for model in MODELS} == {Verdict.VIOLATED}
        return
    for answer in check_models(load(path), MODELS, CheckOptions(timeout_seconds=60)).answers:
        assert answer.verdict is Verdict.VIOLATED
        match answer.evidence:
            case CounterexampleRun(_, Deadlocked()):
                assert answer.check is not None
            case Counterexample() as found:
                assert isinstance(found.violated, NoDeadlock)
            case other:
                pytest.fail(f"no execution: {other}")


@pytest.mark.slow
@pytest.mark.parametrize("path", programs("correct"), ids=lambda path: path.stem)
def test_no_thread_waits_for_ever(path: Path) -> None:
    answers = check_models(load(path), MODELS, CheckOptions(timeout_seconds=30)).answers
    assert Verdict.VIOLATED not in {answer.verdict for answer in answers}
    assert Verdict.HOLDS in {answer.verdict for answer in answers}
