#include "driver.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "arena.hpp"
#include "complain.hpp"
#include "graph_search.hpp"
#include "pages.hpp"
#include "program_executor.hpp"
#include "random_walk.hpp"
#include "replaying.hpp"
#include "report.hpp"
#include "signals.hpp"

extern "C" void memfence_failure() { asm volatile(""); }

namespace memfence::running {

void give_up(const char* message) {
  dprintf(report_descriptor < 0 ? 2 : report_descriptor, "{\"record\": \"fault\", \"message\": \"%s\"}\n", message);
  _exit(70);
}

namespace {

// The program's output would come a thousand times over.
void silence() {
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int stream : {0, 1, 2}) dup2(nothing, stream);
}

ExploreOptions explore_options(const Options& options) {
  ExploreOptions asked;
  asked.monitor = options.monitor && !options.buffers;
  asked.reduce = options.reduce;
  asked.preemptions = options.preemptions;
  asked.depth = options.depth;
  asked.stop_at_first = options.first || options.buffers;
  asked.parts = options.parts;
  asked.part = options.part;
  return asked;
}

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Explored {
  Findings findings;
  ExploreResult result;
  int restarts = 0;
  bool out_of_time = false;
  double cpu_seconds = 0;
  PlainRaces races;
  bool is_complete = false;
};

bool send_progress(const Findings& findings, const Progress& progress) {
  Record("progress")
      .add("executions", findings.executions)
      .add("steps", progress.transitions)
      .add("depth", progress.queue)
      .add("seconds", progress.seconds)
      .send();
  return true;
}

// Whether the explorer can tell all threads and companions apart.
bool has_room_for_buffers() { return world.known_threads() + static_cast<int>(world.store_queues().size()) <= kMostThreads; }

void explore_all(const Options& options, double seconds, Explored& explored) {
  Limits limits;
  limits.timeout_seconds = seconds;
  limits.on_progress = [&](const Progress& p) { return send_progress(explored.findings, p); };
  world.simulates = options.buffers;
  world.explores = true;
  explored.result = Explorer<ProgramExecutor>(explore_options(options), limits, explored.findings).run();
  world.simulates = world.explores = false;
  explored.out_of_time = explored.result.stop == Stop::Timeout;
  explored.is_complete = explored.result.stop == Stop::None && explored.findings.truncated == 0 && !world.spins_roughly &&
                         !world.has_more_wake_ups && !world.has_more_failures;
}

// Explore; begin anew whenever something new was learned about what threads share.
Explored explore(const Options& options) {
  Explored explored;
  const double begin = seconds_now(), cpu_begin = cpu_seconds();
  while (true) {
    scout(options, explored.races);
    world.cells.learned = explored.is_complete = world.has_more_wake_ups = world.has_more_failures = false;
    explored.findings = Findings{};
    const double left = options.timeout > 0 ? std::max(0.001, options.timeout - (seconds_now() - begin)) : 0;
    if (options.buffers && (options.random > 0 || options.preemptions >= 0 || !has_room_for_buffers())) break;
    if (options.random > 0)
      walk_at_random(options, left, explored.findings, explored.out_of_time);
    else
      explore_all(options, left, explored);
    if (!world.cells.learned) break;
    ++explored.restarts;
  }
  explored.result.seconds = seconds_now() - begin;
  explored.cpu_seconds = cpu_seconds() - cpu_begin;
  return explored;
}

// Run the steps again, writing them down.
void write_down(const std::vector<int>& steps) {
  world.logs = true;
  world.reset();
  take_steps(steps);
  world.logs = false;
}

std::string confirmation_text(const Confirmation& confirmation) {
  Record inner("confirmation");
  inner.add("attempts", confirmation.attempts);
  if (!confirmation.is_confirmed) return inner.text();
  write_down(confirmation.steps);
  if (confirmation.is_deadlock)
    inner.add("kind", "deadlock").raw("waiting", waiting_text());
  else
    add_failure(inner, confirmation.failure);
  inner.raw("steps", steps_text(confirmation.steps)).raw("events", events_text());
  return inner.text();
}

struct Tried {
  std::vector<int> steps;
  std::optional<StaleLoad> stale;
  Confirmation confirmation;
};

// Hold the store back in one execution that shows the finding.
Tried try_to_confirm(const std::vector<int>& steps, int reader, const Options& options, Chance& chance) {
  Tried tried{steps, std::nullopt, {}};
  write_down(steps);
  tried.stale = find_stale_load(world.log, world.known_threads(), world.cells.numbered(), reader);
  if (!tried.stale || !options.confirm) return tried;
  const int writer = world.log[tried.stale->missed].thread;
  const std::vector<int> plan = held_back(world.log, *tried.stale, world.cells.numbered());
  world.simulates = true;
  if (!plan.empty()) tried.confirmation = confirm(plan, *tried.stale, writer, options, chance);
  world.simulates = false;
  return tried;
}

// Whether it was confirmed.
bool send_borderline(const Found& found, const Options& options, Chance& chance) {
  Tried shown = try_to_confirm(found.steps, found.reader, options, chance);
  for (std::size_t i = 0; i < found.others.size() && options.confirm && !shown.confirmation.is_confirmed; ++i) {
    Tried other = try_to_confirm(found.others[i], found.reader, options, chance);
    if (other.confirmation.is_confirmed) shown = std::move(other);
  }
  write_down(shown.steps);
  Record record("finding");
  record.add("kind", "borderline")
      .add("reader", found.reader)
      .add("executions", found.executions)
      .raw("steps", steps_text(shown.steps))
      .raw("events", events_text())
      .raw("waiting", waiting_text());
  if (shown.stale) record.add("missed", static_cast<std::uint64_t>(shown.stale->missed));
  if (options.confirm) {
    world.simulates = true;
    record.raw("confirmation", confirmation_text(shown.confirmation));
    world.simulates = false;
  }
  record.send();
  return shown.confirmation.is_confirmed;
}

void send_failure(const Found& found) {
  write_down(found.steps);
  Record record("finding");
  if (found.kind == Found::Kind::Deadlock)
    record.add("kind", "deadlock");
  else
    add_failure(record, found.failure);
  record.add("executions", found.executions).raw("steps", steps_text(found.steps)).raw("events", events_text());
  record.raw("waiting", waiting_text()).send();
}

// What the exploration of buffers has found. Under PSO, where it was not complete and found nothing, executions at random:
// under TSO borderline executions have led to such ones already.
void send_hunt(const Explored& explored, const Options& options, Chance& chance) {
  world.simulates = true;
  Confirmation found;
  found.attempts = static_cast<int>(explored.findings.executions);
  if (!explored.findings.all.empty()) {
    const Found& first = explored.findings.all.front();
    found.is_confirmed = true;
    found.is_deadlock = first.kind == Found::Kind::Deadlock;
    found.failure = first.failure;
    found.steps = first.steps;
  } else if (!explored.is_complete && options.pso) {
    found = hunt(options, chance);
  }
  Record("hunt").add("complete", explored.is_complete).raw("confirmation", confirmation_text(found)).send();
  world.simulates = false;
}

void send_counts(const Explored& explored, int confirmed) {
  const Findings& findings = explored.findings;
  const ExploreResult& result = explored.result;
  Record("counts")
      .add("executions", findings.executions)
      .add("borderline", findings.borderline_executions)
      .add("failing", findings.failing)
      .add("deadlocked", findings.deadlocked)
      .add("truncated", findings.truncated)
      .add("confirmed", confirmed)
      .add("dropped", findings.dropped)
      .add("redundant", result.redundant)
      .add("cut", result.cut)
      .add("steps", result.steps)
      .add("reduced", result.reduced)
      .add("restarts", explored.restarts)
      .add("out_of_time", explored.out_of_time)
      .add("spins_roughly", world.spins_roughly)
      .add("more_wake_ups", world.has_more_wake_ups)
      .add("more_failures", world.has_more_failures)
      .add("seconds", result.seconds)
      .add("cpu_seconds", explored.cpu_seconds)
      .add("threads", world.known_threads())
      .send();
}

void report(const Explored& explored, const Options& options) {
  Chance chance(options.seed);
  world.cells.learns = false;
  send_layout();
  if (options.buffers) {
    send_hunt(explored, options, chance);
    return send_counts(explored, 0);
  }
  int confirmed = 0;
  for (const Found& found : explored.findings.all) {
    if (found.kind == Found::Kind::Borderline)
      confirmed += send_borderline(found, options, chance);
    else
      send_failure(found);
  }
  for (const Leak& leak : explored.findings.leaks.all)
    Record("leak")
        .add("pc", leak.pc)
        .add("bytes", static_cast<std::uint64_t>(leak.bytes))
        .raw("steps", steps_text(leak.steps))
        .send();
  for (const PlainRace& race : explored.races.all()) Record("race").raw("first", race.first).raw("second", race.second).send();
  send_counts(explored, confirmed);
}

}  // namespace

int explore_program(int (*main)(int, char**, char**), int argc, char** argv, char** environment) {
  const Options options = read_options(getenv("MEMFENCE_RUN"));
  if (const char* descriptor = getenv("MEMFENCE_REPORT")) report_descriptor = atoi(descriptor);
  setvbuf(stdout, nullptr, _IOFBF, 4096);
  if (!options.shows_output && report_descriptor >= 0) silence();
  close_early_zone();
  take_over_signals(options.hang);
  take_snapshot(early_begin(), early_end());
  world.reorders = options.pso;
  world.most_spurious = options.spurious;
  world.prunes = options.prune;
  world.is_abort_normal = options.abort_is_normal;
  world.is_exit_normal = options.exit_is_normal;
  world.is_signal_normal = options.signal_is_normal;
  world.open(main, argc, argv, environment);
  if (const char* schedule = getenv("MEMFENCE_REPLAY"))
    replay(options, atoi(schedule));
  else if (!options.graphs.empty())
    explore_graphs(options);
  else
    report(explore(options), options);
  if (options.shows_output) fflush(stdout);
  _exit(0);
}

}  // namespace memfence::running
