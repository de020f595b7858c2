// Threads that sleep until they are signalled, at a condition variable or at a futex.
#pragma once

#include "world.hpp"

namespace memfence::running {

// Wait at `object`, and take a signal. False: there was none, and `timed` let it go on. `number`: of the cell that signals
// are steps on; -1: that of the condition variable.
bool await_signal(void* object, int number, const char* name, void* pc, bool timed);

}  // namespace memfence::running
