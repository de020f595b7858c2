#include "findings.hpp"

namespace memfence::running {

namespace {

constexpr std::size_t kMost = 64, kMostOthers = 8;

bool is_same(const Found& a, const Found& b) {
  return a.kind == b.kind && a.pc == b.pc && a.address == b.address && a.failure.kind == b.failure.kind &&
         a.failure.status == b.failure.status && a.writer == b.writer;
}

}  // namespace

void Findings::add(Found found) {
  for (Found& known : all) {
    if (!is_same(known, found)) continue;
    ++known.executions;
    if (found.steps.size() < known.steps.size()) std::swap(found.steps, known.steps);
    if (known.others.size() < kMostOthers) known.others.push_back(std::move(found.steps));
    return;
  }
  if (all.size() >= kMost) return;
  found.executions = 1;
  all.push_back(std::move(found));
}

void Findings::borderline(const std::vector<int>& steps, int reader, const std::vector<StaleRead>& reads) {
  if (world.has_false_assumption()) return;
  Found found;
  found.kind = Found::Kind::Borderline;
  found.steps = steps;
  found.reader = reader;
  found.pc = world.fiber(reader).wish.pc;
  found.address = reads[0].variable;
  found.writer = static_cast<int>(reads[0].value);
  add(std::move(found));
}

void Findings::stale(const std::vector<int>& steps, const StaleLoad& load) {
  Found found;
  found.kind = Found::Kind::Borderline;
  found.steps.assign(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(load.step));
  found.reader = load.reader;
  const Wish& wish = load.step < world.log.size() ? world.log[load.step].wish : world.fiber(load.reader).wish;
  found.pc = wish.pc;
  found.address = wish.number;
  found.writer = world.log[load.missed].thread;
  add(std::move(found));
}

void Findings::ended(const std::vector<int>& steps, const Ending& ending) {
  if (!ending.truncated) world.blame_endless();
  const bool fails = ending.failed || world.failure.kind != Finding::None;
  if (!fails && !ending.truncated && world.is_void()) {
    dropped += world.has_false_assumption();
    return;
  }
  ++executions;
  borderline_executions += ending.borderline;
  truncated += ending.truncated;
  if (fails) {  // perhaps before there is any step
    ++failing;
    has_endless_loop |= world.failure.kind == Finding::EndlessLoop;
    Found found;
    found.steps = steps;
    found.failure = world.failure;
    found.pc = world.failure.pc;
    add(std::move(found));
    return;
  }
  if (ending.truncated) return;
  if (!world.has_ended && world.is_done(0)) leaks.look(steps);
  if (world.waits_for_ever()) {
    ++deadlocked;
    Found found;
    found.kind = Found::Kind::Deadlock;
    found.steps = steps;
    for (int i = 0; i < world.known_threads(); ++i)
      if (!world.is_done(i) && !world.is_unborn(i)) found.pc = world.fiber(i).wish.pc;
    add(std::move(found));
  }
}

}  // namespace memfence::running
