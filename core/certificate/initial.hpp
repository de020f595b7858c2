// The states in which a program starts.
#pragma once

#include <functional>

#include "certificate/layout.hpp"

namespace memfence::certificate {

// Every choice of initial values, as long as `visit` says to go on.
void for_each_initial(const Program& program, const Layout& layout, const std::function<bool(const Number*)>& visit);

}  // namespace memfence::certificate
