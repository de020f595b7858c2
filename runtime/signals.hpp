// Crashes, and threads that never come back.
#pragma once

namespace memfence::running {

// Writes to remembered pages are admitted; any other fault on a fiber ends the execution with a finding. A fiber that runs
// for `seconds` without a step does so, too.
void take_over_signals(double seconds);

}  // namespace memfence::running
