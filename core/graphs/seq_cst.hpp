// The partial order of seq_cst accesses and fences of RC11: `psc-base | psc-fences` has no cycle.
//
// Relations as rows of bits over all events of the graph. That is as slow as it is plain; it is asked only where a seq_cst
// event, or an event beside seq_cst fences, leads by modification order or from-reads to another (models.hpp).
#pragma once

#include "graphs/execution_graph.hpp"

namespace memfence::graphs {

bool is_seq_cst_consistent(const ExecutionGraph& graph);

}  // namespace memfence::graphs
