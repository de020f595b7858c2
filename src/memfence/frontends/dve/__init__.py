"""DVE, the language of DiVinE 2: `reader` gives the syntax, `names` the symbols, `lowering` and `steps` the IR.

Start with `syntax`. Where DiVinE 2 and 3 differ, the meaning is that of DiVinE 2, which counted the states of BEEM,
except for buffered channels: there the message passes before the effects, as in a rendezvous and in DiVinE 3.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.diagnostics import InputError
from memfence.frontends.dve.fences import insert_fences
from memfence.frontends.dve.lowering import lower_model
from memfence.frontends.dve.names import Names
from memfence.frontends.dve.reader import read_expression, read_model
from memfence.frontends.dve.values import Values
from memfence.program.expressions import Expr
from memfence.program.ir import Program
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.source import SourceText


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> Program:
    """The program of a DVE model; InputError with every mistake found."""
    return lower_model(read_model(source), source, replace(options, language="dve"))


def parse_state_expression(program: Program, text: str) -> Expr:
    """A DVE expression about the states of `program`, which must come from a DVE text: `P_0.CS and x == 1`."""
    names = Names(read_model(program.source))
    expression = Values(names, None).value(read_expression(SourceText("<expression>", text)))
    if names.errors:
        raise InputError(names.errors)
    return expression


__all__ = ["insert_fences", "parse", "parse_state_expression"]
