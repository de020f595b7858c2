"""Proofs in files: `writer` makes them with the engines, `checker` believes nothing that the engines say."""
