"""Makes the shared modules of this folder (`corpus`, `canonical`, ...) importable from every test."""
