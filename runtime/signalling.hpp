// Threads that sleep until they are signalled, at a condition variable or at a futex.
#pragma once

#include "world.hpp"

namespace memfence::running {

// Whether the thread, which waits, may take a signal.
bool is_signalled(const Fiber& fiber);

// How a wait ends. Spurious: nobody has signalled, and the time is not over. There may be several ways for that.
struct Awaited {
  bool is_signalled = false, is_spurious = false;
  int choice = 0;
};

// Wait with this wish, whose object is where signals are sent to, until there is a signal, and take it; or until the wish
// lets the thread go on without.
Awaited await_signal(const Wish& wish);

// The same as events of a graph, where `me.waits_on` is set already: whether there was a signal. Without one the thread wakes
// up for no reason, or since its time is over.
bool await_signal_in_graph(void* object, Synchronisation kind, const char* waits, const char* wakes_up, void* pc);

}  // namespace memfence::running
