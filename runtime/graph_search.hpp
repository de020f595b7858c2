// All executions of the program as graphs, and what goes wrong in them.
#pragma once

#include "graph_executor.hpp"
#include "graphs/explorer.hpp"
#include "leaks.hpp"
#include "options.hpp"

namespace memfence::running {

// An execution that goes wrong. `turns`, `given`: how to run it again.
struct WrongGraph {
  enum class Kind : std::uint8_t { Failure, Race, Deadlock } kind = Kind::Failure;
  Failure failure;
  void *first_pc = nullptr, *second_pc = nullptr;  // of a race; of the others, where it goes wrong
  graphs::EventId race[2] = {graphs::kNoEvent, graphs::kNoEvent};
  std::uint64_t executions = 1;
  std::size_t size = 0;
  std::vector<int> turns;
  std::vector<graphs::Value> given;
  std::string graph;  // its events, as text
};

class GraphFindings {
 public:
  GraphFindings(GraphExecutor& executor, const Options& options) : executor_(executor), options_(options) {}

  void begin();
  bool ended(const graphs::ExecutionGraph& graph, const graphs::Ending& ending);

  std::vector<WrongGraph> all;
  std::vector<std::string> kept;  // executions, as records
  Leaks leaks;
  std::uint64_t executions = 0, blocked = 0, failing = 0, deadlocked = 0, racing = 0, cut = 0, dropped = 0;
  bool has_undecided = false;  // a thread waits, and nobody knows whether for ever
  bool has_endless_loop = false;

 private:
  bool is_deadlock(const graphs::ExecutionGraph& graph);
  void find(WrongGraph found, const graphs::ExecutionGraph& graph);
  void look_for_leaks(const graphs::ExecutionGraph& graph);
  void* place_of(graphs::EventId id) const;

  GraphExecutor& executor_;
  const Options& options_;
};

struct GraphsExplored {
  graphs::Explored explored;
  std::uint64_t taken_again = 0;
  double seconds = 0, cpu_seconds = 0;
};

// Explore as the options say, and report.
void explore_graphs(const Options& options);

}  // namespace memfence::running
