#include "confirming.hpp"

namespace memfence::running {

namespace {

constexpr int kMostAttempts = 2'000;
constexpr double kSecondsToConfirm = 0.2;

// Follows the SC execution and decides, step by step, what has to wait for the missed store.
class HoldingBack {
 public:
  HoldingBack(const List<Logged>& log, const StaleLoad& stale, int addresses)
      : log_(log), stale_(stale), reads_(static_cast<std::size_t>(addresses)), writes_(static_cast<std::size_t>(addresses)) {}

  std::vector<int> plan() {
    for (std::size_t i = 0; i < stale_.step && i < log_.size(); ++i) add(i);
    if (paused_[stale_.reader]) return {};
    plan_.push_back(stale_.reader);
    return plan_;
  }

 private:
  bool is_held(int thread, int number) const {
    for (const int held : held_[thread])
      if (held == number) return true;
    return false;
  }
  bool waits_at(int number) const {
    return number >= 0 && (reads_[static_cast<std::size_t>(number)] || writes_[static_cast<std::size_t>(number)]);
  }

  void add(std::size_t i) {
    const Logged& line = log_[i];
    const int t = line.thread, number = line.wish.number;
    const bool plain = (line.wish.what == Wish::What::Access || line.wish.what == Wish::What::Synchronise) && number >= 0 &&
                       !line.wish.locked() && line.more == line.more_end;
    if (paused_[t]) return delay(line);
    if (i == stale_.missed && !(plain && line.wish.kind == AccessKind::Store)) return pause(line);  // it is never buffered
    if (plain && line.wish.kind == AccessKind::Store) {
      plan_.push_back(t);
      if (i == stale_.missed || !held_[t].empty() || waits_at(number)) {
        held_[t].push_back(number);
        writes_[static_cast<std::size_t>(number)] = true;
      } else {
        plan_.push_back(~t);
      }
    } else if (plain && line.wish.kind == AccessKind::Load) {
      if (is_held(t, number) || !writes_[static_cast<std::size_t>(number)]) return plan_.push_back(step_of(line));
      pause(line);
    } else if (!held_[t].empty() || waits_at(number)) {
      pause(line);
    } else {
      plan_.push_back(step_of(line));
    }
  }
  static int step_of(const Logged& line) { return line.thread + line.choice * kMostFibers; }
  void pause(const Logged& line) {
    paused_[line.thread] = true;
    delay(line);
  }
  void delay(const Logged& line) {
    if (line.wish.number < 0) return;
    const auto number = static_cast<std::size_t>(line.wish.number);
    (line.wish.kind == AccessKind::Load ? reads_ : writes_)[number] = true;
  }

  const List<Logged>& log_;
  const StaleLoad& stale_;
  std::vector<int> plan_;
  std::vector<bool> reads_, writes_;  // cells that something delayed reads or writes
  std::vector<int> held_[kMostFibers];
  bool paused_[kMostFibers] = {};
};

bool can_take(int step) {
  if (step < 0) {
    const int thread = ~step % kMostFibers;
    return thread < world.known_threads() && static_cast<std::size_t>(~step / kMostFibers) < world.fiber(thread).buffer.size();
  }
  const int thread = step % kMostFibers;
  if (thread >= world.known_threads() || world.is_done(thread)) return false;
  return step < kMostFibers ? world.is_ready(thread) : world.may_choose(thread, step / kMostFibers);
}

// One way on: who is preferred, and how eagerly stores reach memory.
struct Manner {
  int first = -1;       // this thread as long as it can
  int flush_of_ten = 0;  // how often, of ten times, a store reaches memory before the next step
  bool by_priority = true;
};

// The store of the thread that reaches memory next: the oldest or, under PSO, any that may.
int flush_step(int thread, bool pso, Chance& chance) {
  const Fiber& fiber = world.fiber(thread);
  std::size_t entry = pso ? chance.below(fiber.buffer.size()) : 0;
  while (!World::may_flush(fiber, entry)) --entry;
  return ~(thread + kMostFibers * static_cast<int>(entry));
}

void go_on(std::vector<int>& steps, const Manner& manner, Chance& chance, const Options& options) {
  int priority[kMostFibers];
  for (int& one : priority) one = static_cast<int>(chance.below(1000));
  if (manner.first >= 0) priority[manner.first] = 1000;
  while (!world.is_over() && steps.size() < options.depth) {
    int best = -1, buffered = -1;
    for (int id = 0; id < world.known_threads(); ++id) {
      if (!world.fiber(id).buffer.empty() && (buffered < 0 || chance.below(2) == 0)) buffered = id;
      if (!can_take(id)) continue;
      if (best < 0 || (manner.by_priority ? priority[id] > priority[best] : chance.below(2) == 0)) best = id;
    }
    if (best < 0 && buffered < 0) return;
    if (best >= 0 && world.may_choose(best, 1) && chance.below(8) == 0) best += kMostFibers;
    const bool flushes = buffered >= 0 && (best < 0 || static_cast<int>(chance.below(10)) < manner.flush_of_ten);
    const int step = flushes ? flush_step(buffered, options.pso, chance) : best;
    steps.push_back(step);
    world.run(&step, 1);
  }
}

Manner manner_of(int attempt, int reader, int writer, Chance& chance) {
  switch (attempt) {
    case 0: return {reader, 0, true};
    case 1: return {writer, 0, true};
    case 2: return {reader, 10, true};
    case 3: return {writer, 10, true};
    default: return {-1, static_cast<int>(chance.below(11)), chance.below(2) == 0};
  }
}

}  // namespace

bool is_stuck() {
  if (world.is_over()) return false;
  for (int id = 0; id < world.known_threads(); ++id) {
    if (can_take(id) || can_take(~id)) return false;
  }
  return !world.is_void() && world.waits_for_ever();
}

std::vector<int> held_back(const List<Logged>& log, const StaleLoad& stale, int addresses) {
  return HoldingBack(log, stale, addresses).plan();
}

std::size_t take_steps(const std::vector<int>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (world.is_over() || !can_take(steps[i])) return i;
    world.run(&steps[i], 1);
  }
  return steps.size();
}

Confirmation confirm(const std::vector<int>& prefix, const StaleLoad& stale, int writer, const Options& options,
                     Chance& chance) {
  Confirmation result;
  const double end = seconds_now() + kSecondsToConfirm;
  while (result.attempts < kMostAttempts && seconds_now() < end) {
    world.cells.overlooked = false;
    world.reset();
    if (take_steps(prefix) != prefix.size()) return result;
    result.steps = prefix;
    go_on(result.steps, manner_of(result.attempts++, stale.reader, writer, chance), chance, options);
    if (world.failure.kind == Finding::Unsupported || world.cells.overlooked) continue;
    result.is_deadlock = is_stuck() && !world.has_endless();
    if (is_stuck()) world.blame_endless();
    if (world.failure.kind == Finding::None && !result.is_deadlock) continue;
    result.failure = world.failure;
    result.is_confirmed = true;
    return result;
  }
  return result;
}

Confirmation hunt(const Options& options, Chance& chance) { return confirm({}, {0, 0, 0}, 0, options, chance); }

}  // namespace memfence::running
