"""The seam to the native core: encoding programs, decoding states and steps, and undoing reductions in a run."""
