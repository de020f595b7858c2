// Whether this process explores its program, or just runs it.
#pragma once

namespace memfence::running {

// Asked from the first allocation on, before there is an environment.
bool is_explored();
// Whether it will be, and constructors of the program run now.
bool is_before_main();

}  // namespace memfence::running
