"""Linear temporal logic: `formula` and `parser` (text), `simplify`, `translate` and `reduce` (automata), `fairness`.

`evaluate` is the slow twin of all of them. Nothing here knows programs beyond the predicates that atoms stand for.
"""
