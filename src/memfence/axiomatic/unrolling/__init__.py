"""Rooms of `axiomatic.unroll`: how loops nest, which are awaits, and what the ops of a step become."""
