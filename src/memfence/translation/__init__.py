"""Programs written out for other tools: Promela, DVE, Graphviz, the instrumented programs of the papers."""
