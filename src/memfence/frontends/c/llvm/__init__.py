"""Our own reader of LLVM's textual IR, as far as C and C++ need it: types, constants, instructions, debug facts."""
