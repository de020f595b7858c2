#include "scouting.hpp"

#include <time.h>

#include "world.hpp"

namespace memfence::running {

namespace {

constexpr int kQuietScouts = 12;
constexpr int kMostScouts = 400;
constexpr std::uint64_t kMostSteps = 2'000;
constexpr double kSecondsToScout = 2;

void run_at_random(Chance& chance, std::uint64_t depth) {
  world.reset();
  for (std::uint64_t steps = 0; steps < depth && !world.is_over(); ++steps) {
    int enabled[4 * kMostFibers];
    const std::size_t count = world.possible_steps(enabled);
    if (count == 0) return;
    const int chosen = enabled[chance.below(count)];
    world.run(&chosen, 1);
  }
}

}  // namespace

double seconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void scout(const Options& options, PlainRaces& races) {
  Chance chance(options.seed);
  int quiet = 0;
  const double end =
      seconds_now() + (options.timeout > 0 && options.timeout < kSecondsToScout ? options.timeout : kSecondsToScout);
  for (int i = 0; i < kMostScouts && quiet < kQuietScouts && seconds_now() < end; ++i) {
    world.cells.learned = false;
    world.scouts = world.logs = true;
    run_at_random(chance, options.depth < kMostSteps ? options.depth : kMostSteps);
    quiet = world.cells.learned ? 0 : quiet + 1;
    // An execution that learns has steps behind it that were no steps yet: what they synchronise is not in the log.
    if (!world.cells.learned) races.look(world.log);
    if (world.has_endless()) break;  // the exploration will meet it, too
  }
  world.scouts = world.logs = false;
}

}  // namespace memfence::running
