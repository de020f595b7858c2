#include "certificate/variant.hpp"

#include <algorithm>

namespace memfence::certificate {

namespace {

bool is_fence(const Op& op) { return op.kind == OpKind::Mfence || op.kind == OpKind::Sfence || op.kind == OpKind::Nothing; }

bool is_locked_by_itself(const Op& op) {
  return op.kind == OpKind::Modify || (op.kind == OpKind::Store && op.reading == StoreReading::Locked);
}

// A step of its own on the way to where the step `number` leads. Returns its number.
int insert_behind(Process& process, int number, OpKind kind) {
  Transition& step = process.transitions[static_cast<std::size_t>(number)];
  Transition fence;
  fence.source = static_cast<int>(process.locations.size());
  fence.target = step.target;
  fence.ops.emplace_back().kind = kind;
  step.target = fence.source;
  const int added = static_cast<int>(process.transitions.size());
  process.locations.emplace_back();
  process.leaving.push_back({added});
  process.transitions.push_back(std::move(fence));
  return added;
}

// Every place is one that its process may stand at: looks at locations know the new ones, where nobody has a name for them.
void extend_looks(Program& program) {
  for (Node& node : program.nodes)
    if (node.kind == Node::Kind::At)
      node.locations.resize(program.processes[static_cast<std::size_t>(node.place)].locations.size(), 0);
}

}  // namespace

std::optional<Variant> variant(Program program, const std::vector<Site>& sites, const std::vector<char>& made) {
  std::vector<std::pair<int, int>> fences;
  for (std::size_t n = 0; n < sites.size(); ++n) {
    const Site& site = sites[n];
    for (const auto& [p, number] : site.places) {
      Process& process = program.processes[static_cast<std::size_t>(p)];
      Transition& step = process.transitions[static_cast<std::size_t>(number)];
      if (site.kind == Site::Kind::Locked) {
        if (step.is_marked != site.is_chosen) return std::nullopt;
        step.is_marked = made[n] != 0;
        step.locked = step.is_marked || std::any_of(step.ops.begin(), step.ops.end(), is_locked_by_itself);
      } else if (site.is_chosen) {
        if (step.ops.empty() || step.is_marked || !std::all_of(step.ops.begin(), step.ops.end(), is_fence)) return std::nullopt;
        fences.emplace_back(p, number);
        if (made[n] == 0) step.ops.clear();
      } else if (made[n] != 0) {
        fences.emplace_back(p,
                            insert_behind(process, number, site.kind == Site::Kind::Mfence ? OpKind::Mfence : OpKind::Sfence));
      }
    }
  }
  extend_looks(program);
  Variant found{std::move(program), {}};
  for (const auto& [p, number] : fences) {
    const Transition& fence =
        found.program.processes[static_cast<std::size_t>(p)].transitions[static_cast<std::size_t>(number)];
    found.passing[{p, fence.source}] = fence.target;
  }
  return found;
}

}  // namespace memfence::certificate
