#include "accesses.hpp"

#include "arena.hpp"
#include "graph_stops.hpp"
#include "pages.hpp"

namespace memfence::running {

namespace {

constexpr std::uint32_t kMostUnnoticed = 1'000;

template <class Piece>
void in_pieces(void* address, std::size_t size, const Piece& piece) {
  auto* at = static_cast<char*>(address);
  char* const end = at + size;
  while (at < end) {
    const std::size_t room = 8 - (reinterpret_cast<std::uintptr_t>(at) & 7);
    const auto left = static_cast<std::size_t>(end - at);
    const std::size_t here = left < room ? left : room;
    piece(at, here);
    at += here;
  }
}

void write_piece(char* address, std::size_t size, void** frame, bool is_volatile) {
  const Cell cell{address, static_cast<std::uint8_t>(size)};
  const int number = shared_cell(address, size, true, frame[kReturnAddress]);
  if (number >= 0)
    stop_before(wish_of(AccessKind::Store, number, cell, frame[kReturnAddress], is_volatile));
  else if (is_on_own_stack(address))
    return;
  world.note_store(cell, number);
}

// Whether any other thread could notice the store.
bool is_noticed(char* address, std::size_t size, void* pc) {
  if (world.makes_graphs) return is_shared_in_graph(address, size, pc);
  bool noticed = false;
  in_pieces(address, size, [&](char* at, std::size_t count) { noticed |= shared_cell(at, count, true, pc) >= 0; });
  return noticed;
}

}  // namespace

bool is_on_own_stack(const void* address) {
  const Fiber& me = world.me();
  return address >= me.stack && address < me.stack + me.stack_size;
}

// Blocks lie apart from each other, so that what reaches beyond one is in none.
void fail_unless_allocated(const void* address, std::size_t size, bool writes, void* pc) {
  if (world.is_lost(address))
    world.fail(Finding::UseAfterEnd,
               writes ? "a store to a variable of a thread that has ended" : "a load of a variable of a thread that has ended",
               pc);
  if (!is_in_arena(address)) return;
  const Block* block = block_at(address);
  if (block == nullptr || static_cast<const char*>(address) + size > block->begin + block->size)
    world.fail(Finding::OutOfBounds,
               writes ? "a store outside of every block of the heap" : "a load outside of every block of the heap", pc);
  if (block->is_freed)
    world.fail(Finding::UseAfterFree, writes ? "a store to memory that was freed" : "a load of memory that was freed", pc);
}

// Stop before an access; others may free its memory in the meantime.
void stop_before(const Wish& wish) {
  world.stop(wish);
  if (wish.kind != AccessKind::Load && wish.number >= 0)
    world.cells.learned |= world.guards.written(wish.number, world.me().held);
  fail_unless_allocated(wish.cell.address, wish.cell.size, wish.kind != AccessKind::Load, wish.pc);
}

// The number of the cell if the access is a step of its own, else -1.
int shared_cell(void* address, std::size_t size, bool writes, void* pc) {
  world.settle();
  world.watch_use(address, size, writes);
  int number = -1;
  if (!world.is_alone() && !is_local_storage(address)) number = world.cells.touch(address, size, world.me().id, writes);
  if (number < 0) fail_unless_allocated(address, size, writes, pc);
  if (number < 0 && world.scouts && !world.is_alone() && ++world.me().unnoticed > kMostUnnoticed) world.let_others_run();
  return number;
}

Wish wish_of(AccessKind kind, int number, const Cell& cell, void* pc, bool is_atomic) {
  Wish wish;
  wish.what = Wish::What::Access;
  wish.kind = kind;
  wish.number = number;
  wish.cell = cell;
  wish.pc = pc;
  wish.is_atomic = is_atomic;
  return wish;
}

void fence_step(void* pc) {
  if (!world.in_program) return;
  world.settle();
  Wish wish;
  wish.what = Wish::What::Fence;
  wish.kind = AccessKind::Fence;
  wish.pc = pc;
  wish.is_atomic = true;
  wish.name = "fence";
  world.stop(wish);
}

// A locked access that nobody else notices still empties the store buffer.
void fence_if_needed(void* pc) {
  if (world.me().has_unfenced_store) fence_step(pc);
}

void store_piece(const Cell& cell, std::uint64_t value, void* pc, bool is_volatile) {
  const int number = shared_cell(cell.address, cell.size, true, pc);
  if (number >= 0) {
    stop_before(wish_of(AccessKind::Store, number, cell, pc, is_volatile));
    world.log_value(value);
  }
  if (value != cell.read() && (number >= 0 || !is_on_own_stack(cell.address))) world.changed();
  if (number >= 0 && world.simulates && !world.is_alone())
    world.buffer_store(cell, number, value);
  else
    cell.write(value);
}

std::uint64_t load_step(const Cell& cell, int number, void** frame, bool is_atomic) {
  Wish wish = wish_of(AccessKind::Load, number, cell, frame[kReturnAddress], is_atomic);
  const std::uint64_t state = wish.state = world.me().is_in_library ? 0 : world.consider_waiting(wish, frame);
  stop_before(wish);
  const std::uint64_t value = world.value_for(world.me(), cell);
  world.see(wish, value, state);
  world.log_value(value);
  return value;
}

// The program loads once the hook has returned. Until its next hook, memory holds what it is to see: the cells as they were
// when their turn came, its own buffered stores included.
void read_all(void* address, std::size_t size, void** frame, bool is_volatile) {
  if (world.makes_graphs) return graph_read_all(static_cast<char*>(address), size, frame);
  List<Buffered>& loaded = world.me().loaded;
  loaded.clear();
  in_pieces(address, size, [&](char* at, std::size_t count) {
    const int number = shared_cell(at, count, false, frame[kReturnAddress]);
    if (number < 0) return;
    const Cell cell{at, static_cast<std::uint8_t>(count)};
    loaded.push_back({cell, number, load_step(cell, number, frame, is_volatile)});
  });
  for (const Buffered& one : loaded) {
    const std::uint64_t real = one.cell.read();
    if (one.value == real) continue;
    world.me().shown.push_back({one.cell, one.number, real});
    one.cell.write(one.value);
  }
}

void write_late(char* address, std::size_t size, void** frame, bool is_volatile, bool awaits_load) {
  LateStore& late = world.me().late;
  world.settle();
  if (!is_noticed(address, size, frame[kReturnAddress])) {
    if (!is_on_own_stack(address)) world.changed();
    return;
  }
  late.address = address;
  late.size = size;
  late.pc = frame[kReturnAddress];
  late.is_volatile = is_volatile;
  late.awaits_load = awaits_load;
  late.remember();
}

void write_all(void* address, std::size_t size, void** frame, bool is_volatile) {
  auto* at = static_cast<char*>(address);
  if (!world.makes_graphs && (reinterpret_cast<std::uintptr_t>(at) & 7) + size <= 8)
    write_piece(at, size, frame, is_volatile);
  else
    write_late(at, size, frame, is_volatile, false);
}

void World::store_late() {
  LateStore& late = current->late;
  const std::size_t size = late.size;
  late.size = 0;
  if (makes_graphs) {
    List<char> bytes;
    bytes.swap(late.after);
    return graph_store_late(late.address, bytes.data(), size, late.pc);
  }
  in_pieces(late.address, size, [&](char* at, std::size_t count) {
    std::uint64_t value = 0;
    __builtin_memcpy(&value, late.after.data() + (at - late.address), count);
    store_piece({at, static_cast<std::uint8_t>(count)}, value, late.pc, late.is_volatile);
  });
}

}  // namespace memfence::running
