"""`--cluster`: what is wrong with it is said at once, with something to type."""

from __future__ import annotations

import sys

import pytest

from memfence.cluster.session import require_address, require_ray
from memfence.tasks.usage import WrongUsage
from support.command_line import memfence


@pytest.mark.parametrize("address", ["nowhere", "host:port", ":6379", "host:0", "local:0"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(WrongUsage, match="neither `local`"):
        require_address(address)


def test_an_address_where_nobody_listens_is_refused_with_what_to_start() -> None:
    with pytest.raises(WrongUsage, match=r"no cluster answers at 127\.0\.0\.1:1 .*ray start --head"):
        require_address("127.0.0.1:1")


def test_without_ray_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(WrongUsage, match="pip install 'memfence\\[cluster\\]'"):
        require_ray()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--criterion", "state-robust"], "`state-robust` is not shared"),
        (["--engine", "symbolic"], "the symbolic engine works on one"),
        (["--verify"], "the states of a proof have to be on one machine"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_machines_do_not_share_is_refused(options: list[str], said: str) -> None:
    answer = memfence("check", "examples/peterson.pml", "--cluster", "local", *options)
    assert answer.returncode == 2
    assert said in " ".join(answer.stderr.split())


@pytest.mark.parametrize(
    "command",
    [
        ("check", "examples/peterson.pml"),
        ("check", "examples/peterson.pml", "--criterion", "persistent"),
        ("fix", "examples/peterson.pml"),
        ("explore", "examples/peterson.pml"),
        ("bench", "tables", "sober-2008"),
        ("bench", "families"),
    ],
    ids=" ".join,
)
def test_a_wrong_address_is_wrong_usage(command: tuple[str, ...]) -> None:
    answer = memfence(*command, "--cluster", "nowhere")
    assert answer.returncode == 2 and "--cluster" in answer.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--criterion", "robust"], "fences for `robust` are chosen on one machine"),
        (["--ltl", "[] <> (turn == 0)"], "atomic writes are looked for on one machine"),
        (["--engine", "dual"], "the dual engine works on one"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_fences_that_machines_do_not_share_are_refused(options: list[str], said: str) -> None:
    answer = memfence("fix", "examples/peterson.pml", "--cluster", "local", *options)
    assert answer.returncode == 2
    assert said in " ".join(answer.stderr.split())
