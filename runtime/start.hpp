// Whether this process explores its program, or just runs it.
#pragma once

namespace memfence::running {

// Asked from the first allocation on, before there is an environment.
bool is_explored();

}  // namespace memfence::running
