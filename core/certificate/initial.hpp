// Every initial state of a program.
#pragma once

#include <functional>

#include "certificate/program.hpp"

namespace memfence::certificate {

// Every choice of initial values, as a state of so many places with empty buffers, as long as `visit` says to go on.
void for_each_initial(const Program& program, std::size_t places, const std::function<bool(const Number*)>& visit);
// The one with this number in the same order, from 0 on; none: there are fewer.
std::optional<std::vector<Number>> nth_initial(const Program& program, std::size_t places, std::uint64_t number);

}  // namespace memfence::certificate
