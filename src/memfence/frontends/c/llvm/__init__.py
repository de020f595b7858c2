"""Our own reader of textual LLVM IR, as far as C and C++ need it: types, constants, instructions, debug information."""
