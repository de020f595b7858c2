// Crashes, and threads that never come back.
#pragma once

namespace memfence::running {

// Writes to remembered pages are admitted; any other fault on a fiber ends the execution with a finding. A fiber that runs
// for `seconds` without a step does so, too.
void take_over_signals(double seconds);

// Where the program called what the thread is in: the first place of the program that its stack names.
void* place_on_stack(void** top);

}  // namespace memfence::running
