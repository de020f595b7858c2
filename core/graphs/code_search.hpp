// All executions of unrolled code under a model: which go wrong, and how they end.
#pragma once

#include <set>
#include <utility>

#include "graphs/code.hpp"
#include "graphs/explorer.hpp"

namespace memfence::graphs {

enum class ModelName : std::int32_t { Sc, Tso, Rc11 };

// `bad`, `observed`: expressions (of `endings`) about how an execution ends in which every thread does: over what memory
// holds, then the registers of each thread. `waits`: whether it matters that threads wait for ever.
struct Wanted {
  std::vector<Expression> endings;
  std::vector<int> bad, observed;
  std::vector<int> registers;  // how many each thread has
  bool waits = false;
  Races races = Races::End;
  // How many executions are recorded, of those in which nobody would go on; then the search does not end at what it finds.
  std::uint64_t keep = 0;
};

// An event of a thread: its item, the value read or written or the way chosen. The source of a read: thread and number. Of
// thread -1, the initial write, and -2, none yet since it waits, the number is the location.
struct RecordedEvent {
  int item;
  Value value;
  int source_thread, source_number;
};
struct RecordedGraph {
  std::vector<std::vector<RecordedEvent>> threads;
  std::vector<std::vector<std::pair<int, int>>> orders;  // of each location, the initial write left out
};

enum class Wrong : std::int32_t { Fails, Ends, Races, Waits, MayWait };
struct WrongExecution {
  Wrong what;
  int condition;  // of Ends: the place in `bad`
  RecordedGraph graph;
};

// `wrong`: of each kind the first that was found. The search ends where an execution fails or ends badly, or races as long
// as races end executions. `is_beyond`: a value needs more than 64 bits, and nothing counts.
struct CodeExplored {
  Explored explored;
  std::vector<WrongExecution> wrong;
  std::vector<RecordedGraph> kept;
  std::set<std::vector<Value>> outcomes;  // of executions in which every thread ends
  bool is_beyond = false;
};

CodeExplored explore_code(const Code& code, ModelName model, const Wanted& wanted, const Limits& limits);

}  // namespace memfence::graphs
