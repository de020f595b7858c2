"""The program itself: IR, expressions, builder and passes. Everything here is immutable and knows no memory model."""
