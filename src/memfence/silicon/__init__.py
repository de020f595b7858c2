"""Programs on the processor at hand: tests under stress, what was seen beside what is allowed, what fences cost."""
