"""Reports as texts of one format each; no file here knows a verb. `table` lists the formats."""
