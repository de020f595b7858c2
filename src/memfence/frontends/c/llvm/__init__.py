"""Our own reader of LLVM's textual IR, as far as C and C++ front ends produce it: types, constants, instructions, debug information."""
