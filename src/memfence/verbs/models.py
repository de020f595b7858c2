"""The memory models as users name them, and which of them are answered by searching states."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.tasks.usage import WrongUsage

WITH_BUFFERS = ("sc", "tso", "pso")
X86 = "x86"
BY_STATES = {**{name: name for name in WITH_BUFFERS}, X86: "tso"}
"""Models that have states, and the one of them whose states these are."""
ALL_MODELS = (*BY_STATES, "rc11", "armv8")
MEANT = {
    **dict.fromkeys(("arm", "armv8-a", "arm64", "aarch64"), "armv8"),
    **dict.fromkeys(("c", "c11", "c++", "c++11", "cpp", "c20", "c++20"), "rc11"),
    **dict.fromkeys(("x86-64", "x86_64", "amd64", "x64"), X86),
}
"""Names that people try."""


def models_in(models: str | Sequence[str]) -> tuple[str, ...]:
    """The names in a list, or in a text with commas; WrongUsage for one that is none."""
    names = tuple(name.strip() for name in (models.split(",") if isinstance(models, str) else models))
    for name in names:
        if name not in ALL_MODELS and not name.endswith(".cat"):
            near = f"; did you mean {MEANT[name.lower()]!r}?" if name.lower() in MEANT else ""
            known = ", ".join(map(repr, ALL_MODELS))
            raise WrongUsage("model", f"{name!r} is not one of {known}, nor a file NAME.cat{near}")
    return tuple(dict.fromkeys(names))


def is_answered_by_states(models: Sequence[str]) -> bool:
    """Whether this is one model whose runs are searched: then there is more to ask, and no bound on loops."""
    return len(models) == 1 and models[0] in WITH_BUFFERS
