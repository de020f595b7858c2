"""How models see C's memory orders: one module per reading, by the name in `models.catalogue`.

Each has `variants`, the choices that a compiler has: what holds must hold for each of them. A program in assembly has
made the choice.
"""
