// From one stack to another: the callee-saved registers are kept on the stack that is left.
#pragma once

extern "C" {
// Keep the present stack pointer in `*from` and go on where `to` was left.
void memfence_switch(void** from, void* to);
// The second half of a switch: with the stack pointer set to one that was kept, go on there.
void memfence_resume();
// Call `main` with a frame that begins 256 bytes below the top of the stack: debug information says where in it its variables
// are (binary/places.py).
int memfence_call_main(int (*main)(int, char**, char**), int argc, char** argv, char** environment);
}
