// Processes that are alike: the one state that is listed of all those that exchanging such processes makes equal. That they
// are alike is checked in `certificates/checker/abridged.py`, which says why this is enough.
#pragma once

#include "certificate/layout.hpp"

namespace memfence::certificate {

class Alike {
 public:
  // Unsupported where processes of a class have different places.
  Alike(const Program& program, const Layout& layout, const std::vector<std::vector<int>>& classes);

  // Put the processes of each class in order: by location, registers, buffers, whoever holds the bus behind its equals. The
  // bus stays with its owner.
  void sort(Number* state) const;

 private:
  // Process `process` and where its local part stands.
  struct Member {
    int process;
    std::vector<int> places;
  };
  bool is_less(const Number* state, const Member& a, const Member& b) const;
  void exchange(Number* state, const Member& a, const Member& b) const;

  std::vector<std::vector<Member>> classes_;
  int lock_at_;
};

}  // namespace memfence::certificate
