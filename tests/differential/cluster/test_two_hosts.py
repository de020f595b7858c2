"""Two hosts and a network between them, played by network namespaces; Ray in both, with token authentication."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from memfence.cluster.session import SETTINGS

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
ADDRESSES = ("10.231.7.1", "10.231.7.2")
HEAD = f"{ADDRESSES[0]}:6379"
STORE = "--object-store-memory=100000000"
QUESTION = ("check", "examples/lamport_fast.pml", "--model", "pso", "--buffer-bound", "2", "--json")


def ip(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, timeout=20, check=False)


class Hosts:
    """Namespaces with one address each, and Ray in both."""

    def __init__(self, folder: Path) -> None:
        self.names = [f"memfence{os.getpid()}{end}" for end in "ab"]
        self.folder = folder
        token = folder / "token"
        token.write_text("0123456789abcdef" * 2)
        self.environment = {**os.environ, **SETTINGS, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}

    def begin(self) -> None:
        for name in self.names:
            if (done := ip("netns", "add", name)).returncode != 0:
                pytest.skip(f"network namespaces are not allowed here: {done.stderr.strip()}")
        first, second = self.names
        ends = [f"mf{os.getpid()}{end}" for end in "ab"]
        link = ip("link", "add", ends[0], "netns", first, "type", "veth", "peer", "name", ends[1], "netns", second)
        if link.returncode != 0:
            pytest.skip(f"virtual networks are not allowed here: {link.stderr.strip()}")
        for name, end, address in zip(self.names, ends, ADDRESSES, strict=True):
            assert ip("-n", name, "addr", "add", f"{address}/24", "dev", end).returncode == 0
            for device in ("lo", end):
                assert ip("-n", name, "link", "set", device, "up").returncode == 0
        head = ("--head", "--port=6379", "--include-dashboard=false", f"--temp-dir={self.folder / 'ray'}")
        for number, options in enumerate((head, (f"--address={HEAD}",))):
            own = (f"--node-ip-address={ADDRESSES[number]}", "--num-cpus=1", STORE)
            done = self.run(number, str(BIN / "ray"), "start", *options, *own)
            assert done.returncode == 0, done.stdout + done.stderr

    def run(self, number: int, *command: str, **others: str) -> subprocess.CompletedProcess[str]:
        """A command on one of the hosts."""
        return subprocess.run(
            ["ip", "netns", "exec", self.names[number], *command], capture_output=True, text=True, timeout=120,
            check=False, cwd=ROOT, env={**self.environment, **others},
        )  # fmt: skip

    def end(self) -> None:
        for name in self.names:
            for process in ip("netns", "pids", name).stdout.split():
                with suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)
            ip("netns", "del", name)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'memfence[cluster]'")
    if shutil.which("ip") is None:
        pytest.skip("there is no `ip` to make networks with")
    two = Hosts(tmp_path_factory.mktemp("h"))
    try:
        two.begin()
        yield two
    finally:
        two.end()


def asked(hosts: Hosts, *options: str, **others: str) -> subprocess.CompletedProcess[str]:
    return hosts.run(0, sys.executable, "-m", "memfence", *QUESTION, *options, **others)


def test_two_hosts_answer_as_one_does(hosts: Hosts) -> None:
    shared, alone = asked(hosts, "--cluster", HEAD), asked(hosts, "--engine", "explicit")
    assert shared.returncode == alone.returncode, shared.stderr
    for key in ("verdict", "bound", "finding"):
        assert json.loads(shared.stdout)[key] == json.loads(alone.stdout)[key]


def test_the_second_host_has_a_part_of_the_search(hosts: Hosts) -> None:
    nodes = "import ray; ray.init(address='{}', logging_level='ERROR'); print([n['Alive'] for n in ray.nodes()])"
    done = hosts.run(0, sys.executable, "-c", nodes.format(HEAD))
    assert done.stdout.strip().endswith("[True, True]"), done.stderr
    counted = json.loads(asked(hosts, "--cluster", HEAD, "--forbid", "x == 9").stdout)
    assert counted["stats"]["sent"] > 0


def test_without_the_token_there_is_no_answer(hosts: Hosts) -> None:
    done = asked(hosts, "--cluster", HEAD, RAY_AUTH_MODE="disabled", RAY_AUTH_TOKEN_PATH="/nowhere")
    assert done.returncode == 2
    assert "no Ray cluster at" in " ".join(done.stderr.split())
