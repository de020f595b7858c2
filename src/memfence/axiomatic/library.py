"""Axiomatic models by name, and those of users' cat files: a text, and a reading of C's orders."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from memfence.axiomatic.code import EventItem, Thread
from memfence.axiomatic.model import AxiomaticModel, Tags, Variant
from memfence.models.cat.polarity import reached
from memfence.models.cat.reader import library_text, parse
from memfence.models.cat.syntax import Base, Cat
from memfence.models.catalogue import MODELS, model_of
from memfence.pipeline import read_source

PAIRS = ("amo", "lxsx")
"""A text that names them tells instructions apart by which C's read-modify-writes can be made."""


def models_named(name: str, *, language: str = "") -> tuple[AxiomaticModel, ...]:
    """The models that `name` stands for, which may be a file; `language`: the program's.

    InputError if the file cannot be read or is not a model; KeyError if there is no such name.
    """
    if name.endswith(".cat"):
        return _of_text(name, parse(read_source(name)), language)
    model = model_of(name)
    if model is None:
        raise KeyError(name)
    return _made(name, _library(model.text), _variants(model.reading, language))


def is_coherent(model: AxiomaticModel) -> bool:
    """Whether the model is known to allow only executions in which each variable by itself is sequential, and its
    read-modify-writes are atomic."""
    return any(model.cat == _library(text) for text in dict.fromkeys(one.text for one in MODELS))


@cache
def _library(text: str) -> Cat:
    return parse(library_text(f"{text}.cat"))


def _variants(reading: str, language: str) -> tuple[Variant, ...]:
    module = import_module(f"memfence.axiomatic.readings.{reading}")
    found: tuple[Variant, ...] = module.variants(language)
    return found


def _made(name: str, cat: Cat, variants: tuple[Variant, ...]) -> tuple[AxiomaticModel, ...]:
    return tuple(AxiomaticModel(name, cat, one.tags, one.name, one.rmw_by_pair) for one in variants)


def _of_text(name: str, cat: Cat, language: str) -> tuple[AxiomaticModel, ...]:
    """A text may use the names of all readings; it has the variants of the one that it is about."""
    used = {found.node.name for axiom in cat.axioms for found in reached(cat, axiom) if isinstance(found.node, Base)}
    readings = {model.reading: _variants(model.reading, language) for model in MODELS}
    chosen = _reading_with_variants(used)
    others = [variants[0].tags for reading, variants in readings.items() if reading != chosen]
    variants = readings[chosen] if chosen else (Variant(lambda thread, item: frozenset()),)
    return _made(name, cat, tuple(Variant(_all_of(*others, one.tags), one.name, one.rmw_by_pair) for one in variants))


def _reading_with_variants(used: set[str]) -> str:
    """The reading with several variants between which a text that uses these names tells; none: it tells none apart."""
    for model in MODELS:
        if used & set(model.told_apart):
            return model.reading
    return next((model.reading for model in MODELS if model.told_apart), "") if used & set(PAIRS) else ""


def _all_of(*parts: Tags) -> Tags:
    def tags(thread: Thread, item: EventItem) -> frozenset[str]:
        return frozenset().union(*(one(thread, item) for one in parts))

    return tags
