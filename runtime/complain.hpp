// How the runtime says that it cannot go on: one record, then the process ends.
#pragma once

namespace memfence::running {

// The fault is the runtime's own.
[[noreturn]] void give_up(const char* message);

// Where records go. -1: to standard error, as plain text.
extern int report_descriptor;

}  // namespace memfence::running

// Called when the program fails: a place for a breakpoint.
extern "C" __attribute__((visibility("default"), noinline)) void memfence_failure();
