"""Options that take one of a few words."""

from __future__ import annotations

from enum import StrEnum


class Model(StrEnum):
    sc = "sc"
    tso = "tso"
    pso = "pso"


class RelaxedModel(StrEnum):
    tso = "tso"
    pso = "pso"


class Colour(StrEnum):
    auto = "auto"
    always = "always"
    never = "never"


class CriterionChoice(StrEnum):
    safety = "safety"
    persistent = "persistent"
    robust = "robust"
    state_robust = "state-robust"
    trf = "trf"
    drf = "drf"


class EngineChoice(StrEnum):
    auto = "auto"
    explicit = "explicit"
    symbolic = "symbolic"
    dual = "dual"


class BoundPer(StrEnum):
    variable = "variable"
    process = "process"


class AtomicWaits(StrEnum):
    own = "own"
    all = "all"


class Minimise(StrEnum):
    COUNT = "count"
    COST = "cost"
    FIRST = "first"


class Style(StrEnum):
    fence = "fence"
    store = "store"
    asm = "asm"


class Via(StrEnum):
    tso = "tso"


class Instrument(StrEnum):
    persistence = "persistence"


class Target(StrEnum):
    promela = "promela"
    dve = "dve"
    dot = "dot"
    svg = "svg"


class Subject(StrEnum):
    program = "program"
    states = "states"
    run = "run"
