"""Parts of reports: tables, drawings, runs step by step, the source with marks."""
