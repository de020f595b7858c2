"""What the model of an answer is called: by its own name, and by the one that was asked about."""

from __future__ import annotations

from typing import Protocol


class AboutModel(Protocol):
    """An answer about one model with states."""

    @property
    def model(self) -> str: ...

    @property
    def asked_model(self) -> str: ...


def model_text(result: AboutModel) -> str:
    """`tso`; where x86 was asked about, `x86, which is tso`."""
    return f"{result.asked_model}, which is {result.model}" if result.asked_model else result.model


def model_title(result: AboutModel) -> str:
    """`TSO`; where x86 was asked about, `x86, which is TSO`."""
    return f"{result.asked_model}, which is {result.model.upper()}" if result.asked_model else result.model.upper()


def model_object(result: AboutModel) -> dict[str, str]:
    """The keys of `--json` about the model."""
    asked = {"asked_model": result.asked_model} if result.asked_model else {}
    return {"model": result.model, **asked}
