// How one process gets from one control state to another: silent steps, deletions, free steps and at most one other.
#pragma once

#include <functional>
#include <optional>

#include "dual/process.hpp"

namespace memfence::dual {

// A step of one process on its path, from one control state to the next.
struct Taken {
  int source, target;
  int label;  // -1: silent; -2: an owned message is deleted, no step at all
};
inline constexpr int silent_step = -1, deletion = -2;

// To one of the `targets`: free steps, then the step `label`, then `undeleted` deletions. Without a label: free steps only.
struct PathQuery {
  const std::vector<int>& targets;
  int from;
  int label;
  int undeleted;
};

// `is_free`: whether a step changes nothing but the control state.
std::optional<std::vector<Taken>> find_path(const ProcessGraph& graph, const PathQuery& query,
                                            const std::function<bool(const Label&)>& is_free);

}  // namespace memfence::dual
