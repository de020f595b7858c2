// Configurations as they stand in certificates: sets of controls by number, and messages written out.
#pragma once

#include "certificate/dual_rules.hpp"

namespace memfence::certificate {

struct PlainConfiguration {
  std::vector<int> sets;
  Memory memory;
  std::vector<std::vector<std::pair<Facts, bool>>> fifos;  // messages: what they say, and whether they are own
  std::vector<int> kinds;
};

// From and to the configurations of some rules. `sets`: what the numbers stand for, on either way.
class PlainForm {
 public:
  explicit PlainForm(DualRules& rules) : rules_(rules) {}

  void add_set(std::vector<Control> controls) { sets_.push_back(std::move(controls)); }
  const std::vector<std::vector<Control>>& sets() const { return sets_; }
  // Nothing where it is not one of the program: processes that are not there, or not as many as there are.
  std::optional<Configuration> read(const PlainConfiguration& plain);
  PlainConfiguration write(const Configuration& c);

 private:
  DualRules& rules_;
  std::vector<std::vector<Control>> sets_;
  std::map<std::pair<int, int>, int> read_, written_;  // kind and number of a set, each way
};

}  // namespace memfence::certificate
