"""A certificate says no more than the answer: what was read up to a bound is valid up to that bound, never beyond."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from memfence.certificates.format.sections import open_certificate
from memfence.report.schemas import json_schema
from support.command_line import memfence

HEAD = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int x, limit = 20;
atomic_int more = 1;
"""
ONE_THREAD = (
    "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); assert(%s); return 0; }\n"
)
BOUNDED = {
    "recursion": HEAD
    + "static int deep(int n) { if (n == 20) x = 1; return n == 0 ? 0 : 1 + deep(n - 1); }\n"
    + "void *work(void *unused) { deep(40); return 0; }\n"
    + ONE_THREAD % "x == 0",
    "heap": HEAD
    + "void *work(void *unused) { for (int i = 0; i < limit; i++) { *(int *)malloc(4) = i; x = i; } return 0; }\n"
    + ONE_THREAD % "x < 19",
    "threads": HEAD
    + "void *work(void *number) { assert((long)number < 4); return 0; }\n"
    + "int main(void) { pthread_t t; for (long i = 0; more; i++) pthread_create(&t, 0, work, (void *)i); return 0; }\n",
    "tried values": HEAD
    + "void *work(void *unused) { int n = __VERIFIER_nondet_int(); "
    + "if (n > 0 && n < 1000 && n * n == 961) x = 1; return 0; }\n"
    + ONE_THREAD % "x == 0",
    "pending stores": "byte x, y, z; active proctype P() { do :: x = 1; y = 1; z = 1 od }\n"
    "active proctype Q() { assert(z <= 1) }",
}
"""Programs that are read, or searched, up to a bound that some run reaches."""
REACHES_NONE = """\
#include <assert.h>
#include <pthread.h>
int a, b, x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int differ(void) { pthread_mutex_lock(&m); int d = a != b; pthread_mutex_unlock(&m); return d; }
static int deep(int n) { return differ() ? deep(n + 1) : n; }
void *work(void *unused) { pthread_mutex_lock(&m); a = 1; b = 1; pthread_mutex_unlock(&m); return 0; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  x = deep(3);
  pthread_join(t, 0);
  assert(x == 3);
  return 0;
}
"""
"""That nothing is ever called again is known from all states only, not while the text is read."""


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    return tmp_path / "proof.mfc"


def certified(tmp_path: Path, text: str, *options: object) -> Path:
    """The program as a file, checked with a certificate beside it."""
    program = tmp_path / ("program.c" if "#include" in text else "program.pml")
    program.write_text(text)
    done = memfence("check", program, "--certificate", tmp_path / "proof.mfc", *options)
    assert done.returncode in (0, 4), done.stdout + done.stderr
    return program


@pytest.mark.parametrize("checker", ["native", "python"])
@pytest.mark.parametrize("bound", BOUNDED)
def test_a_proof_within_a_bound_is_valid_up_to_that_bound(
    bound: str, checker: str, tmp_path: Path, proof: Path
) -> None:
    program = certified(tmp_path, BOUNDED[bound], *(("--buffer-bound", 1) if bound == "pending stores" else ()))
    done = memfence("verify", proof, program, "-q", "--checker", checker)
    assert done.returncode == 4 and "VALID UP TO BOUNDS" in done.stdout
    told = json.loads(memfence("verify", proof, program, "--json", "--checker", checker).stdout)
    jsonschema.validate(told, json_schema("verify"))
    assert told["verdict"] == "valid_up_to"
    assert told["bounds"] or told["bound"] == 1


@pytest.mark.parametrize("checker", ["native", "python"])
def test_a_proof_that_no_bound_is_reached_is_valid(checker: str, tmp_path: Path, proof: Path) -> None:
    program = certified(tmp_path, REACHES_NONE, "--recursion-bound", 4)
    with proof.open("rb") as file:
        assert open_certificate(file).header.claim.reaches_no_bound
    done = memfence("verify", proof, program, "--checker", checker)
    assert done.returncode == 0 and ": VALID:" in done.stdout
    assert "no run reaches a bound" in done.stdout and "--recursion-bound" not in done.stdout


@pytest.mark.parametrize("checker", ["native", "python"])
def test_that_no_bound_is_reached_is_not_believed(checker: str, tmp_path: Path, proof: Path) -> None:
    """A header that claims it, where a run reaches one, or where bounds cannot be seen in states."""
    from cli.test_forged_headers import forged

    for bound, code in (("recursion", 1), ("tried values", 3)):
        program = certified(tmp_path, BOUNDED[bound])
        other = forged(proof, lambda header: header["claim"].update(reaches_no_bound=True), tmp_path / "forged.mfc")
        done = memfence("verify", other, program, "--checker", checker)
        assert done.returncode == code, done.stdout + done.stderr


def test_one_clock_runs_for_the_answer_and_its_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of the time when the answer is there is all that its proof may take."""
    from memfence.api import certify, check

    started: list[float | None] = []

    class Counted(check.Deadline):
        def __init__(self, seconds: float | None = None) -> None:
            started.append(seconds)
            super().__init__(seconds)

    monkeypatch.setattr(check, "Deadline", Counted)
    assert not hasattr(certify, "Deadline"), "a certificate has no clock of its own"
    found = certify.check_certified("examples/spsc_ring.pml", None, verified=True, timeout_seconds=60)
    assert started == [60]
    assert found.result.limits.deadline.seconds == 60 and isinstance(found.result.limits.deadline, Counted)


@pytest.mark.parametrize("bound", ["recursion", "heap", "threads", "tried values"])
def test_a_fix_within_a_bound_is_not_a_proof(bound: str, tmp_path: Path) -> None:
    program = tmp_path / "program.c"
    program.write_text(BOUNDED[bound])
    assert memfence("fix", program).returncode == 4
    done = memfence("fix", program, "--criterion", "robust")
    assert done.returncode == 4 and "NO VIOLATION, bounded under tso" in done.stdout
    told = json.loads(memfence("fix", program, "--criterion", "robust", "--json").stdout)
    jsonschema.validate(told, json_schema("fix"))
    assert told["verdict"] == "already_holds" and told["bounded"]
