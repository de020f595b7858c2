"""What is asked, what may be spent on it, and what is answered: values that every stage behind them shares.

`task` is the question to an engine, `answer` what an engine says, `evidence` why. `options` is what users fill in,
`result` what they get. Nothing here searches, and nothing here makes sentences: `report` does.
"""
