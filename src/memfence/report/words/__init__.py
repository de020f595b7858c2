"""Evidence as sentences: the only place that turns what was found into words."""
