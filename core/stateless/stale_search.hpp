// Whether a process could take its next step with stale values: possible under TSO, but in no SC execution.
//
// The paper's programs always go on after a load. Ours may load and test in one step: then a stale value counts only if
// some edge of the process goes through with it, whether or not one does with the present value.
#pragma once

#include <optional>

#include "models/semantics.hpp"
#include "stateless/executor.hpp"

namespace memfence {

class StaleSearch {
 public:
  StaleSearch(const Machine& m, const Sc& memory) : machine_(m), memory_(memory) {}

  // For the step along edge `number` from the state in `work`. `work` is left as it was.
  std::optional<StaleStep> find(int number, Work& work, Monitor& monitor);

 private:
  struct Decided {
    int variable;
    std::size_t seen;
    Value value;
  };
  bool search(const Edge& edge, Work& work, Monitor& monitor);
  bool judge(Monitor& monitor);

  const Machine& machine_;
  const Sc& memory_;
  std::vector<Decided> decided_;
  std::vector<Access> accesses_;
  std::vector<MemoryEvent> events_;
  std::vector<std::size_t> seen_;
};

inline StepShape shape_of(const Edge& edge) { return {edge.process, edge.locked, edge.partner, edge.partner_locked}; }

}  // namespace memfence
