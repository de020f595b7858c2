// The explorer and its two executors: a program that runs, started again and again, has the executions of its model.
#include "stateless/explorer.hpp"
#include "stateless/model_executor.hpp"
#include "stateless/rerun.hpp"
#include "test.hpp"
#include "tiny.hpp"

using namespace memfence;
using memfence::test::kConst;
using memfence::test::kSlot;
using memfence::test::MachineBuilder;

namespace {

enum class Do { Load, Store, Fence, Exchange, Await, Demand };  // Await: wait for a value; Demand: fail on another one

struct Line {
  Do what;
  int variable;
  int value;
};
using Text = std::vector<std::vector<Line>>;  // a list of lines for each thread

// Runs a text as a program would run: it is started, and then moved on one access at a time. Addresses are numbered as they
// are met.
class Toy {
 public:
  explicit Toy(Text text) : text_(std::move(text)) {}

  int threads() const { return static_cast<int>(text_.size()); }
  int addresses() const { return static_cast<int>(known_.size()); }
  std::int64_t initial(int) const { return 0; }
  void reset() {
    at_.assign(text_.size(), 0);
    memory_.assign(8, 0);
  }
  ThreadState state(int thread) const {
    if (at_[index(thread)] == text_[index(thread)].size()) return ThreadState::Done;
    const Line& line = here(thread);
    return line.what == Do::Await && memory_[index(line.variable)] != line.value ? ThreadState::Blocked : ThreadState::Enabled;
  }
  Access next(int thread) const {
    const Line& line = here(thread);
    const auto kind = line.what == Do::Store      ? AccessKind::Store
                      : line.what == Do::Fence    ? AccessKind::Fence
                      : line.what == Do::Exchange ? AccessKind::LockedStore
                                                  : AccessKind::Load;
    return {kind, static_cast<std::int16_t>(thread), kind == AccessKind::Fence ? 0 : address(line.variable), 0};
  }
  Executed execute(int thread) {
    const Line& line = here(thread);
    int& cell = memory_[index(line.variable)];
    if (line.what == Do::Demand && cell != line.value) return Executed::Failed;
    if (line.what == Do::Store || line.what == Do::Exchange) cell = line.value;
    value_ = cell;
    ++at_[index(thread)];
    return Executed::Done;
  }
  std::int64_t value() const { return value_; }

 private:
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  const Line& here(int thread) const { return text_[index(thread)][at_[index(thread)]]; }
  int address(int variable) const {
    for (std::size_t i = 0; i < known_.size(); ++i)
      if (known_[i] == variable) return static_cast<int>(i);
    known_.push_back(variable);
    return addresses() - 1;
  }

  Text text_;
  mutable std::vector<int> known_;
  std::vector<std::size_t> at_;
  std::vector<int> memory_;
  std::int64_t value_ = 0;
};

static_assert(Runnable<Toy> && Executor<Rerun<Toy>>);

std::shared_ptr<const Machine> model_of(const Text& text) {
  MachineBuilder builder(3);
  for (const auto& lines : text) {
    const int p = builder.process(static_cast<int>(lines.size()) + 1, 1);
    const auto equals = [&](int value) {
      return builder.expression({kSlot, builder.register_slot(p), kConst, value, static_cast<Value>(Code::Eq)});
    };
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Line& line = lines[i];
      std::vector<Op> ops;
      if (line.what == Do::Fence) ops = {builder.fence(p)};
      if (line.what == Do::Store || line.what == Do::Exchange) ops = {builder.store(p, line.variable, line.value)};
      if (line.what == Do::Load || line.what == Do::Await || line.what == Do::Demand) ops = {builder.load(p, line.variable)};
      if (line.what == Do::Await) ops.push_back(builder.assume(p, equals(line.value)));
      if (line.what == Do::Demand) {
        ops.push_back(builder.assume(p, equals(line.value)));
        ops.back().kind = OpKind::Assert;
      }
      const bool locked = line.what == Do::Exchange;
      for (Op& op : ops) op.locked = locked;
      builder.edge(p, static_cast<int>(i), static_cast<int>(i) + 1, std::move(ops), locked);
    }
  }
  return builder.build();
}

ExploreResult run_model(const Text& text, const ExploreOptions& options) {
  return explore_stateless(*model_of(text), options, Limits{});
}
ExploreResult run_program(const Text& text, const ExploreOptions& options) {
  return Explorer<Rerun<Toy>>(options, Limits{}, text).run();
}

bool same(const ExploreResult& a, const ExploreResult& b) {
  return a.executions == b.executions && a.failed == b.failed && a.deadlocked == b.deadlocked && a.redundant == b.redundant &&
         a.steps == b.steps && a.cut == b.cut;
}

const Text kStoreBuffering{{{Do::Store, 0, 1}, {Do::Load, 1, 0}}, {{Do::Store, 1, 1}, {Do::Load, 0, 0}}};

Text random_text(std::uint32_t& seed, int kinds) {
  const auto pick = [&](int count) {
    seed = seed * 1664525u + 1013904223u;
    return static_cast<int>((seed >> 16) % static_cast<std::uint32_t>(count));
  };
  Text text(static_cast<std::size_t>(2 + pick(2)));
  for (auto& lines : text)
    for (int i = 2 + pick(2); i > 0; --i) {
      const int die = pick(10);
      const Do what = die < 4 ? Do::Store : die < 8 ? Do::Load : static_cast<Do>(2 + pick(kinds - 2));
      lines.push_back({what, pick(2), 1 + pick(2)});
    }
  return text;
}

}  // namespace

