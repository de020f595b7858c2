"""The searches: only this folder touches the native core; what it returns is typed, and a limit is never an error."""
