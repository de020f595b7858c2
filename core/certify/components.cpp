#include "certify/components.hpp"

#include <algorithm>

namespace memfence::certificate {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// Tarjan's algorithm with its own stack: paths of products are as long as there are pairs.
class Tarjan {
 public:
  Tarjan(std::size_t count, const std::vector<std::size_t>& first, const std::function<std::uint32_t(std::size_t)>& target)
      : first_(first), target_(target), order_(count, kNone), low_(count, 0), component_(count, kNone) {}

  std::vector<std::uint32_t> run() {
    for (std::uint32_t root = 0; root < order_.size(); ++root)
      if (order_[root] == kNone) visit(root);
    return std::move(component_);
  }

 private:
  struct Frame {
    std::uint32_t node;
    std::size_t edge;
  };
  void enter(std::uint32_t node) {
    order_[node] = low_[node] = visited_++;
    path_.push_back(node);
    frames_.push_back({node, first_[node]});
  }
  void visit(std::uint32_t root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.edge == first_[frame.node + 1]) {
        leave(frame.node);
        continue;
      }
      const std::uint32_t to = target_(frame.edge++);
      if (order_[to] == kNone)
        enter(to);
      else if (component_[to] == kNone)
        low_[frame.node] = std::min(low_[frame.node], order_[to]);
    }
  }
  void leave(std::uint32_t node) {
    frames_.pop_back();
    if (!frames_.empty()) {
      std::uint32_t& above = low_[frames_.back().node];
      above = std::min(above, low_[node]);
    }
    if (low_[node] != order_[node]) return;
    while (component_[node] == kNone) {
      component_[path_.back()] = found_;
      path_.pop_back();
    }
    ++found_;
  }

  const std::vector<std::size_t>& first_;
  const std::function<std::uint32_t(std::size_t)>& target_;
  std::vector<std::uint32_t> order_, low_, component_, path_;
  std::vector<Frame> frames_;
  std::uint32_t visited_ = 0, found_ = 0;
};

}  // namespace

std::vector<std::uint32_t> components(std::size_t count, const std::vector<std::size_t>& first,
                                      const std::function<std::uint32_t(std::size_t)>& target) {
  return Tarjan(count, first, target).run();
}

}  // namespace memfence::certificate
