// What is to be done when a thread ends (take_over_exits.cpp).
#pragma once

namespace memfence::running {

// The values of the thread that has ended, by the destructors of their keys.
void destroy_values();
// Keys that the execution has made.
void forget_keys();

}  // namespace memfence::running
