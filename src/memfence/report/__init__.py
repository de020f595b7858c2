"""Results as text, JSON, HTML, SARIF: pure functions from a result to a string. Nothing here prints."""
