// What is to be done when a thread ends (take_over_exits.cpp), and when the process does (take_over_at_exit.cpp).
#pragma once

#include <cstdint>

namespace memfence::running {

// The thread-local variables of the thread that has ended, the last one first.
void destroy_variables();
// Its values, by the destructors of their keys.
void destroy_values();
// Keys that the execution has made.
void forget_keys();

// By `exit` or the return of `main`; by `quick_exit`; by `_exit`.
enum class Exit : std::uint8_t { Usual, Quick, AtOnce };

// Whether the program has something to run at such an end.
bool runs_at_exit(Exit exit);
void run_at_exit(Exit exit);
// What the execution has registered.
void forget_at_exit();
// That stands for all of it among the synchronisation objects.
void* exit_object();

}  // namespace memfence::running
