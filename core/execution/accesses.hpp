// A step tried under SC: whether it is possible, and which variables it reads and writes.
#pragma once

#include <algorithm>
#include <vector>

#include "execution/recorded_edge.hpp"

namespace memfence {

// What became of a step that was tried under SC.
struct Tried {
  bool happened = false;   // the transition with the last access was possible
  bool completed = false;  // so were the local steps fused behind it, and nothing failed
  bool failed = false;
};

// A step that fails has read; it has not written, and what it wrote itself it has not read.
inline void keep_reads(std::vector<Access>& accesses) {
  std::vector<Access> kept;
  std::vector<int> written;
  for (const Access& a : accesses) {
    if (a.writes())
      written.push_back(a.address);
    else if (std::find(written.begin(), written.end(), a.address) == written.end())
      kept.push_back(a);
  }
  accesses = std::move(kept);
}

// Run `edge` under SC, keeping its accesses in order. The changes stay in `w`; locations move only if it completed. A step
// that fails counts as happened: its reads are accesses like others, and nothing of its process follows.
template <class Memory>
Tried try_edge(const Machine& m, const Edge& edge, Work& w, Memory& memory, std::vector<Access>& accesses) {
  accesses.clear();
  const std::size_t mark = w.mark();
  const Recorded ran = run_recorded(m, edge, w, memory, [&](const Access& a) {
    if (a.touches_memory()) accesses.push_back(a);
  });
  if (ran.done < 0) return {};
  if (ran.outcome == Outcome::Failed && ran.done < edge.required) {
    w.rollback(mark);
    keep_reads(accesses);
  }
  const bool failed = ran.outcome == Outcome::Failed;
  return {ran.done >= edge.required || failed, ran.outcome == Outcome::Done, failed};
}

}  // namespace memfence
