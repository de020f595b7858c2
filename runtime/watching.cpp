#include "watching.hpp"

#include "execution/step_events.hpp"

namespace memfence::running {

namespace {

class Watcher {
 public:
  Watcher(int threads, int addresses) : threads_(threads) {
    monitor_.ensure_threads(static_cast<std::uint32_t>(threads));
    monitor_.ensure_addresses(static_cast<std::uint32_t>(addresses));
  }

  std::optional<StaleLoad> ask(int thread, int number, std::size_t step) {
    const Access load{AccessKind::Load, static_cast<std::int16_t>(thread), number, 0};
    events_.clear();
    append_events({&load, 1}, {thread, false, -1, false}, threads_, events_);
    const auto found = monitor_.check(events_);
    if (!found) return std::nullopt;
    return StaleLoad{step, thread, found->missed.position};
  }

  void add(const Logged& line, std::size_t step) {
    accesses_.clear();
    const auto thread = static_cast<std::int16_t>(line.thread);
    for (std::size_t i = line.more; i < line.more_end; ++i)
      accesses_.push_back({world.access_log[i].kind, thread, world.access_log[i].number, 0});
    if (accesses_.empty() && (line.wish.number >= 0 || line.wish.what == Wish::What::Fence))
      accesses_.push_back({line.wish.kind, thread, line.wish.number < 0 ? 0 : line.wish.number, 0});
    if (accesses_.empty()) return;
    const bool locked = line.wish.locked() && line.wish.what != Wish::What::Fence;
    events_.clear();
    append_events(accesses_, {line.thread, locked, -1, false}, threads_, events_);
    for (MemoryEvent& event : events_) event.position = step;
    monitor_.add(events_);
  }

 private:
  int threads_;
  Monitor monitor_;
  std::vector<Access> accesses_;
  std::vector<MemoryEvent> events_;
};

}  // namespace

std::optional<StaleLoad> find_stale_load(const List<Logged>& log, int threads, int addresses, int reader) {
  Watcher watcher(threads, addresses);
  for (std::size_t i = 0; i < log.size(); ++i) {
    const Wish& wish = log[i].wish;
    const bool loads = wish.what != Wish::What::Nothing && wish.kind == AccessKind::Load && wish.number >= 0;
    if (reader < 0 && loads)
      if (const auto found = watcher.ask(log[i].thread, wish.number, i)) return found;
    watcher.add(log[i], i);
  }
  for (int id = 0; id < threads; ++id) {
    if ((reader >= 0 && id != reader) || world.is_done(id) || world.is_unborn(id)) continue;
    const Fiber& fiber = world.fiber(id);
    if (reader < 0 && world.is_ready(id)) continue;
    if (fiber.wish.spins)
      for (std::size_t k = fiber.wish.awaited; k < fiber.seen.size(); ++k)
        if (const auto found = watcher.ask(id, fiber.seen[k].number, log.size())) return found;
    if (fiber.wish.what != Wish::What::Nothing && fiber.wish.kind == AccessKind::Load && fiber.wish.number >= 0)
      if (const auto found = watcher.ask(id, fiber.wish.number, log.size())) return found;
  }
  return std::nullopt;
}

}  // namespace memfence::running
