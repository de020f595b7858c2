#include "dual/path.hpp"

#include <deque>

#include "machine/index.hpp"

namespace memfence::dual {

namespace {

struct Node {
  int state, stage;
  auto operator<=>(const Node&) const = default;
};
using Next = std::map<Node, std::pair<Node, int>>;

std::vector<Taken> path(const Next& next, Node here) {
  std::vector<Taken> taken;
  while (true) {
    const auto& [after, by] = next.at(here);
    if (after.stage < 0) return taken;
    taken.push_back({here.state, after.state, by});
    here = after;
  }
}

}  // namespace

// Backwards from the targets, at stage 0, through the deletions; the last stage comes before the step with the label.
std::optional<std::vector<Taken>> find_path(const ProcessGraph& graph, const PathQuery& query,
                                            const std::function<bool(const Label&)>& is_free) {
  const int last = query.label < 0 ? 0 : query.undeleted + 1;
  Next next;
  std::deque<Node> queue;
  const auto visit = [&](Node node, Node after, int by) {
    if (next.try_emplace(node, after, by).second) queue.push_back(node);
  };
  for (const int t : query.targets) visit({t, 0}, {t, -1}, silent_step);
  while (!queue.empty()) {
    const Node here = queue.front();
    queue.pop_front();
    if (here.stage == last && here.state == query.from) return path(next, here);
    for (const int before : graph.silent[at(here.state)]) visit({before, here.stage}, here, silent_step);
    if (here.stage < last - 1)
      for (const int before : graph.undeleted[at(here.state)]) visit({before, here.stage + 1}, here, deletion);
    for (const ProcessGraph::Back& back : graph.back[at(here.state)]) {
      if (here.stage == last && is_free(graph.labels[at(back.label)])) visit({back.source, last}, here, back.label);
      if (here.stage == last - 1 && back.label == query.label) visit({back.source, last}, here, back.label);
    }
  }
  return std::nullopt;
}

}  // namespace memfence::dual
