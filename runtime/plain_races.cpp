#include "plain_races.hpp"

#include <algorithm>

#include "report.hpp"

namespace memfence::running {

namespace {

constexpr std::size_t kMostRaces = 32;
using Clock = std::vector<std::uint32_t>;

// The last accesses of a cell: its last write, and the last read of each thread, by their places in the log.
struct History {
  std::vector<std::size_t> accesses;
};

// Clocks of threads and of what they synchronise on. Each atomic access both acquires and releases: races are missed rather
// than made up.
class HappensBefore {
 public:
  HappensBefore(std::size_t threads, std::size_t numbers)
      : threads_(threads, Clock(threads, 0)), cells_(numbers, Clock(threads, 0)) {
    for (std::size_t t = 0; t < threads; ++t) threads_[t][t] = 1;
  }

  void synchronise(int thread, int number) {
    Clock& mine = threads_[static_cast<std::size_t>(thread)];
    Clock& there = cells_[static_cast<std::size_t>(number)];
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = std::max(mine[i], there[i]);
    there = mine;
    ++mine[static_cast<std::size_t>(thread)];
  }
  std::uint32_t now(int thread) const { return threads_[static_cast<std::size_t>(thread)][static_cast<std::size_t>(thread)]; }
  bool is_before(int thread, std::uint32_t when, int other) const {
    return threads_[static_cast<std::size_t>(other)][static_cast<std::size_t>(thread)] >= when;
  }

 private:
  std::vector<Clock> threads_, cells_;
};

bool is_plain(const Logged& line) {
  return line.wish.what == Wish::What::Access && !line.wish.is_atomic && line.wish.name == nullptr && line.wish.number >= 0;
}

}  // namespace

void PlainRaces::look(const List<Logged>& log) {
  HappensBefore order(static_cast<std::size_t>(world.known_threads()), static_cast<std::size_t>(world.cells.numbered()));
  std::vector<History> cells(static_cast<std::size_t>(world.cells.numbered()));
  std::vector<std::uint32_t> when(log.size());
  for (std::size_t i = 0; i < log.size(); ++i) {
    const Logged& line = log[i];
    when[i] = order.now(line.thread);
    if (!is_plain(line)) {
      if (line.more == line.more_end && line.wish.number >= 0) order.synchronise(line.thread, line.wish.number);
      for (std::size_t k = line.more; k < line.more_end; ++k) order.synchronise(line.thread, world.access_log[k].number);
      continue;
    }
    std::vector<std::size_t>& before = cells[static_cast<std::size_t>(line.wish.number)].accesses;
    for (const std::size_t k : before) {
      const bool conflicts = log[k].wish.kind == AccessKind::Store || line.wish.kind == AccessKind::Store;
      if (conflicts && log[k].thread != line.thread && !order.is_before(log[k].thread, when[k], line.thread)) add(log[k], line);
    }
    std::erase_if(before, [&](std::size_t k) { return log[k].thread == line.thread && log[k].wish.kind == line.wish.kind; });
    before.push_back(i);
  }
}

void PlainRaces::add(const Logged& first, const Logged& second) {
  if (all_.size() >= kMostRaces) return;
  for (const PlainRace& known : all_)
    if ((known.first_pc == first.wish.pc && known.second_pc == second.wish.pc) ||
        (known.first_pc == second.wish.pc && known.second_pc == first.wish.pc))
      return;
  all_.push_back({first.wish.pc, second.wish.pc, step_text(first), step_text(second)});
}

}  // namespace memfence::running
