// Cycles of one process and what repeating them does to its buffer: acceleration, with a proof for every use.
//
// Linden and Wolper's rule (2010, section 4) reads the repeatable words off the language of the buffer, which mixes cycles
// of different control points and is wrong (docs/theory/errata.md). Here a cycle is remembered as what it *did*: the stores it
// appended, the values its loads found, the commits it needed. Repeating it is allowed exactly where replaying these
// events shows that every content in the candidate language lets the cycle go through: then l.C* is reachable, word by
// word. Replaying is done on languages: `grow` computes the language that a path appends behind a given context.
//
// A path may contain accelerations itself (nested loops), and steps of other processes; it may not drain the buffer, and
// under PSO it may commit only what it appended itself.
#pragma once

#include <optional>

#include "symbolic/languages.hpp"

namespace memfence {

enum class EventKind : std::uint8_t {
  Append,    // `what`: the symbol
  Load,      // of variable `what`; found `value`, in memory too if `from_memory`
  Commit,    // `what`: the symbol
  Saturate,  // `what`: the number of a set of cycles, any of them any number of times
  Barrier,   // nothing before it can be repeated together with what comes after
};

struct Event {
  EventKind kind;
  int process;
  std::int32_t what;
  Value value;
  bool from_memory;
  bool operator==(const Event&) const = default;
};

struct Cycle {
  int process;
  std::vector<Event> events;  // of all processes
  Language growth;            // what it appends to the buffer of `process`
  bool is_local;              // only `process` moved, and looked at nothing but itself and memory
};

class Cycles {
 public:
  explicit Cycles(Languages& languages) : languages_(languages) {}

  int add(Cycle cycle);
  const Cycle& operator[](int number) const { return cycles_[static_cast<std::size_t>(number)]; }
  // Cycles that were repeated together, and what memory held meanwhile (for those that are local).
  struct Set {
    std::vector<int> cycles;  // sorted
    std::vector<Value> memory;
    auto operator<=>(const Set&) const = default;
  };
  int set_of(Set set);
  const Set& set(int number) const { return sets_[static_cast<std::size_t>(number)]; }
  std::size_t count() const { return cycles_.size(); }

  // What `events` append to the buffer of `process` if it held any word of `context` before; nothing if some word of
  // `context` does not let them go through. `memory`: what loads find there now; null: what they found back then.
  std::optional<Language> grow(Language context, const std::vector<Event>& events, int process, const Value* memory = nullptr,
                               int depth = 0);

  // The words of `growth` behind which the loads of `events` would find again what they found: a cycle that may change
  // what it reads can still be repeated as long as it does not.
  Language repeatable(Language growth, const std::vector<Event>& events, int process);

  // context . (growth of the cycles)*, settled, if from every word of it every one of the cycles can be repeated.
  // `memory` is what it holds now: a local cycle may be repeated in other surroundings than those it was found in.
  std::optional<Language> saturate(Language context, const std::vector<int>& cycles, const Value* memory);

 private:
  bool holds(Language context, const Cycle& cycle, const Value* memory, int depth);
  Language growth_of(const std::vector<int>& cycles);
  std::optional<Language> grow_load(Language context, Language grown, const Event& e, const Value* memory);
  std::optional<Language> grow_saturated(Language context, Language grown, const Event& e, int process, const Value* memory,
                                         int depth);

  static constexpr int kDeepest = 6;
  Languages& languages_;
  std::deque<Cycle> cycles_;
  std::deque<Set> sets_;
  std::map<Set, int> set_numbers_;
};

}  // namespace memfence
