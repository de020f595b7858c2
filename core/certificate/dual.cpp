#include "certificate/dual.hpp"

namespace memfence::certificate {

bool DualChecker::add(Configuration c, std::vector<int> below) {
  if (!rules_.is_one(c)) return false;
  known_.add(c);
  all_.push_back(std::move(c));
  below_.push_back(std::move(below));
  return true;
}

std::pair<Condition, Configuration> DualChecker::check() {
  std::pair<Condition, Configuration> found{Condition::None, {}};
  const auto require = [&](Condition condition, const std::vector<int>& likely) {
    return [this, &found, &likely, condition](const Configuration& c) {
      if (known_.covering(c, likely) != Above::kNobody) return true;
      found = {condition, c};
      return false;
    };
  };
  for (const std::vector<int>& likely : below_)
    for (const int number : likely)
      if (number < 0 || static_cast<std::size_t>(number) >= all_.size())
        throw std::invalid_argument("there is no such configuration");
  const std::vector<int> nobody;
  if (!rules_.bad(require(Condition::Bad, nobody))) return found;  // Condition 1: it holds whatever is bad.
  for (std::size_t n = 0; n < all_.size(); ++n) {
    if (rules_.is_initial(all_[n])) return {Condition::Initial, all_[n]};  // Condition 2: but no initial configuration.
    // Condition 3: and nothing outside leads into it.
    if (!rules_.before(all_[n], require(Condition::Closed, below_[n]))) return found;
  }
  return found;
}

}  // namespace memfence::certificate
