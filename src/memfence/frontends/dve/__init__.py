"""DVE, the language of DiVinE 2: `reader` gives the syntax, `names` the symbols, `lowering` and `steps` the IR.

Start with `syntax`. Where DiVinE 2 and 3 differ, the meaning is that of DiVinE 2, which counted the states of BEEM,
except for buffered channels: there the message passes before the effects, as in a rendezvous and in DiVinE 3.
"""

from memfence.frontends.dve.edits import insert_fences
from memfence.frontends.dve.lowering import parse

__all__ = ["insert_fences", "parse"]
