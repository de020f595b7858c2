// From one stack to another: the callee-saved registers are kept on the stack that is left.
#pragma once

extern "C" {
// Keep the present stack pointer in `*from` and go on where `to` was left.
void memfence_switch(void** from, void* to);
// The second half of a switch: with the stack pointer set to one that was kept, go on there.
void memfence_resume();
}
