"""Every engine, by name. To add one, write it beside the others and add a line here: the tests then hold it to
agreeing with all the others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import cast

from memfence.engines.engine import Engine
from memfence.tasks.task import Task

_CLASSES = {
    "explicit": ("explicit", "ExplicitEngine"),
    "symbolic": ("symbolic", "SymbolicEngine"),
    "dual": ("dual", "DualEngine"),
    "any number": ("parameterised", "ParameterisedEngine"),
    "partial coherence": ("partial_coherence", "PartialCoherenceEngine"),
    "control flow": ("unreachable", "UnreachableEngine"),
    "one process": ("one_process", "OneProcessEngine"),
    "two processes": ("two_processes", "TwoProcessesEngine"),
    "TSO under-approximation": ("tso_underapproximation", "TsoUnderapproximationEngine"),
    "delay-bounded": ("delay_bounded", "DelayBoundedEngine"),
    "axiomatic": ("axiomatic.engine", "AxiomaticEngine"),
    "graphs": ("graphs", "GraphsEngine"),
    "executions": ("graphs", "ExecutionsEngine"),
    "rc11 monitor": ("rc11.engine", "MonitorEngine"),
    "implied": ("implied", "ImpliedEngine"),
    "sc attacks": ("attacks", "AttackEngine"),
    "sc races": ("races", "RaceEngine"),
    "program orders": ("program_orders", "ProgramOrderEngine"),
    "explicit non-SC states": ("non_sc_states", "NonScStateEngine"),
    "symbolic non-SC states": ("non_sc_states", "UnboundedNonScStateEngine"),
    "buchi": ("emptiness", "EmptinessEngine"),
    "fair buffers": ("fair_buffers", "FairBuffersEngine"),
    "cluster": ("cluster.engine", "ClusterEngine"),
}
"""Module and class: imported when first needed, since a small check needs one of them."""

ENGINES = tuple(_CLASSES)


@cache
def engine_named(name: str) -> Engine:
    module, class_name = _CLASSES[name]
    return cast(Engine, getattr(import_module(f"memfence.engines.{module}"), class_name)())


def engines_for(task: Task) -> Iterator[Engine]:
    """The engines that have no obstacle to the task."""
    for name in ENGINES:
        engine = engine_named(name)
        if engine.obstacle(task) is None:
            yield engine
