"""Is every RC11 execution graph of a program one of SC? Decided by a search of SC states with a finite monitor.

`single_events` cuts the program into steps of one event each, `events` names these, `waiting` says which reads matter,
`columns` what has to be remembered, `rows` where, `emission` how; `monitored` puts the program together that the SC
search is asked about, and `engine` asks. The theory is in docs/theory/rc11-robustness.md.
"""
