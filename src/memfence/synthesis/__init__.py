"""Where fences go: sites, clauses from counterexamples, hitting sets, and the patched text."""
