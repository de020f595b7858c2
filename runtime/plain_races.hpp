// Data races between plain accesses, neither atomic nor volatile: the compiler may merge or move them, so that what was run
// is not all that can happen. Found by happens-before, in the scouting executions that learn nothing new; a warning, no
// verdict.
#pragma once

#include <string>

#include "world.hpp"

namespace memfence::running {

struct PlainRace {
  void *first_pc, *second_pc;
  std::string first, second;  // both accesses, as they are reported
};

class PlainRaces {
 public:
  // Look through the execution that was written down last.
  void look(const List<Logged>& log);
  const std::vector<PlainRace>& all() const { return all_; }

 private:
  void add(const Logged& first, const Logged& second);

  std::vector<PlainRace> all_;
};

}  // namespace memfence::running
