"""What the functions do whose code is not in the program: threads, locks, the heap, SV-COMP's `__VERIFIER_*`."""
