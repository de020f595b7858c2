// Processes, slots, locations and states are numbered by int, since -1 stands for none; containers are indexed by size.
#pragma once

#include <cstddef>

namespace memfence {

inline std::size_t at(int number) { return static_cast<std::size_t>(number); }

}  // namespace memfence
