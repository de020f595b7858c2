// What gcc's thread instrumentation calls: before each load and store, instead of each atomic operation, and at the
// beginning and end of each function.
//
// The entry points keep the registers that survive calls on the stack: together with the stack they are what the thread
// knows, and a thread that comes back to a load knowing the same, with nothing changed, waits (world_memory.cpp).
#include "arena.hpp"
#include "pages.hpp"
#include "world.hpp"

extern "C" {
__attribute__((visibility("hidden"))) void** memfence_frame = nullptr;  // r15, r14, r13, r12, rbx, rbp, return address
}

namespace memfence::running {

namespace {

constexpr int kRelease = 3, kSequentiallyConsistent = 5;
constexpr int kReturnAddress = 7;
constexpr std::uint32_t kMostUnnoticed = 1'000;

bool is_on_own_stack(const void* address) {
  const Fiber& me = world.me();
  return address >= me.stack && address < me.stack + me.stack_size;
}

void require_block(const void* address, bool writes, void* pc) {
  if (!is_in_arena(address)) return;
  const Block* block = block_at(address);
  if (block != nullptr && block->is_freed)
    world.fail(Finding::UseAfterFree, writes ? "a store to memory that was freed" : "a load of memory that was freed", pc);
}

// Stop before an access; others may free its memory in the meantime.
void stop_before(const Wish& wish) {
  world.stop(wish);
  require_block(wish.cell.address, wish.kind != AccessKind::Load, wish.pc);
}

// The number of the cell if the access is a step of its own, else -1.
int shared_cell(void* address, std::size_t size, bool writes, void* pc) {
  world.settle();
  int number = -1;
  if (!world.is_alone() && !is_local_storage(address)) number = world.cells.touch(address, size, world.me().id, writes);
  if (number < 0) require_block(address, writes, pc);
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

std::uint64_t load_step(const Cell& cell, int number, void** frame, bool is_atomic) {
  Wish wish = wish_of(AccessKind::Load, number, cell, frame[kReturnAddress], is_atomic);
  const std::uint64_t state = world.consider_waiting(wish, frame);
  stop_before(wish);
  const std::uint64_t value = world.value_for(world.me(), cell);
  world.see(wish, value, state);
  world.log_value(value);
  return value;
}

void read_piece(char* address, std::size_t size, void** frame, bool is_volatile) {
  const int number = shared_cell(address, size, false, frame[kReturnAddress]);
  if (number < 0) return;
  const Cell cell{address, static_cast<std::uint8_t>(size)};
  const std::uint64_t value = load_step(cell, number, frame, is_volatile);
  const std::uint64_t real = cell.read();
  if (value == real) return;
  world.me().shown.push_back({cell, number, real});  // memory holds the thread's own store until its next hook
  cell.write(value);
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

void read_all(void* address, std::size_t size, void** frame, bool is_volatile) {
  in_pieces(address, size, [&](char* at, std::size_t count) { read_piece(at, count, frame, is_volatile); });
}
void write_all(void* address, std::size_t size, void** frame, bool is_volatile) {
  in_pieces(address, size, [&](char* at, std::size_t count) { write_piece(at, count, frame, is_volatile); });
}

template <class T>
T atomic_load(volatile T* address) {
  if (!world.in_program) return __atomic_load_n(address, __ATOMIC_SEQ_CST);
  void** frame = memfence_frame;
  T* at = const_cast<T*>(address);
  const int number = shared_cell(at, sizeof(T), false, frame[kReturnAddress]);
  if (number < 0) return *at;
  return static_cast<T>(load_step({at, sizeof(T)}, number, frame, true));
}

template <class T>
void atomic_store(volatile T* address, T value, int order) {
  if (!world.in_program) return __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
  void** frame = memfence_frame;
  T* at = const_cast<T*>(address);
  const Cell cell{at, sizeof(T)};
  const int number = shared_cell(at, sizeof(T), true, frame[kReturnAddress]);
  const bool locked = order == kSequentiallyConsistent;
  if (number >= 0)
    stop_before(wish_of(locked ? AccessKind::LockedStore : AccessKind::Store, number, cell, frame[kReturnAddress], true));
  else if (locked)
    fence_if_needed(frame[kReturnAddress]);
  if (world.value_for(world.me(), cell) != static_cast<std::uint64_t>(value) && !(number < 0 && is_on_own_stack(at)))
    world.changed();
  if (number >= 0) world.log_value(static_cast<std::uint64_t>(value));
  if (order >= kRelease) ++world.me().epoch;
  if (number >= 0 && !locked && world.simulates && !world.is_alone())
    world.me().buffer.push_back({cell, number, static_cast<std::uint64_t>(value), world.me().epoch});
  else
    *at = value;
}

template <class T, class F>
T read_modify_write(volatile T* address, F&& function) {
  T* at = const_cast<T*>(address);
  if (!world.in_program) {
    T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(at, &old, function(old), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return old;
  }
  void** frame = memfence_frame;
  const Cell cell{at, sizeof(T)};
  const int number = shared_cell(at, sizeof(T), true, frame[kReturnAddress]);
  Wish wish = wish_of(AccessKind::LockedStore, number, cell, frame[kReturnAddress], true);
  std::uint64_t state = 0;
  if (number >= 0) {
    state = world.consider_waiting(wish, frame);
    stop_before(wish);
  } else {
    fence_if_needed(frame[kReturnAddress]);
  }
  const T old = *at, now = function(old);
  *at = now;
  if (old != now)
    world.changed();
  else if (number >= 0)
    world.see(wish, old, state);
  if (number >= 0) world.log_value(static_cast<std::uint64_t>(now));
  return old;
}

template <class T>
int compare_exchange(volatile T* address, T* expected, T desired) {
  const T wanted = *expected;
  const T old = read_modify_write<T>(address, [&](T now) { return now == wanted ? desired : now; });
  if (old == wanted) return 1;
  *expected = old;
  return 0;
}

}  // namespace

void copy_steps(char* to, const char* from, std::size_t size, bool backwards, void** frame) {
  const std::size_t pieces = (size + 7) / 8;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t at = 8 * (backwards ? pieces - 1 - i : i), count = size - at < 8 ? size - at : 8;
    char piece[8];
    read_all(const_cast<char*>(from) + at, count, frame, false);
    __builtin_memcpy(piece, from + at, count);
    write_all(to + at, count, frame, false);
    __builtin_memcpy(to + at, piece, count);
  }
}
void fill_steps(char* to, int value, std::size_t size, void** frame) {
  for (std::size_t at = 0; at < size; at += 8) {
    const std::size_t count = size - at < 8 ? size - at : 8;
    write_all(to + at, count, frame, false);
    __builtin_memset(to + at, value, count);
  }
}

}  // namespace memfence::running

using namespace memfence::running;

extern "C" {

__attribute__((visibility("hidden"))) void memfence_read(void* address, std::size_t size, unsigned is_volatile) {
  if (world.in_program) read_all(address, size, memfence_frame, is_volatile != 0);
}
__attribute__((visibility("hidden"))) void memfence_write(void* address, std::size_t size, unsigned is_volatile) {
  if (world.in_program) write_all(address, size, memfence_frame, is_volatile != 0);
}
__attribute__((visibility("hidden"))) void memfence_vptr_update(void** address, void* value) {
  if (world.in_program && *address != value) write_all(address, sizeof(void*), memfence_frame, false);
}

__attribute__((visibility("default"))) void __tsan_init() {}
__attribute__((visibility("default"))) void __tsan_func_entry(void* caller) {
  if (world.in_program) world.me().calls.push_back(caller);
}
__attribute__((visibility("default"))) void __tsan_func_exit() {
  if (world.in_program && !world.me().calls.empty()) world.me().calls.pop_back();
}
__attribute__((visibility("default"))) void __tsan_atomic_thread_fence(int order) {
  if (order >= kRelease && world.in_program) ++world.me().epoch;
  if (order == kSequentiallyConsistent) fence_step(__builtin_return_address(0));
}
__attribute__((visibility("default"))) void __tsan_atomic_signal_fence(int) {}
// Stands where the program's assembler text has an mfence or the like.
__attribute__((visibility("hidden"))) void memfence_fence_at(void* pc) { fence_step(pc); }

#define ATOMIC_BODIES(BITS, T)                                                                                             \
  __attribute__((visibility("hidden"))) T memfence_load##BITS(volatile T* a, int) { return atomic_load<T>(a); }            \
  __attribute__((visibility("hidden"))) void memfence_store##BITS(volatile T* a, T v, int o) { atomic_store<T>(a, v, o); } \
  __attribute__((visibility("hidden"))) T memfence_exchange##BITS(volatile T* a, T v, int) {                               \
    return read_modify_write<T>(a, [&](T) { return v; });                                                                  \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_add##BITS(volatile T* a, T v, int) {                                    \
    return read_modify_write<T>(a, [&](T x) { return static_cast<T>(x + v); });                                            \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_sub##BITS(volatile T* a, T v, int) {                                    \
    return read_modify_write<T>(a, [&](T x) { return static_cast<T>(x - v); });                                            \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_and##BITS(volatile T* a, T v, int) {                                    \
    return read_modify_write<T>(a, [&](T x) { return static_cast<T>(x & v); });                                            \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_or##BITS(volatile T* a, T v, int) {                                     \
    return read_modify_write<T>(a, [&](T x) { return static_cast<T>(x | v); });                                            \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_xor##BITS(volatile T* a, T v, int) {                                    \
    return read_modify_write<T>(a, [&](T x) { return static_cast<T>(x ^ v); });                                            \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_nand##BITS(volatile T* a, T v, int) {                                   \
    return read_modify_write<T>(a, [&](T x) { return static_cast<T>(~(x & v)); });                                         \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) int memfence_cas##BITS(volatile T* a, T* c, T v, int, int) {                       \
    return compare_exchange<T>(a, c, v);                                                                                   \
  }
ATOMIC_BODIES(8, std::uint8_t)
ATOMIC_BODIES(16, std::uint16_t)
ATOMIC_BODIES(32, std::uint32_t)
ATOMIC_BODIES(64, std::uint64_t)

__attribute__((visibility("hidden"))) void memfence_wide() {
  if (world.in_program) world.fail(Finding::Unsupported, "an atomic access of 16 bytes", memfence_frame[kReturnAddress]);
  __builtin_trap();
}

}  // extern "C"
