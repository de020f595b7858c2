"""What the readers of several languages share: grammars, limits, and syntax errors that say what is wrong and where."""
