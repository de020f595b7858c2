// Memory that the program has allocated and not freed when it ends, and that no static variable leads to.
#pragma once

#include <vector>

#include "own_heap.hpp"

namespace memfence::running {

struct Leak {
  void* pc;
  std::size_t bytes;
  std::vector<int> steps;  // an execution that shows it
};

class Leaks {
 public:
  // An execution has come to its end.
  void look(const std::vector<int>& steps);

  std::vector<Leak> all;  // each place once

 private:
  bool is_new(std::size_t signature);

  std::vector<std::size_t> signatures_;  // of what was left, in executions before
};

}  // namespace memfence::running
