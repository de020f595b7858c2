"""One question a file, one result type each. An analysis chooses engines and turns what they found into a verdict."""
