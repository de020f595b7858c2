// What is to be done when a thread ends (take_over_exits.cpp).
#pragma once

namespace memfence::running {

// The thread-local variables of the thread that has ended, the last one first.
void destroy_variables();
// Its values, by the destructors of their keys.
void destroy_values();
// Keys that the execution has made.
void forget_keys();

}  // namespace memfence::running
