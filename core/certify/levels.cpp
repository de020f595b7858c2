#include "certify/levels.hpp"

#include <algorithm>
#include <numeric>

#include "certify/components.hpp"

namespace memfence::certificate {

namespace {

bool has_mark(const MarkSet& set, std::uint32_t mark) { return (set[mark / 64] >> (mark % 64) & 1) != 0; }

// Components one after the other, each after all that it leads to. Level n has mark n modulo the number of marks; a component
// gets the least level that is not below one it leads to, and whose mark is visited neither inside nor on the way to
// components of the same level.
class LevelFinder {
 public:
  explicit LevelFinder(const ProductGraph& graph)
      : graph_(graph),
        marks_(static_cast<std::uint32_t>(graph.product().marks())),
        component_(components(graph.pairs().size(), graph.first_edges(), [&](std::size_t edge) { return graph.target(edge); })),
        levels_(component_.size(), 0),
        inside_((marks_ + 63) / 64),
        below_(inside_.size()) {}

  bool run() {
    std::vector<std::uint32_t> members(component_.size());
    std::iota(members.begin(), members.end(), 0);
    std::stable_sort(members.begin(), members.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return component_[a] < component_[b]; });
    for (auto first = members.begin(); first != members.end();) {
      const auto last =
          std::find_if(first, members.end(), [&](std::uint32_t n) { return component_[n] != component_[*first]; });
      look_at(first, last);
      const std::optional<std::uint32_t> level = least_level();
      if (!level) return false;
      for (; first != last; ++first) levels_[*first] = *level;
    }
    return true;
  }
  // Levels that no component has got are left out.
  Levels result() {
    std::vector<std::uint32_t> used = levels_;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    Levels found;
    for (const std::uint32_t level : used) found.marks.push_back(static_cast<int>(level % marks_));
    for (const std::uint32_t level : levels_)
      found.of_pair.push_back(static_cast<std::uint32_t>(std::lower_bound(used.begin(), used.end(), level) - used.begin()));
    return found;
  }

 private:
  using Member = std::vector<std::uint32_t>::const_iterator;

  // The highest level that the component leads to, the marks on the way there, and those that are visited inside.
  void look_at(Member first, Member last) {
    std::fill(inside_.begin(), inside_.end(), 0);
    std::fill(below_.begin(), below_.end(), 0);
    base_ = 0;
    for (; first != last; ++first)
      for (std::size_t edge = graph_.first_edges()[*first]; edge < graph_.first_edges()[*first + 1]; ++edge) {
        const std::uint32_t target = graph_.target(edge);
        if (component_[target] == component_[*first]) {
          graph_.add_marks(edge, inside_);
          continue;
        }
        if (levels_[target] < base_) continue;
        if (levels_[target] > base_) std::fill(below_.begin(), below_.end(), 0);
        base_ = levels_[target];
        graph_.add_marks(edge, below_);
      }
  }
  std::optional<std::uint32_t> least_level() const {
    for (std::uint32_t level = base_; level <= base_ + marks_; ++level)
      if (!has_mark(inside_, level % marks_) && (level > base_ || !has_mark(below_, level % marks_))) return level;
    return std::nullopt;
  }

  const ProductGraph& graph_;
  std::uint32_t marks_;
  std::vector<std::uint32_t> component_, levels_;
  MarkSet inside_, below_;
  std::uint32_t base_ = 0;
};

}  // namespace

std::optional<Levels> levels_of(const ProductGraph& graph) {
  LevelFinder finder(graph);
  if (!finder.run()) return std::nullopt;
  return finder.result();
}

}  // namespace memfence::certificate
