#include "machine/machine.hpp"

#include <algorithm>

namespace memfence {

// Only the remainders are subtracted: `value - lo` may need more bits than there are.
Value Slot::wrapped(Wide value) const {
  const Wide size = Wide{hi} - lo + 1;
  Wide offset = (value % size - lo % size) % size;
  if (offset < 0) offset += size;
  return static_cast<Value>(lo + offset);
}

void Machine::finish() {
  leaving.clear();
  halted_.clear();
  for (const Process& p : processes) {
    leaving.emplace_back(static_cast<std::size_t>(p.locations));
    halted_.emplace_back(static_cast<std::size_t>(p.locations), std::uint8_t{1});
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& e = edges[i];
    leaving[static_cast<std::size_t>(e.process)][static_cast<std::size_t>(e.source)].push_back(static_cast<int>(i));
    halted_[static_cast<std::size_t>(e.process)][static_cast<std::size_t>(e.source)] = 0;
    if (e.partner >= 0) halted_[static_cast<std::size_t>(e.partner)][static_cast<std::size_t>(e.partner_source)] = 0;
  }
}

int Machine::matching_edge(int edge, int process) const {
  const auto& mine = processes[static_cast<std::size_t>(edges[static_cast<std::size_t>(edge)].process)].edges;
  const auto place = std::find(mine.begin(), mine.end(), edge) - mine.begin();
  return processes[static_cast<std::size_t>(process)].edges[static_cast<std::size_t>(place)];
}

}  // namespace memfence
