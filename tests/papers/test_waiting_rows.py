"""GenMC's programs about liveness: those of `wrong` have a thread that waits for ever, the others have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.pipeline import load
from memfence.program.ir import NoDeadlock
from memfence.questions.portable import check_models
from memfence.questions.portable_result import Counterexample
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import HAS_CLANG
from support.corpus import CORPUS, needs_corpus

FOLDER = CORPUS / "c" / "genmc"
MODELS = ("x86", "rc11", "armv8")
NOT_READ = {"wb-maximals+dsa"}
"""Its header is not part of the corpus."""

pytestmark = [needs_corpus, pytest.mark.skipif(not HAS_CLANG, reason="neither ziglang nor clang is installed")]


def programs(kind: str) -> list[Path]:
    found = sorted((FOLDER / kind / "liveness").glob("*/variants/*.c"))
    return [path for path in found if path.parts[-3] not in NOT_READ]


@pytest.mark.parametrize("path", programs("wrong"), ids=lambda path: path.stem)
def test_a_thread_waits_for_ever(path: Path) -> None:
    for answer in check_models(load(path), MODELS, CheckOptions(timeout_seconds=60)).answers:
        assert answer.verdict is Verdict.VIOLATED
        assert isinstance(answer.evidence, Counterexample)
        assert isinstance(answer.evidence.violated, NoDeadlock)


@pytest.mark.slow
@pytest.mark.parametrize("path", programs("correct"), ids=lambda path: path.stem)
def test_no_thread_waits_for_ever(path: Path) -> None:
    answers = check_models(load(path), MODELS, CheckOptions(timeout_seconds=30)).answers
    assert Verdict.VIOLATED not in {answer.verdict for answer in answers}
    assert Verdict.HOLDS in {answer.verdict for answer in answers}
