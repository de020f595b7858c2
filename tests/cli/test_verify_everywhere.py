"""`--verify` on every verb: it certifies what the verb proves, or is refused by name, with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer

from memfence.api.verified import compare_verified, explore_verified
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.result import VerifyResult
from memfence.certificates.writer.chunks import NoCertificate
from memfence.cli import main
from memfence.cli.app import VERBS, app
from memfence.cli.certifying import write_refused
from memfence.cli.exit_codes import Exit
from memfence.report.describe.compare import render_comparison
from memfence.report.describe.explore_text import explore_text
from memfence.report.schemas import json_schema
from memfence.verbs.table.writing import UNPROVED as REASONS
from support.command_line import memfence

RING = "examples/spsc_ring.pml"
ROBUST = "examples/criteria/robust_not_persistent.pml"
CERTIFY = {"check", "fix", "compare", "explore"}
NOT_ASKED = {"verify", "cc", "c++", "rustc", "bench", "help"}
"""`verify` is the verb; compilers get their options as they are; `bench` is a list of commands; `help` asks nothing."""


def options_of(verb: str) -> set[str]:
    main.add_verbs([verb])
    command = typer.main.get_command(app)
    return {name for parameter in command.commands[verb].params for name in parameter.opts}  # type: ignore[attr-defined]


@pytest.mark.parametrize("verb", sorted(set(VERBS) - NOT_ASKED))
def test_every_verb_knows_the_option(verb: str) -> None:
    assert "--verify" in options_of(verb)
    assert (verb in REASONS) != (verb in CERTIFY)


@pytest.mark.parametrize("verb", sorted(REASONS))
def test_a_verb_that_proves_nothing_says_why(verb: str) -> None:
    done = memfence(verb, "--verify", *(["x"] if verb not in ("lsp", "cost") else []))
    assert done.returncode == 2
    assert "--verify" in done.stderr and REASONS[verb].split(";")[0][:40] in " ".join(done.stderr.split())


def test_a_comparison_certifies_every_criterion_that_holds(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = memfence("compare", RING, "--verify", "--json", "--html", page)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    jsonschema.validate(found, json_schema("compare"))
    held = {name for name, row in found["criteria"].items() if row["verdict"] == "holds"}
    checked = {name for name, row in found["criteria"].items() if row.get("proof", {}).get("verification")}
    assert held == checked == {"persistent", "robust-tso", "state-robust-tso", "safety-tso"}
    assert all(found["criteria"][name]["proof"]["verification"]["valid"] for name in held)
    assert page.read_text().count("<td>checked</td>") == len(held)


def test_a_comparison_without_the_option_says_nothing_of_proofs() -> None:
    assert "proof" not in memfence("compare", RING).stdout
    assert all(
        "proof" not in row for row in json.loads(memfence("compare", RING, "--json").stdout)["criteria"].values()
    )


def test_what_cannot_be_certified_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise NoCertificate("it is too large")

    monkeypatch.setattr("memfence.api.certify.certify", never)
    found = compare_verified(RING, fences=False)
    text = render_comparison(found.comparison, found.proofs, width=120)
    assert write_refused(found.proofs.values()) is None
    assert "robust-tso has no proof that can be checked: it is too large" in text and "checked`" not in text


def test_several_programs_are_not_verified_at_once() -> None:
    done = memfence("compare", RING, ROBUST, "--verify")
    assert done.returncode == 2 and "give one file" in done.stderr


def test_an_exploration_certifies_what_follows_from_it(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = memfence("explore", ROBUST, "--verify", "--json", "--html", page)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    jsonschema.validate(found, json_schema("explore"))
    assert [proof["verification"]["valid"] for proof in found["proofs"].values()] == [True, True]
    assert "Checked" in page.read_text()
    alone = json.loads(memfence("explore", ROBUST, "--verify", "--no-monitor", "--json").stdout)
    assert set(alone["proofs"]) == {"safe"}


def test_an_exploration_that_finds_something_certifies_nothing() -> None:
    done = memfence("explore", "examples/lost_wakeup.pml", "--verify", "--json")
    assert done.returncode == 1
    (proof,) = json.loads(done.stdout)["proofs"].values()
    assert proof["missing"] == "the answer is not a proof" and proof["verification"] is None


def test_proofs_are_made_on_one_machine() -> None:
    done = memfence("explore", ROBUST, "--verify", "--cluster", "local")
    assert done.returncode == 2 and "on one machine" in done.stderr


def test_a_walk_that_is_replayed_is_not_verified(tmp_path: Path) -> None:
    done = memfence("explore", ROBUST, "--verify", "--replay", tmp_path / "none.json")
    assert done.returncode == 2 and "--verify" in done.stderr


def test_a_refused_proof_is_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(place: Path, program: Any) -> VerifyResult:
        return VerifyResult(str(place), program, None, None, Refused(Condition.CLOSED), 0.0)  # type: ignore[arg-type]

    monkeypatch.setattr("memfence.api.verify.verify", refusing)
    monkeypatch.setattr("memfence.report.describe.verify.verify_text", lambda result: "REFUSED")
    compared = compare_verified(RING, fences=False)
    assert write_refused(compared.proofs.values()) is Exit.INTERNAL
    assert render_comparison(compared.comparison, compared.proofs, width=120).count("REFUSED") == 4
    explored = explore_verified(ROBUST)
    assert write_refused(proof for _, proof in explored.proofs) is Exit.INTERNAL
    assert explore_text(explored.result, explored.proofs, width=120).count("do not rely") == 2
