#include "random_walk.hpp"

#include "scouting.hpp"
#include "watching.hpp"

namespace memfence::running {

namespace {

struct Walk {
  int priority[kMostFibers];
  std::vector<std::uint64_t> changes;  // steps at which the running thread becomes the last
  std::vector<int> steps;
  bool truncated = false;
};

Walk plan_walk(Chance& chance, int changes, std::uint64_t length) {
  Walk walk;
  for (int& one : walk.priority) one = 1'000 + static_cast<int>(chance.below(1'000'000));
  for (int i = 0; i < changes; ++i) walk.changes.push_back(chance.below(length));
  return walk;
}

// Now and then, instead of the step: something spurious, of any thread.
int spurious_instead(int step, Chance& chance) {
  int possible[4 * kMostFibers];
  const std::size_t count = world.possible_steps(possible);
  const int other = possible[chance.below(count)];
  return other >= kMostFibers && chance.below(4) == 0 ? other : step;
}

int preferred(const Walk& walk) {
  int best = -1;
  for (int id = 0; id < world.known_threads(); ++id)
    if (!world.is_done(id) && world.is_ready(id) && (best < 0 || walk.priority[id] > walk.priority[best])) best = id;
  return best;
}

void follow(Walk& walk, std::uint64_t depth, Chance& chance) {
  world.reset();
  int lowest = 1'000;
  while (!world.is_over()) {
    if (walk.steps.size() >= depth) {
      walk.truncated = true;
      return;
    }
    int best = preferred(walk);
    if (best < 0) return;
    for (const std::uint64_t change : walk.changes)
      if (change == walk.steps.size()) walk.priority[best] = --lowest;
    best = spurious_instead(preferred(walk), chance);
    walk.steps.push_back(best);
    world.run(&best, 1);
  }
}

}  // namespace

bool walk_at_random(const Options& options, double seconds, Findings& findings, bool& out_of_time) {
  Chance chance(options.seed);
  std::uint64_t length = 32;
  const double begin = seconds_now();
  world.logs = true;
  for (std::uint64_t i = 0; i < options.random && !world.cells.learned; ++i) {
    if (seconds > 0 && seconds_now() - begin > seconds) {
      out_of_time = true;
      break;
    }
    Walk walk = plan_walk(chance, options.changes, length);
    follow(walk, options.depth, chance);
    if (world.cells.learned) break;
    length = walk.steps.size() > length ? walk.steps.size() : length;
    Ending ending;
    ending.truncated = walk.truncated;
    ending.failed = world.failure.kind != Finding::None;
    if (options.monitor) {
      const auto stale = find_stale_load(world.log, world.known_threads(), world.cells.numbered());
      ending.borderline = stale.has_value();
      if (stale) findings.stale(walk.steps, *stale);
    }
    findings.ended(walk.steps, ending);
    if ((options.first && !findings.all.empty()) || findings.has_endless_loop) break;
  }
  world.logs = false;
  return !world.cells.learned;
}

}  // namespace memfence::running
