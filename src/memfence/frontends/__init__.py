"""The languages: a package each, all alike, and the `registry` of them.

`grammar.lark` and `reader` turn a text into `syntax`, `lowering` turns that into the IR, `edits` writes fences back
into the text; what a language needs besides has a module of its own. Packages export `parse` and `insert_fences`.
"""
