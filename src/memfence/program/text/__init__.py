"""How programs are written and read as text: expressions, properties, steps, lists of atomic writes."""
