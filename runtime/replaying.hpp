// A schedule that was saved, taken again step by step. Whatever it says, the report is about what the program does now.
#pragma once

#include "options.hpp"

namespace memfence::running {

// `descriptor`: an open file with four lists of numbers, each with its length before it: parent and index of each thread,
// address and size of each shared cell, loads in loops that wait, and the steps. Negative steps: stores that reach memory.
void replay(const Options& options, int descriptor);

}  // namespace memfence::running
