#include "graphs/code_search.hpp"

#include "graphs/code_executor.hpp"

namespace memfence::graphs {

namespace {

class Judge {
 public:
  Judge(CodeExecutor& executor, const Wanted& wanted, CodeExplored& result)
      : executor_(executor), wanted_(wanted), result_(result) {}

  void begin() {
    result_.wrong.clear();
    result_.kept.clear();
    result_.outcomes.clear();
  }

  bool ended(const ExecutionGraph& graph, const Ending& ending) {
    if (result_.kept.size() < wanted_.keep && (!ending.waits || ending.is_stuck)) result_.kept.push_back(recorded(graph));
    const bool looks_on = wanted_.keep != 0;
    bool goes_on = true;
    if (ending.failed) {
      find(Wrong::Fails, 0, graph);
      goes_on = looks_on;
    }
    if (ending.races()) {
      find(Wrong::Races, 0, graph);
      goes_on &= looks_on || wanted_.races == Races::Branch;
    }
    if (ending.failed || ending.is_void || ending.is_cut) return goes_on;
    remember(graph);
    return (ending.waits ? waits(graph) : ends(graph)) && goes_on;
  }

 private:
  Value newest(const ExecutionGraph& graph, int location) const {
    const auto& writes = graph.writes(location);
    return writes.empty() ? executor_.initial(location) : graph.event(writes.back()).value;
  }

  void remember(const ExecutionGraph& graph) {
    memory_.clear();
    for (int x = 0; x < executor_.locations(); ++x)
      memory_.push_back(x < graph.locations() ? newest(graph, x) : executor_.initial(x));
  }

  bool ends(const ExecutionGraph& graph) {
    if (wanted_.bad.empty() && wanted_.observed.empty()) return true;
    state_ = memory_;
    for (int t = 0; t < executor_.threads(); ++t)
      for (int r = 0; r < wanted_.registers[static_cast<std::size_t>(t)]; ++r) state_.push_back(executor_.last_register(t, r));
    if (!wanted_.observed.empty()) {
      std::vector<Value> seen;
      for (const int number : wanted_.observed) seen.push_back(value_of(number));
      result_.outcomes.insert(std::move(seen));
    }
    for (std::size_t n = 0; n < wanted_.bad.size(); ++n)
      if (value_of(wanted_.bad[n]) != 0) {
        find(Wrong::Ends, static_cast<int>(n), graph);
        return wanted_.keep != 0;
      }
    return true;
  }

  Value value_of(int expression) {
    bool failed = false;
    const Wide value = wanted_.endings[static_cast<std::size_t>(expression)].evaluate(state_.data(), failed);
    result_.is_beyond |= failed || value != static_cast<Value>(value);
    return static_cast<Value>(value);
  }

  // Everybody has ended or waits for ever, and somebody waits who may not end so.
  bool waits(const ExecutionGraph& graph) {
    if (!wanted_.waits) return true;
    executor_.remember(memory_);
    bool is_wrong = false, is_undecided = false;
    for (int t = 0; t < executor_.threads(); ++t) {
      const bool pending = t < graph.threads() && graph.waits(t);
      const Value value = pending ? newest(graph, graph.event(graph.last(t)).location) : 0;
      const Staying staying = executor_.staying(t, pending, value);
      if (!staying.stays) return true;
      is_wrong |= !staying.may_end;
      is_undecided |= staying.is_undecided;
    }
    if (is_wrong) find(is_undecided ? Wrong::MayWait : Wrong::Waits, 0, graph);
    return true;
  }

  void find(Wrong what, int condition, const ExecutionGraph& graph) {
    for (const WrongExecution& known : result_.wrong)
      if (known.what == what) return;
    result_.wrong.push_back({what, condition, recorded(graph)});
  }

  RecordedGraph recorded(const ExecutionGraph& graph) const {
    RecordedGraph found;
    for (int t = 0; t < graph.threads(); ++t) {
      found.threads.emplace_back();
      for (int n = 0; n < graph.size(t); ++n) found.threads.back().push_back(recorded(graph, t, n));
    }
    for (int x = 0; x < graph.locations(); ++x) {
      found.orders.emplace_back();
      for (const EventId id : graph.writes(x)) found.orders.back().emplace_back(thread_of(id), number_of(id));
    }
    return found;
  }

  RecordedEvent recorded(const ExecutionGraph& graph, int thread, int number) const {
    const Event& event = graph.event(event_id(thread, number));
    if (event.waits()) {
      const Value value = newest(graph, event.location);
      return {executor_.item_of_next(thread, value), value, -2, event.location};
    }
    const bool has_source = event.reads() && event.source >= 0;
    return {executor_.item_of(thread, number), event.value, has_source ? thread_of(event.source) : -1,
            has_source ? number_of(event.source) : event.location};
  }

  CodeExecutor& executor_;
  const Wanted& wanted_;
  CodeExplored& result_;
  std::vector<Value> memory_, state_;
};

template <class Model>
void explore(CodeExecutor& executor, const Wanted& wanted, const Limits& limits, CodeExplored& result) {
  Judge judge(executor, wanted, result);
  result.explored = Explorer<Model, CodeExecutor, Judge>(executor, judge, limits, {wanted.races, wanted.keep != 0}).run();
}

}  // namespace

CodeExplored explore_code(const Code& code, ModelName model, const Wanted& wanted, const Limits& limits) {
  CodeExplored result;
  CodeExecutor executor(code);
  switch (model) {
    case ModelName::Sc: explore<Sc>(executor, wanted, limits, result); break;
    case ModelName::Tso: explore<Tso>(executor, wanted, limits, result); break;
    case ModelName::Rc11: explore<Rc11>(executor, wanted, limits, result); break;
  }
  result.is_beyond |= executor.is_beyond();
  return result;
}

}  // namespace memfence::graphs
