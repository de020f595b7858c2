"""Promela, the language of Spin, without channels: globals are shared memory, locals are registers.

The way of the text: `tokens`, `preprocess` (`#define`, `#include`), `inlines`, `reader` (grammar) to `syntax`; then
`declarations`, `instances` (which processes exist), `statements`, `properties` (`ltl`), all put together by `lowering`.
`edits` writes fences back. Where memfence and Spin differ is written down in docs/guide/promela.md.

Processes are called `P`, or `P_n` with Spin's process number n where there are several of one proctype.
"""

from memfence.frontends.promela.edits import insert_fences
from memfence.frontends.promela.lowering import parse

__all__ = ["insert_fences", "parse"]
