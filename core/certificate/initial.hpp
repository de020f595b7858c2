// Every initial state of a program.
#pragma once

#include <functional>

#include "certificate/program.hpp"

namespace memfence::certificate {

// Every choice of initial values, as a state of so many places with empty buffers, as long as `visit` says to go on.
void for_each_initial(const Program& program, std::size_t places, const std::function<bool(const Number*)>& visit);

}  // namespace memfence::certificate
