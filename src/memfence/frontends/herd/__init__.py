"""What litmus tests share, whatever language their threads are written in: layout, initial state, condition, fences."""
