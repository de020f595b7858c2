// The explorer of execution graphs: how many executions small programs have under each model, each of them once.
#include <set>

#include "graphs/code_executor.hpp"
#include "graphs/explorer.hpp"
#include "test.hpp"

using namespace memfence;
using namespace memfence::graphs;

namespace {

constexpr Order kRelaxed = kAtomic, kAcquiring = kAtomic | kAcquire, kReleasing = kAtomic | kRelease;
constexpr Order kStrongLoad = kAcquiring | kSeqCst, kStrongStore = kReleasing | kSeqCst | kLocked;
constexpr Order kStrongFence = kAtomic | kAcquire | kRelease | kSeqCst | kFull;

// Threads over four variables that start as 0. Every slot has one definition, as in unrolled code.
class Program {
 public:
  Program& thread() {
    code_.threads.emplace_back();
    code_.slots.push_back(kVariables);
    return *this;
  }
  Program& write(int variable, Value value, Order order = kRelaxed) {
    return add({ItemKind::Write, -1, -1, variable, constant(0), constant(value), order, -1, -1, {}});
  }
  Program& read(int variable, Order order = kRelaxed) {
    return add({ItemKind::Read, -1, fresh(), variable, constant(0), -1, order, -1, -1, {}});
  }
  Program& fence() { return add({ItemKind::Fence, -1, -1, -1, -1, -1, kStrongFence, -1, -1, {}}); }
  Program& increment(int variable, Order order = kRelaxed) {
    read(variable, order);
    const int from = static_cast<int>(code_.threads.back().size()) - 1;
    return add({ItemKind::Write, -1, -1, variable, constant(0), number({kSlot, last(), kConst, 1, kAdd}), order, from, -1, {}});
  }
  // Goes on where the last read has seen the value; fails on any other one.
  Program& wait(Value value) { return add({ItemKind::Wait, -1, -1, 1, equals(value), equals(value), 0, -1, -1, {}}); }
  Program& demand(Value value) { return add({ItemKind::Check, -1, -1, -1, -1, equals(value), 0, -1, -1, {}}); }

  graphs::Code build() const {
    graphs::Code code = code_;
    code.initial.assign(kVariables, 0);
    for (auto& items : code.threads) items.push_back({ItemKind::End, -1, -1, -1, -1, -1, 0, -1, -1, {}});
    return code;
  }

 private:
  static constexpr int kVariables = 4;
  static constexpr Value kConst = 0, kSlot = 1, kAdd = 5, kEqual = 15;
  int last() const { return code_.slots.back() - 1; }
  int fresh() { return code_.slots.back()++; }
  int number(std::vector<Value> expression) {
    code_.expressions.emplace_back(std::move(expression));
    return static_cast<int>(code_.expressions.size()) - 1;
  }
  int constant(Value value) { return number({kConst, value}); }
  int equals(Value value) { return number({kSlot, last(), kConst, value, kEqual}); }
  Program& add(Item item) {
    code_.threads.back().push_back(std::move(item));
    return *this;
  }

  graphs::Code code_;
};

struct Seen {
  int complete = 0, stuck = 0, failed = 0, races = 0;
  bool is_once = true;
  bool operator==(const Seen&) const = default;
};

// Counts executions, and whether one comes again.
class Counter {
 public:
  void begin() {
    seen = Seen{};
    known_.clear();
  }
  bool ended(const ExecutionGraph& graph, const Ending& ending) {
    seen.complete += ending.is_complete() && !ending.failed;
    seen.stuck += ending.is_stuck;
    seen.failed += ending.failed;
    seen.races += ending.races();
    seen.is_once &= known_.insert(name_of(graph)).second;
    return true;
  }
  Seen seen;

