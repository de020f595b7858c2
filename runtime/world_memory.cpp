// Loads and stores: the store that the program makes after the hook, simulated store buffers, and threads that wait by
// loading again and again.
#include <cstring>

#include "arena.hpp"
#include "signals.hpp"
#include "switch.hpp"
#include "world.hpp"

namespace memfence::running {

namespace {

constexpr std::size_t kMostSeen = 512;
constexpr int kMostRounds = 100;  // of a loop that only reads, while something in it changes that nobody else can see

bool has_changed(const Fiber& fiber) {
  for (std::size_t i = fiber.wish.awaited; i < fiber.seen.size(); ++i) {
    const Seen& seen = fiber.seen[i];
    if (world.value_for(fiber, seen.cell) != seen.value) return true;
  }
  return false;
}

}  // namespace

void World::look_at_clock() {
  if (reads_clock_) return;
  if (cells.learns)
    expect_loop(kClock), cells.learned = true;
  else
    spins_roughly = true;
}

// Registers that survive a call, the stack, and how far clock and chance are.
std::uint64_t World::state_of(void** frame) const {
  const Fiber& fiber = *current;
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15u;
  const auto* word = reinterpret_cast<const std::uint64_t*>(frame + 1);
  const auto* end = reinterpret_cast<const std::uint64_t*>(fiber.stack + fiber.stack_size);
  std::uint64_t a = 1 + (reads_clock_ ? fiber.nanoseconds : 0), b = 2 + fiber.chance, c = 3,
                d = 4;  // four at a time: a multiplication takes a while
  for (; word + 4 <= end; word += 4) {
    a = (a ^ word[0]) * kFactor;
    b = (b ^ word[1]) * kFactor;
    c = (c ^ word[2]) * kFactor;
    d = (d ^ word[3]) * kFactor;
    a ^= a >> 31;
    b ^= b >> 31;
    c ^= c >> 31;
    d ^= d >> 31;
  }
  for (; word < end; ++word) a = ((a ^ *word) * kFactor) ^ (a >> 29);
  return ((((a * kFactor ^ b) * kFactor) ^ c) * kFactor ^ d) | 1;
}

namespace {

const Buffered* newest_overlapping(const Fiber& fiber, const Cell& cell) {
  const auto* begin = static_cast<const char*>(cell.address);
  for (std::size_t i = fiber.buffer.size(); i-- > 0;) {
    const auto* other = static_cast<const char*>(fiber.buffer[i].cell.address);
    if (other < begin + cell.size && begin < other + fiber.buffer[i].cell.size) return &fiber.buffer[i];
  }
  return nullptr;
}

bool contains(const Cell& outer, const Cell& inner) {
  const auto *a = static_cast<const char*>(outer.address), *b = static_cast<const char*>(inner.address);
  return a <= b && b + inner.size <= a + outer.size;
}

}  // namespace

// Processors forward a buffered store to a load that lies within it; a load that needs more waits until it is in memory.
bool World::needs_flush(const Fiber& fiber) {
  const Buffered* own = newest_overlapping(fiber, fiber.wish.cell);
  return own != nullptr && !contains(own->cell, fiber.wish.cell);
}

void World::note_store(const Cell& cell, int number) {
  Fiber& me = *current;
  me.unsettled = cell;
  me.unsettled_number = number;
  me.before = cell.read();
  me.logged = logs && number >= 0 && logged_ ? log.size() : 0;
}

void World::settle() {
  Fiber& me = *current;
  if (is_interrupted) {
    leave_behind(place_on_stack(static_cast<void**>(__builtin_frame_address(0))));
    memfence_switch(&me.stack_pointer, scheduler_stack);
    __builtin_unreachable();
  }
  const bool stores_late = me.late.size != 0 && !me.late.awaits_load;
  if (stores_late) me.late.take_back();
  if (!me.shown.empty()) {
    for (std::size_t i = me.shown.size(); i-- > 0;) me.shown[i].cell.write(me.shown[i].value);
    me.shown.clear();
  }
  if (stores_late) store_late();
  if (me.unsettled.address == nullptr) return;
  const Cell cell = me.unsettled;
  me.unsettled = Cell{};
  const std::uint64_t value = cell.read();
  const bool is_buffered = simulates && me.unsettled_number >= 0;
  if (is_buffered || value != me.before) changed();
  if (me.logged != 0) {
    log[me.logged - 1].value = value;
    log[me.logged - 1].has_value = true;
  }
  if (!is_buffered) return;
  cell.write(me.before);
  buffer_store(cell, me.unsettled_number, value);
}

int World::queue_of(int thread, int number) const {
  const int cell = reorders ? number : -1;
  for (std::size_t i = 0; i < store_queues_.size(); ++i)
    if (store_queues_[i].thread == thread && store_queues_[i].number == cell) return static_cast<int>(i);
  return -1;
}

// It counts as a change whatever is in memory: how the thread goes on must not depend on what others do to it.
void World::buffer_store(const Cell& cell, int number, std::uint64_t value) {
  Fiber& me = *current;
  changed();
  int queue = queue_of(me.id, number);
  if (queue < 0) {
    queue = static_cast<int>(store_queues_.size());
    store_queues_.push_back({me.id, reorders ? number : -1});
    cells.learned = true;
  }
  if (me.releases != me.stored_releases) ++me.epoch;
  me.stored_releases = me.releases;
  ++store_queues_[static_cast<std::size_t>(queue)].entered;
  me.buffer.push_back({cell, number, value, me.epoch, queue});
}

bool World::may_flush(const Fiber& fiber, std::size_t entry) {
  for (std::size_t i = 0; i < entry; ++i) {
    const Buffered& older = fiber.buffer[i];
    if (older.epoch < fiber.buffer[entry].epoch || older.number == fiber.buffer[entry].number) return false;
  }
  return true;
}

void World::flush(int which) {
  Fiber& fiber = *fibers_[which % kMostFibers];
  const auto entry = static_cast<std::size_t>(which / kMostFibers);
  if (entry >= fiber.buffer.size()) return;
  const Buffered oldest = fiber.buffer[entry];
  fiber.buffer.erase(fiber.buffer.begin() + static_cast<std::ptrdiff_t>(entry));
  oldest.cell.write(oldest.value);
  ++store_queues_[static_cast<std::size_t>(oldest.queue)].left;
  if (!logs) return;
  Logged line{};
  line.thread = fiber.id;
  line.wish.what = Wish::What::Access;
  line.wish.kind = AccessKind::Store;
  line.wish.cell = oldest.cell;
  line.wish.number = oldest.number;
  line.value = oldest.value;
  line.has_value = line.is_flush = true;
  log.push_back(line);
}

std::uint64_t World::value_for(const Fiber& fiber, const Cell& cell) const {
  const Buffered* own = simulates ? newest_overlapping(fiber, cell) : nullptr;
  if (own == nullptr || !contains(own->cell, cell)) return cell.read();
  std::uint64_t value = 0;
  const auto offset = static_cast<const char*>(cell.address) - static_cast<const char*>(own->cell.address);
  __builtin_memcpy(&value, reinterpret_cast<const char*>(&own->value) + offset, cell.size);
  return value;
}

bool World::loops_at(void* pc) const {
  for (void* known : loops_)
    if (known == pc) return true;
  return false;
}

void World::learn_loop(void* pc) {
  if (!cells.learns) return;
  loops_.push_back(pc);
  cells.learned = true;
}

std::uint64_t World::consider_waiting(Wish& wish, void** frame) {
  Fiber& me = *current;
  if (me.seen.empty() && !loops_at(wish.pc)) return 0;
  if (me.seen.size() > kMostSeen) {
    me.seen.clear();
    me.unchanged_since = nullptr;  // what it saw first is lost
    ++me.changes;
  }
  if (!loops_at(wish.pc)) {
    for (const Seen& seen : me.seen)
      if (seen.pc == wish.pc && seen.cell.address == wish.cell.address) {
        learn_loop(wish.pc);
        break;
      }
    return 0;
  }
  const std::uint64_t state = state_of(frame);
  int rounds = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < me.seen.size(); ++i) {
    if (me.seen[i].pc != wish.pc || me.seen[i].cell.address != wish.cell.address) continue;
    last = i;
    ++rounds;
    if (me.seen[i].state != state) continue;
    rounds = kMostRounds + 1;
    break;
  }
  if (rounds < kMostRounds) return state;
  wish.spins_roughly = rounds == kMostRounds;
  spins_roughly |= wish.spins_roughly;
  wish.spins = true;
  wish.awaited = last;
  for (std::size_t i = last; i < me.seen.size(); ++i) wish.spins_after_whim |= me.seen[i].is_spurious;
  wish.is_ready = has_changed;
  return state;
}

void World::see(const Wish& wish, std::uint64_t value, std::uint64_t state) {
  Fiber& me = *current;
  if (me.wish.spins && me.seen.size() > me.wish.awaited) me.seen.resize(me.wish.awaited);
  me.seen.push_back({wish.cell, wish.number, value, wish.pc, state, me.choice != 0});
}

}  // namespace memfence::running