TEST(a_running_program_needs_one_execution_of_each_class) {
  const ExploreResult found = run_program(kStoreBuffering, {});
  CHECK(found.reduced && found.executions == 3 && found.borderline == 2 && found.failed == 0);
}

TEST(the_stale_value_of_a_running_program_is_the_one_that_was_overwritten) {
  const Text text{{{Do::Store, 0, 2}, {Do::Store, 0, 1}, {Do::Load, 1, 0}}, {{Do::Store, 1, 1}, {Do::Load, 0, 0}}};
  const ExploreResult found = run_program(text, {}), model = run_model(text, {});
  CHECK(found.finding && found.finding->reads.size() == 1 && model.finding);
  CHECK(found.finding->reads[0].seen == 1 && found.finding->reads[0].value == 2);
  CHECK(model.finding->reads[0].seen == 1 && model.finding->reads[0].value == 2);
}

TEST(a_fence_in_each_thread_makes_a_running_program_safe) {
  const Text text{{{Do::Store, 0, 1}, {Do::Fence, 0, 0}, {Do::Load, 1, 0}},
                  {{Do::Store, 1, 1}, {Do::Exchange, 2, 1}, {Do::Load, 0, 0}}};
  CHECK(run_program(text, {}).borderline == 0);
}

TEST(a_failure_that_is_only_seen_when_it_happens_is_tried_behind_everything_else) {
  const Text text{{{Do::Store, 0, 1}, {Do::Store, 1, 1}}, {{Do::Demand, 0, 1}}, {{Do::Store, 2, 1}}};
  const ExploreResult model = run_model(text, {}), program = run_program(text, {});
  CHECK(model.failed > 0 && program.failed > 0 && program.failure);
}

TEST(a_running_program_has_the_executions_of_its_model) {
  std::uint32_t seed = 1;
  for (int i = 0; i < 400; ++i) {
    const Text text = random_text(seed, 4);
    for (const int preemptions : {-1, 1}) {
      ExploreOptions options;
      options.preemptions = preemptions;
      const ExploreResult model = run_model(text, options), program = run_program(text, options);
      CHECK(same(model, program) && model.borderline == program.borderline);
    }
  }
}

// A model's load that waits may not be taken with any stale value, so that borderline executions differ.
TEST(a_running_program_that_waits_has_the_executions_of_its_model) {
  std::uint32_t seed = 7;
  for (int i = 0; i < 400; ++i) {
    const Text text = random_text(seed, 5);
    CHECK(same(run_model(text, {}), run_program(text, {})));
  }
}

TEST(a_running_program_that_fails_does_so_in_the_reduced_executions_as_well) {
  std::uint32_t seed = 3;
  for (int i = 0; i < 400; ++i) {
    const Text text = random_text(seed, 6);
    ExploreOptions all;
    all.reduce = false;
    CHECK((run_program(text, {}).failed > 0) == (run_program(text, all).failed > 0));
    CHECK((run_program(text, {}).borderline > 0) == (run_program(text, all).borderline > 0) ||
          run_program(text, {}).failed > 0);
  }
}

namespace {

// Ends the whole execution, without failing, with the first step of its last thread; counts what it hears.
class Stopping final : public Rerun<Toy> {
 public:
  struct Heard {
    int ended = 0, failed = 0, borderline = 0;
  };
  Stopping(Text text, Heard& heard) : Rerun<Toy>(std::move(text)), heard_(heard) {}

  bool is_done(int thread) const { return is_over_ || Rerun<Toy>::is_done(thread); }
  void offer(int thread, Offers& offers) {
    if (!is_over_) Rerun<Toy>::offer(thread, offers);
  }
  void reset(std::size_t start) {
    is_over_ = false;
    Rerun<Toy>::reset(start);
  }
  void go_back(std::size_t steps) {
    is_over_ = false;
    Rerun<Toy>::go_back(steps);
  }
  Executed execute(const Alternative& step, Offers& offers) {
    Rerun<Toy>::execute(step, offers);
    is_over_ = step.label == threads() - 1;
    return is_over_ ? Executed::Ended : Executed::Done;
  }
  void borderline(const StaleStep&) { ++heard_.borderline; }
  void ended(const memfence::Ending& ending) {
    ++heard_.ended;
    heard_.failed += ending.failed;
  }

 private:
  Heard& heard_;
  bool is_over_ = false;
};

static_assert(Executor<Stopping> && Listener<Stopping>);

}  // namespace

TEST(a_step_that_ends_the_execution_is_tried_behind_everything_and_is_no_failure) {
  const Text text{{{Do::Store, 0, 1}, {Do::Load, 1, 0}}, {{Do::Store, 2, 1}}};
  Stopping::Heard heard;
  const ExploreResult found = Explorer<Stopping>(ExploreOptions{}, Limits{}, text, heard).run();
  CHECK(found.failed == 0 && heard.failed == 0 && found.deadlocked == 0);
  CHECK(found.executions == 3 && heard.ended == 3);  // after none, one or both steps of the other thread
}

TEST(an_executor_hears_of_every_borderline_load) {
  Stopping::Heard heard;
  const Text text{{{Do::Store, 0, 1}, {Do::Load, 1, 0}}, {{Do::Store, 1, 1}, {Do::Load, 0, 0}}, {{Do::Fence, 0, 0}}};
  Explorer<Stopping>(ExploreOptions{}, Limits{}, text, heard).run();
  CHECK(heard.borderline > 0);
}
