// The fast checker of backward searches: the conditions of `certificates/checker/dual.py`, in the same order.
#pragma once

#include "certificate/checker.hpp"
#include "certificate/dual_rules.hpp"

namespace memfence::certificate {

class DualChecker {
 public:
  explicit DualChecker(const DualAsked& asked)
      : rules_(asked), known_(static_cast<int>(rules_.fixed()), rules_.messages(), rules_.locals()) {}

  // Take over a configuration; false if it has other processes than it may have. `below`: numbers of those that are said to
  // stand for what leads to it, which saves looking for them.
  bool add(Configuration c, std::vector<int> below);
  // The first violated condition, and the configuration that shows it.
  std::pair<Condition, Configuration> check();

  DualRules& rules() { return rules_; }
  std::size_t size() const { return all_.size(); }

 private:
  DualRules rules_;
  Above known_;
  std::vector<Configuration> all_;
  std::vector<std::vector<int>> below_;
};

}  // namespace memfence::certificate
