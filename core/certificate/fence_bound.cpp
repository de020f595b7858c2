#include "certificate/fence_bound.hpp"

#include <algorithm>
#include <optional>

namespace memfence::certificate {

namespace {

// One choice that grows and shrinks: which clauses it meets, and which sites are not to be chosen any more.
class ChoiceSearch {
 public:
  ChoiceSearch(const std::vector<std::vector<int>>& clauses, const std::vector<std::int64_t>& prices)
      : clauses_(clauses), prices_(prices), met_(clauses.size(), 0), is_out_(prices.size(), 0), marks_(prices.size(), 0) {}

  // Depth first, without recursion: a hostile certificate may need a choice of a hundred thousand sites.
  Bound run(std::int64_t money) {
    std::optional<Bound> found = open(money);
    while (!found && !levels_.empty()) {
      Level& level = levels_.back();
      if (level.at > 0) {  // go on without the site before
        choose(level.branches[level.at - 1], -1);
        is_out_[static_cast<std::size_t>(level.branches[level.at - 1])] = 1;
      }
      if (level.at == level.branches.size()) {
        for (const int site : level.branches) is_out_[static_cast<std::size_t>(site)] = 0;
        levels_.pop_back();
        continue;
      }
      const int site = level.branches[level.at++];
      choose(site, 1);
      found = open(level.money - prices_[static_cast<std::size_t>(site)]);
    }
    return found.value_or(Bound::Met);
  }

 private:
  // The sites of one clause that are chosen in turn, and the one that comes next.
  struct Level {
    std::vector<int> branches;
    std::size_t at;
    std::int64_t money;
  };
  // Look at the choice as it is: all is said, or it grows by a site of the smallest clause that it does not meet.
  std::optional<Bound> open(std::int64_t money) {
    if (++nodes_ >= kMostNodes) return Bound::TooManyChoices;
    const std::vector<std::size_t> left = unmet();
    if (!may_be_met(left, money)) return std::nullopt;
    if (left.empty()) return Bound::Missed;
    levels_.push_back({sites_of(left.front()), 0, money});
    return std::nullopt;
  }
  std::vector<int> sites_of(std::size_t clause) const {
    std::vector<int> sites;
    for (const int site : clauses_[clause])
      if (is_out_[static_cast<std::size_t>(site)] == 0) sites.push_back(site);
    std::sort(sites.begin(), sites.end());
    return sites;
  }
  void choose(int site, int by) {
    for (std::size_t clause = 0; clause < clauses_.size(); ++clause)
      if (std::find(clauses_[clause].begin(), clauses_[clause].end(), site) != clauses_[clause].end()) met_[clause] += by;
  }
  // The clauses that the choice does not meet, those first that have the fewest sites left.
  std::vector<std::size_t> unmet() const {
    std::vector<std::size_t> sizes(clauses_.size()), left;
    for (std::size_t clause = 0; clause < clauses_.size(); ++clause) {
      if (met_[clause] != 0) continue;
      left.push_back(clause);
      sizes[clause] = static_cast<std::size_t>(std::count_if(clauses_[clause].begin(), clauses_[clause].end(), [&](int site) {
        return is_out_[static_cast<std::size_t>(site)] == 0;
      }));
    }
    std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return sizes[a] < sizes[b]; });
    return left;
  }
  // Whether the money is enough for the cheapest sites of some clauses that have no site in common.
  bool may_be_met(const std::vector<std::size_t>& left, std::int64_t money) {
    ++mark_;
    for (const std::size_t clause : left) {
      const std::vector<int> sites = sites_of(clause);
      if (sites.empty()) return false;
      const bool is_apart =
          std::none_of(sites.begin(), sites.end(), [&](int site) { return marks_[static_cast<std::size_t>(site)] == mark_; });
      if (!is_apart) continue;
      std::int64_t cheapest = prices_[static_cast<std::size_t>(sites.front())];
      for (const int site : sites) {
        marks_[static_cast<std::size_t>(site)] = mark_;
        cheapest = std::min(cheapest, prices_[static_cast<std::size_t>(site)]);
      }
      money -= cheapest;
    }
    return money >= 0;
  }

  const std::vector<std::vector<int>>& clauses_;
  const std::vector<std::int64_t>& prices_;
  std::vector<int> met_;        // by clause: how many of its sites are chosen
  std::vector<char> is_out_;    // by site
  std::vector<std::size_t> marks_;  // by site: the last estimate that it was part of
  std::size_t mark_ = 0, nodes_ = 0;
  std::vector<Level> levels_;
};

}  // namespace

Bound check_fence_bound(const std::vector<std::vector<int>>& clauses, const std::vector<std::int64_t>& prices,
                        std::int64_t money) {
  return ChoiceSearch(clauses, prices).run(money);
}

}  // namespace memfence::certificate
