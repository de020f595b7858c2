"""What a shell proposes for a word that has begun: codes, languages, examples."""

from __future__ import annotations


def codes(begun: str) -> list[str]:
    """Diagnostic codes."""
    from memfence.codes import Code

    return [code.id for code in Code if code.id.startswith(begun.upper())]


def languages(begun: str) -> list[str]:
    """Names of languages."""
    from memfence.api.translate import language_names

    return [name for name in language_names() if name.startswith(begun)]


def example_names(begun: str) -> list[str]:
    """Names of examples."""
    from memfence.api.examples import example_texts

    return [name for name, _ in example_texts() if name.startswith(begun)]


def models(begun: str) -> list[str]:
    """The models that are not in the list yet."""
    from memfence.verbs.models import ALL_MODELS

    *before, last = begun.split(",")
    names = [name for name in ALL_MODELS if name.startswith(last) and name not in before]
    return [",".join([*before, name]) for name in names]
