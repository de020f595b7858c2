"""The abstract machine that runs LLVM IR as far as values are known, and leaves behind the steps that are not.

What is known before the program runs (constants, addresses, loop counters, who creates which thread) is computed here;
what is read from shared memory becomes a register of the program that the engines explore.
"""
