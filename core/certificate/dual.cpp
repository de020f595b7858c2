#include "certificate/dual.hpp"

namespace memfence::certificate {

bool DualChecker::add(Configuration c) {
  if (!rules_.is_one(c)) return false;
  known_.add(c, static_cast<int>(all_.size()));
  all_.push_back(std::move(c));
  return true;
}

std::pair<Condition, Configuration> DualChecker::check() {
  std::pair<Condition, Configuration> found{Condition::None, {}};
  const auto require = [&](Condition condition) {
    return [&, condition](const Configuration& c) {
      if (known_.covers(c)) return true;
      found = {condition, c};
      return false;
    };
  };
  if (!rules_.bad(require(Condition::Bad))) return found;  // Condition 1: it holds whatever is bad.
  for (const Configuration& c : all_) {
    if (rules_.is_initial(c)) return {Condition::Initial, c};               // Condition 2: but no initial configuration.
    if (!rules_.before(c, require(Condition::Closed))) return found;  // Condition 3: and nothing outside leads into it.
  }
  return found;
}

}  // namespace memfence::certificate
