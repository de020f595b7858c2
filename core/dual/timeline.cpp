#include "dual/timeline.hpp"

#include <algorithm>

#include "machine/index.hpp"

namespace memfence::dual {

void Timeline::take(int process, int edge, int earliest, bool is_change) {
  int& reached = reached_[at(process)];
  reached = std::max(reached, earliest);
  runs_[at(process)].push_back({edge, reached, is_change});
}

std::vector<TsoStep> Timeline::in_order() const {
  std::vector<TsoStep> steps;
  std::vector<std::size_t> done(runs_.size(), 0);
  for (int time = 0; time <= now(); ++time) {
    for (int p = 0; p < static_cast<int>(runs_.size()); ++p) {
      const auto& run = runs_[at(p)];
      auto& n = done[at(p)];
      while (n < run.size() && run[n].time <= time && !run[n].is_change) steps.push_back({p, run[n++].edge});
    }
    if (time == now()) break;
    const auto [process, by_locked_step] = changes_[at(time)];
    steps.push_back({process, by_locked_step ? runs_[at(process)][done[at(process)]++].edge : -1});
  }
  return steps;
}

}  // namespace memfence::dual
