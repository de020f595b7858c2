"""How long the largest C programs of the corpus take to read: processor seconds beside the compiler's, in turns.

`python benchmarks/c_reading.py [--before SRC] [--rounds N] [--match TEXT] [--more FILE.c DIR ...]`

Reading is everything up to the program that is searched: our part of it, in a process of its own for each, once from
the text, once as it is remembered from an earlier command. `--before`: the folder `src` of another version, read in the
same turns. `--more`: another file and the folder of its headers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory

from c_corpus import CORPUS, options_of

ROOT = Path(__file__).resolve().parents[1]
FILES = (
    "svcomp/pthread-ext/26_stack_cas_longest-2.c",
    "svcomp/pthread-ext/26_stack_cas_longest-1.c",
    "svcomp/pthread-ext/25_stack_longer-2.c",
    "svcomp/pthread-ext/13_unverif.c",
    "svcomp/pthread/queue_ok_longer.c",
    "svcomp/pthread/queue.c",
    "svcomp/pthread/stack_longest-1.c",
    "svcomp/pthread-complex/safestack_relacy.c",
    "svcomp/pthread-complex/workstealqueue_mutex-2.c",
    "genmc/correct/synthetic/barrier-transc/variants/trans.c",
    "genmc/correct/data-structures/chase-lev/variants/chase-lev0.c",
    "genmc/correct/data-structures/dq/variants/main1.c",
    "genmc/correct/data-structures/buf_ring/variants/buf_ring0.c",
    "dat3m/locks/cna.c",
    "dat3m/locks/ticket_awnsb_mutex.c",
)
LIMIT_SECONDS = 900


def rows(match: str, more: list[str]) -> list[tuple[str, dict[str, object]]]:
    """Files, and how they are read."""
    found = [(file, options_of({"file": file, "suite": file.partition("/")[0]})) for file in FILES if match in file]
    own = [(str(CORPUS / file), options) for file, options in found]
    return own + [(file, {"include": [folder]}) for file, folder in zip(more[::2], more[1::2], strict=True)]


def seconds(file: str, options: dict[str, object], before: str | None, cache: str) -> float:
    """Processor seconds of our own process, the compiler's apart."""
    child = [sys.executable, __file__, "--child", json.dumps([file, options, before])]
    environment = {**os.environ, "MEMFENCE_CACHE": cache}
    done = subprocess.run(child, capture_output=True, text=True, timeout=LIMIT_SECONDS, env=environment, check=True)
    return float(done.stdout.split()[-1])


def read_once(file: str, options: dict[str, object], before: str | None) -> None:
    import gc
    import time

    if before is not None:
        # An editable install has a finder that comes before all paths.
        sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
        sys.path.insert(0, before)
    gc.set_threshold(100_000, 50, 100)  # as commands have it
    import memfence
    from memfence.pipeline import load
    from memfence.program.load_options import COptions, LoadOptions

    assert before is None or str(memfence.__file__).startswith(before)
    if before is None:
        from memfence import cache_folder

        cache_folder.switch(on=True)
    how = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    begin = time.process_time()
    load(file, LoadOptions(language="c", c=COptions(**how)))  # type: ignore[arg-type]
    print(time.process_time() - begin)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--match", default="")
    parser.add_argument("--more", nargs="*", default=[])
    parser.add_argument("--child")
    given = parser.parse_args()
    if given.child:
        read_once(*json.loads(given.child))
        return
    print("| program | before | from the text | ratio | remembered |\n|---|--:|--:|--:|--:|")
    ratios = []
    for file, options in rows(given.match, given.more):
        old, new, again = [], [], []
        for _ in range(given.rounds):
            with TemporaryDirectory() as cache:
                old += [seconds(file, options, given.before, "none")] if given.before else []
                new.append(seconds(file, options, None, cache))
                again.append(seconds(file, options, None, cache))
        ratio = min(old) / min(new) if old else 0.0
        ratios += [ratio] if old else []
        name = "/".join(Path(file).parts[-3:]) if "variants" in file else Path(file).name
        print(f"| {name} | {min(old, default=0):.2f} | {min(new):.2f} | {ratio:.1f} | {min(again):.3f} |", flush=True)
    if ratios:
        print(f"\nGeometric mean of the ratios: {exp(sum(map(log, ratios)) / len(ratios)):.2f}.")


if __name__ == "__main__":
    main()