 private:
  static std::vector<int> name_of(const ExecutionGraph& graph) {
    std::vector<int> name;
    for (int t = 0; t < graph.threads(); ++t)
      for (int n = 0; n < graph.size(t); ++n) name.insert(name.end(), {t, graph.event(event_id(t, n)).source});
    for (int x = 0; x < graph.locations(); ++x) {
      name.push_back(-9);
      name.insert(name.end(), graph.writes(x).begin(), graph.writes(x).end());
    }
    return name;
  }
  std::set<std::vector<int>> known_;
};

template <class Model>
Seen explored(const Program& program) {
  const graphs::Code code = program.build();
  CodeExecutor executor(code);
  Counter counter;
  const Explored result = Explorer<Model, CodeExecutor, Counter>(executor, counter, Limits{}, {Races::End, true}).run();
  CHECK(result.is_complete);
  CHECK(counter.seen.is_once);
  return counter.seen;
}

Program store_buffering(Order store, Order load, bool fenced = false) {
  Program program;
  for (int t = 0; t < 2; ++t) {
    program.thread().write(t, 1, store);
    if (fenced) program.fence();
    program.read(1 - t, load);
  }
  return program;
}

Program increments(int threads) {
  Program program;
  for (int t = 0; t < threads; ++t) program.thread().increment(0);
  return program;
}

TEST(graphs_of_store_buffering) {
  CHECK(explored<Sc>(store_buffering(kRelaxed, kRelaxed)).complete == 3);
  CHECK(explored<Tso>(store_buffering(kRelaxed, kRelaxed)).complete == 4);
  CHECK(explored<Rc11>(store_buffering(kReleasing, kAcquiring)).complete == 4);
  CHECK(explored<Tso>(store_buffering(kStrongStore, kStrongLoad)).complete == 3);
  CHECK(explored<Rc11>(store_buffering(kStrongStore, kStrongLoad)).complete == 3);
  CHECK(explored<Tso>(store_buffering(kRelaxed, kRelaxed, true)).complete == 3);
  CHECK(explored<Rc11>(store_buffering(kRelaxed, kRelaxed, true)).complete == 3);
}

TEST(graphs_of_independent_readers) {
  Program program;
  for (int t = 0; t < 2; ++t) program.thread().write(t, 1);
  for (int t = 0; t < 2; ++t) program.thread().read(t).read(1 - t);
  CHECK(explored<Sc>(program).complete == 15);
  CHECK(explored<Tso>(program).complete == 15);
  CHECK(explored<Rc11>(program).complete == 16);
}

TEST(graphs_of_read_modify_writes_are_orders) {
  CHECK(explored<Sc>(increments(3)).complete == 6);
  CHECK(explored<Tso>(increments(4)).complete == 24);
  CHECK(explored<Rc11>(increments(5)).complete == 120);
}

// The write of the second update revisits a read that came before the first one.
TEST(graphs_where_an_update_revisits_what_came_before_its_rival) {
  Program program;
  program.thread().read(0).thread().increment(0).thread().increment(0);
  CHECK(explored<Sc>(program).complete == 6);
  CHECK(explored<Rc11>(program).complete == 6);
}

TEST(graphs_where_a_thread_waits_have_one_read_for_it) {
  Program program;
  program.thread().read(0, kAcquiring).wait(3).thread().write(0, 1).write(0, 2).write(0, 3, kReleasing);
  CHECK(explored<Rc11>(program) == (Seen{1, 0, 0, 0, true}));
  Program never;
  never.thread().read(0).wait(4).thread().write(0, 1).write(0, 2);
  CHECK(explored<Sc>(never) == (Seen{0, 1, 0, 0, true}));
}

// The last value makes the thread wait; it may have seen the one before.
TEST(graphs_where_a_thread_may_come_too_late) {
  Program program;
  program.thread().read(0).wait(1).thread().write(0, 1).write(0, 2);
  CHECK(explored<Rc11>(program) == (Seen{1, 1, 0, 0, true}));
}

TEST(graphs_of_a_message) {
  const auto message = [](Order store, Order load) {
    Program program;
    program.thread().write(1, 1, 0).write(0, 1, store).thread().read(0, load).wait(1).read(1, 0).demand(1);
    return program;
  };
  CHECK(explored<Rc11>(message(kReleasing, kAcquiring)) == (Seen{1, 0, 0, 0, true}));
  CHECK(explored<Rc11>(message(kRelaxed, kAcquiring)).races == 1);
  CHECK(explored<Tso>(message(kRelaxed, kRelaxed)) == (Seen{1, 0, 0, 0, true}));
}

TEST(graphs_of_a_check_that_fails) {
  Program program;
  program.thread().write(0, 1).thread().read(0).demand(0);
  CHECK(explored<Sc>(program) == (Seen{1, 0, 1, 0, true}));
}

}  // namespace
