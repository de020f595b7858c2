"""`memfence check --certificate`, `--verify` and `memfence verify`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from memfence.report.schemas import json_schema
from support.c_compiler import needs_clang
from support.command_line import memfence
from support.proved import needs_the_proved_checker, proved_checker

__all__ = ["proved_checker"]
PROGRAM = "examples/double_checked.pml"


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("proofs") / "proof.mfc"
    done = memfence("check", PROGRAM, "--certificate", path)
    assert done.returncode == 0, done.stderr
    assert f"proof   {path}" in done.stdout
    return path


@pytest.mark.parametrize("checker", ["auto", "native", "python"])
def test_a_proof_of_ours_is_valid(proof: Path, checker: str) -> None:
    done = memfence("verify", proof, PROGRAM, "--checker", checker)
    assert done.returncode == 0
    assert done.stdout.startswith(f"{proof}: VALID: everything that the program states holds under tso\n")
    assert "44 states" in done.stdout


@needs_the_proved_checker
@pytest.mark.usefixtures("proved_checker")
def test_the_proved_checker_says_the_same(proof: Path) -> None:
    done = memfence("verify", proof, PROGRAM, "--checker", "proved")
    assert done.returncode == 0, done.stderr
    assert "139 states" in done.stdout and "proved checker" in done.stdout


def test_a_proved_checker_that_is_not_there_is_said_to_be_missing(proof: Path, tmp_path: Path) -> None:
    for environment in ({"MEMFENCE_CHECKER": str(tmp_path / "none")}, {"MEMFENCE_CHECKER": "", "PATH": str(tmp_path)}):
        done = memfence("verify", proof, PROGRAM, "--checker", "proved", environment=environment)
        assert done.returncode == 3
        assert done.stderr.startswith("error[MF306]: ")


def test_verify_says_what_was_claimed_and_checks_it_at_once(tmp_path: Path) -> None:
    path = tmp_path / "proof.mfc"
    done = memfence("check", PROGRAM, "--certificate", path, "--verify", "--invariant", "true", "--deadlock")
    assert "checked 72 states" in done.stdout
    assert "VALID: always (true), no deadlock under tso" in memfence("verify", path, PROGRAM).stdout


def test_verify_alone_leaves_no_file(tmp_path: Path) -> None:
    done = memfence("check", Path(PROGRAM).resolve(), "--verify", "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    jsonschema.validate(found, json_schema("check"))
    assert found["proof"]["file"] is None
    assert found["proof"]["verification"]["valid"] is True
    assert list(tmp_path.iterdir()) == []


def test_the_proof_of_another_program_is_refused(proof: Path) -> None:
    done = memfence("verify", proof, "examples/peterson.pml")
    assert done.returncode == 1
    assert "REFUSED: the certificate is about another program" in done.stdout


def test_an_edited_program_is_another_program(proof: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited.pml"
    text = Path(PROGRAM).read_text()
    edited.write_text(text.replace("seen == 7", "seen == 8"))
    (tmp_path / "memfence.h").write_text(Path("examples/memfence.h").read_text())
    assert edited.read_text() != text
    assert memfence("verify", proof, edited).returncode == 1


def test_what_is_no_certificate_is_bad_input(tmp_path: Path, proof: Path) -> None:
    damaged = tmp_path / "damaged.mfc"
    damaged.write_bytes(proof.read_bytes()[:-1])
    for path in ("README.md", damaged, tmp_path / "none.mfc"):
        done = memfence("verify", path, PROGRAM)
        assert done.returncode == 3
        assert done.stderr.startswith(f"error[MF304]: `{path}` is not a certificate: ")
        assert json.loads(memfence("verify", path, PROGRAM, "--json").stdout)["diagnostics"][0]["code"] == "MF304"


def test_a_certificate_that_does_not_fit_into_memory_is_said_to_be_too_large(
    proof: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memfence.api import verify
    from memfence.diagnostics import InputError

    monkeypatch.setattr(verify.Limits, "memory_bytes", 0)
    with pytest.raises(InputError, match="do not fit"):
        verify.verify(proof, PROGRAM)


@pytest.mark.parametrize("command", ["valid", "refused"])
def test_json_follows_its_schema(proof: Path, command: str) -> None:
    done = memfence("verify", proof, PROGRAM if command == "valid" else "examples/peterson.pml", "--json")
    found = json.loads(done.stdout)
    jsonschema.validate(found, json_schema("verify"))
    assert found["valid"] is (command == "valid")


def test_a_violation_has_no_certificate(tmp_path: Path) -> None:
    path = tmp_path / "proof.mfc"
    done = memfence("check", "examples/peterson.pml", "--certificate", path, "--verify")
    assert done.returncode == 1
    assert "proof   none: the answer is not a proof" in done.stdout
    assert not path.exists()


@pytest.mark.parametrize("said", ["--quiet", "--json"])
def test_that_nothing_is_written_is_said_aside_too(tmp_path: Path, said: str) -> None:
    done = memfence("check", "examples/peterson.pml", "--certificate", tmp_path / "proof.mfc", said)
    assert "proof   none: the answer is not a proof" in done.stderr


def test_a_proof_of_a_patch_needs_a_patch(tmp_path: Path) -> None:
    (tmp_path / "wrong.pml").write_text("active proctype P() { assert(false) }\n")
    done = memfence("fix", tmp_path / "wrong.pml", "--certificate", tmp_path / "proof.mfc")
    assert "proof.mfc` was not written: nothing was fixed" in done.stderr
    assert not (tmp_path / "proof.mfc").exists()


@needs_clang
def test_a_witness_needs_a_run_that_fails(tmp_path: Path) -> None:
    (tmp_path / "right.c").write_text("int main(void) { return 0; }\n")
    done = memfence("check", tmp_path / "right.c", "--model", "sc", "--witness", tmp_path / "w.yml")
    assert "w.yml` was not written: no run was found that fails at a step" in done.stderr
    assert not (tmp_path / "w.yml").exists()


def test_a_place_where_nothing_can_be_written_is_refused_before_the_search() -> None:
    assert memfence("check", PROGRAM, "--certificate", "/nonexistent/proof.mfc").returncode == 2


def test_the_proof_of_a_fix_is_about_the_text_with_its_fences(tmp_path: Path) -> None:
    fixed, proof = tmp_path / "fixed.pml", tmp_path / "proof.mfc"
    (tmp_path / "memfence.h").write_text(Path("examples/memfence.h").read_text())
    done = memfence("fix", "examples/peterson.pml", "-o", fixed, "--certificate", proof, "--verify")
    assert done.returncode == 0, done.stderr
    assert "checked" in done.stdout
    assert memfence("verify", proof, fixed).returncode == 0
    assert memfence("verify", proof, "examples/peterson.pml").returncode == 1


@pytest.mark.parametrize("verb", ["check", "fix"])
def test_the_page_says_that_the_answer_was_checked(verb: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = memfence(verb, PROGRAM, "--verify", "--html", page)
    assert done.returncode == 0, done.stderr
    assert "without the engines: 44 states, native checker" in page.read_text()
    assert memfence(verb, PROGRAM, "--html", page).returncode == 0
    assert "without the engines" not in page.read_text()
