#include "certificate/sc_trace.hpp"

#include <cstring>
#include <deque>
#include <map>
#include <new>

#include "certificate/byte_strings.hpp"

namespace memfence::certificate {

namespace {

// The number of whoever wrote what memory holds at the start; stores have numbers from 0 on.
constexpr std::int32_t kFirst = -1;

// An access of a step. `store`: of a store its number, of a load that of the store whose value it has.
struct Made {
  bool is_load;
  int variable;
  Number value;
  std::int32_t store;
};

// What each process does, step by step, and what it needs: the run without its order.
class Trace {
 public:
  Trace(const Program& program, const History& history, bool by_values)
      : by_values_(by_values), variables_(program.variables.size()), steps_(program.processes.size()) {
    read(history.events);
    for (const History::Own& own : history.steps) {
      std::vector<std::vector<Made>>& mine = steps_[static_cast<std::size_t>(own.process)];
      // What it does with the bus is one step.
      if (!own.had_bus && (own.has_bus || own.first < own.last)) mine.emplace_back();
      for (std::size_t n = own.first; n < own.last; ++n) mine.back().push_back(made_[n]);
    }
  }

  std::size_t processes() const { return steps_.size(); }
  std::size_t length(std::size_t process) const { return steps_[process].size(); }
  // The last store to each variable, and then the last of all where that matters.
  std::vector<std::int32_t> first_memory() const {
    return std::vector<std::int32_t>(variables_ + (by_values_ ? 1 : 0), kFirst);
  }

  // Take a step of a process as SC does; false where it would not read what it read, or stores too early.
  bool take(std::size_t process, std::size_t number, const Number* start, std::int32_t* memory) const {
    for (const Made& made : steps_[process][number]) {
      const auto variable = static_cast<std::size_t>(made.variable);
      const std::int32_t last = memory[variable];
      if (made.is_load) {
        const Number value = last == kFirst ? start[variable] : written_[static_cast<std::size_t>(last)];
        if (by_values_ ? value != made.value : last != made.store) return false;
        continue;
      }
      const std::int32_t before = by_values_ ? memory[variables_] : last;
      if (before != before_[static_cast<std::size_t>(made.store)]) return false;
      memory[variable] = made.store;
      if (by_values_) memory[variables_] = made.store;
    }
    return true;
  }

 private:
  void read(const std::vector<Event>& events) {
    std::vector<std::int32_t> memory(variables_, kFirst), last(variables_ + 1, kFirst);
    std::map<std::pair<int, int>, std::deque<Made>> pending;
    for (const Event& event : events) {
      const auto variable = static_cast<std::size_t>(event.variable);
      const bool is_load = event.kind == Event::Kind::Load || event.kind == Event::Kind::OwnLoad;
      std::deque<Made>& own = pending[{event.process, event.variable}];
      Made made{is_load, event.variable, event.value, kFirst};
      if (event.kind == Event::Kind::Load) made.store = memory[variable];
      if (event.kind == Event::Kind::OwnLoad) made.store = own.back().store;
      if (event.kind == Event::Kind::Store || event.kind == Event::Kind::PendingStore) made.store = add_store(event.value);
      if (event.kind == Event::Kind::PendingStore) own.push_back(made);
      if (event.kind == Event::Kind::Commit) {
        made = own.front();
        own.pop_front();
      }
      if (event.kind == Event::Kind::Commit || event.kind == Event::Kind::Store) {
        std::int32_t& previous = last[by_values_ ? variables_ : variable];
        before_[static_cast<std::size_t>(made.store)] = previous;
        previous = memory[variable] = made.store;
      }
      made_.push_back(made);
    }
  }
  std::int32_t add_store(Number value) {
    if (written_.size() >= INT32_MAX) throw Unsupported("a run has too many stores");
    written_.push_back(value);
    before_.push_back(kFirst);
    return static_cast<std::int32_t>(written_.size()) - 1;
  }

  bool by_values_;
  std::size_t variables_;
  std::vector<std::vector<std::vector<Made>>> steps_;
  std::vector<Made> made_;              // by event
  std::vector<Number> written_;         // by store
  std::vector<std::int32_t> before_;  // by store: the one that reaches memory before it, of all or of those to its variable
};

}  // namespace

// How far each process has come says which stores were made and, as their order is given, what is in memory: so memory may stand in
// the same string.
ScTrace find_sc_trace(const Program& program, const History& history, const std::vector<Number>& start, bool by_values,
                      std::size_t most_bytes) {
  const Trace trace(program, history, by_values);
  const std::size_t processes = trace.processes();
  const Number* values = start.data() + program.memory_at;
  std::vector<std::int32_t> first(processes, 0);
  for (const std::int32_t store : trace.first_memory()) first.push_back(store);
  const auto text = [](const std::vector<std::int32_t>& one) {
    return std::string_view(reinterpret_cast<const char*>(one.data()), one.size() * sizeof(std::int32_t));
  };
  ByteStrings seen;
  seen.insert(text(first));
  std::vector<std::int32_t> here(first.size()), next;
  for (std::size_t n = 0; n < seen.size(); ++n) {
    std::memcpy(here.data(), seen.at(n).data(), here.size() * sizeof(std::int32_t));
    bool has_ended = true;
    for (std::size_t p = 0; p < processes; ++p) {
      const auto place = static_cast<std::size_t>(here[p]);
      if (place == trace.length(p)) continue;
      has_ended = false;
      next = here;
      ++next[p];
      if (trace.take(p, place, values, next.data() + processes)) seen.insert(text(next));
    }
    if (has_ended) return ScTrace::Found;
    if (seen.size() > kMostPlaces) return ScTrace::TooLong;
    if (seen.bytes() > most_bytes) throw std::bad_alloc();
  }
  return ScTrace::None;
}

}  // namespace memfence::certificate
