// What the thread instrumentation of gcc and LLVM calls: before each load and store, instead of each atomic operation, and at the
// beginning and end of each function.
//
// The entry points keep the registers that survive calls on the stack: together with the stack they are what the thread
// knows, and a thread that comes back to a load knowing the same, with nothing changed, waits (world_memory.cpp).
#include "accesses.hpp"
#include "graph_stops.hpp"

extern "C" {
__attribute__((visibility("hidden"))) void** memfence_frame = nullptr;  // r15, r14, r13, r12, rbx, rbp, return address
}

namespace memfence::running {

namespace {

constexpr int kRelease = 3, kSequentiallyConsistent = 5;

template <class T>
T atomic_load(volatile T* address, int order) {
  if (!world.in_program) return __atomic_load_n(address, __ATOMIC_SEQ_CST);
  void** frame = memfence_frame;
  T* at = const_cast<T*>(address);
  if (world.makes_graphs) return static_cast<T>(graph_load(at, sizeof(T), order, frame));
  const int number = shared_cell(at, sizeof(T), false, frame[kReturnAddress]);
  if (number < 0) return *at;
  return static_cast<T>(load_step({at, sizeof(T)}, number, frame, true));
}

template <class T>
void atomic_store(volatile T* address, T value, int order) {
  if (!world.in_program) return __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
  void** frame = memfence_frame;
  T* at = const_cast<T*>(address);
  if (world.makes_graphs) return graph_store(at, sizeof(T), static_cast<std::uint64_t>(value), order, frame);
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
  if (order >= kRelease) ++world.me().releases;
  if (number >= 0 && !locked && world.simulates && !world.is_alone())
    world.buffer_store(cell, number, static_cast<std::uint64_t>(value));
  else
    *at = value;
}

template <class T, class F>
T read_modify_write(volatile T* address, int order, F&& function) {
  T* at = const_cast<T*>(address);
  if (!world.in_program) {
    T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(at, &old, function(old), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return old;
  }
  void** frame = memfence_frame;
  if (world.makes_graphs) {
    const T old = static_cast<T>(graph_begin_update(at, sizeof(T), order, frame));
    graph_end_update(at, sizeof(T), static_cast<std::uint64_t>(static_cast<T>(function(old))));
    return old;
  }
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

// A compare-exchange loads what it expects first, and stores there what it found instead: accesses like others. (After a
// failure for no reason there is nothing new to store; on x86 there is no such failure.)
template <class T>
T load_expected(T* expected, void** frame) {
  if (world.makes_graphs) {
    graph_read_all(reinterpret_cast<char*>(expected), sizeof(T), frame);
    return *expected;
  }
  const int number = shared_cell(expected, sizeof(T), false, frame[kReturnAddress]);
  return number < 0 ? *expected : static_cast<T>(load_step({expected, sizeof(T)}, number, frame, false));
}
template <class T>
void store_expected(T* expected, T found, void** frame) {
  if (world.makes_graphs) {
    world.settle();
    graph_store_late(reinterpret_cast<char*>(expected), reinterpret_cast<const char*>(&found), sizeof(T),
                     frame[kReturnAddress]);
    return;
  }
  store_piece({expected, sizeof(T)}, static_cast<std::uint64_t>(found), frame[kReturnAddress], false);
}

// Both kinds, as events of a graph.
template <class T>
int exchange_in_graph(volatile T* address, T* expected, T desired, int order, int failing, bool is_weak) {
  void** frame = memfence_frame;
  const T wanted = load_expected(expected, frame);
  bool succeeds = false;
  const Exchange exchange{static_cast<std::uint64_t>(wanted), static_cast<std::uint64_t>(desired), order, failing, is_weak};
  const auto found = static_cast<T>(graph_compare_exchange(const_cast<T*>(address), sizeof(T), exchange, frame, succeeds));
  if (!succeeds && found != wanted) store_expected(expected, found, frame);
  return succeeds;
}

// It may fail though the cell holds what is expected. A cell that nobody else notices is no exception.
template <class T>
int weak_compare_exchange(volatile T* address, T* expected, T desired, int order, int failing) {
  T* at = const_cast<T*>(address);
  if (!world.in_program) return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  if (world.makes_graphs) return exchange_in_graph(address, expected, desired, order, failing, true);
  void** frame = memfence_frame;
  const T wanted = load_expected(expected, frame);
  const int number = shared_cell(at, sizeof(T), true, frame[kReturnAddress]);
  Wish wish = wish_of(AccessKind::LockedStore, number, {at, sizeof(T)}, frame[kReturnAddress], true);
  wish.whim = Whim::Failure;
  wish.whims = 1;
  wish.expected = static_cast<std::uint64_t>(wanted);
  if (number < 0) {
    fence_if_needed(frame[kReturnAddress]);
    wish.what = Wish::What::Choice;
    wish.kind = AccessKind::Load;
  } else {
    wish.state = world.consider_waiting(wish, frame);
  }
  if (wish.state == 0) wish.state = world.state_of(frame);
  stop_before(wish);
  const T old = *at;
  world.log_value(static_cast<std::uint64_t>(old));
  const bool fails = world.me().choice != 0;
  if (old != wanted || fails) {
    world.see(wish, static_cast<std::uint64_t>(old), wish.state);
    if (old != wanted) store_expected(expected, old, frame);
    if (fails)
      world.probe({.whim = Whim::Failure,
                   .site = frame[kReturnAddress],
                   .state = wish.state,
                   .cell = wish.cell,
                   .expected = reinterpret_cast<char*>(expected)});
    return 0;
  }
  *at = desired;
  if (old != desired) world.changed();
  world.log_value(static_cast<std::uint64_t>(desired));
  return 1;
}

template <class T>
int compare_exchange(volatile T* address, T* expected, T desired, int order, int failing) {
  if (world.in_program && world.makes_graphs) return exchange_in_graph(address, expected, desired, order, failing, false);
  void** frame = memfence_frame;
  const T wanted = world.in_program ? load_expected(expected, frame) : *expected;
  memfence_frame = frame;  // others were here meanwhile
  const T old = read_modify_write<T>(address, order, [&](T now) { return now == wanted ? desired : now; });
  if (old == wanted) return 1;
  if (world.in_program)
    store_expected(expected, old, frame);
  else
    *expected = old;
  return 0;
}

// What Rust calls: expected and found are values, and nothing is stored for the caller.
template <class T>
T compare_exchange_of_value(volatile T* address, T expected, T desired, int order, int failing) {
  if (!world.in_program || !world.makes_graphs)
    return read_modify_write<T>(address, order, [&](T now) { return now == expected ? desired : now; });
  bool succeeds = false;
  const Exchange exchange{static_cast<std::uint64_t>(expected), static_cast<std::uint64_t>(desired), order, failing, false};
  return static_cast<T>(graph_compare_exchange(const_cast<T*>(address), sizeof(T), exchange, memfence_frame, succeeds));
}

}  // namespace

char load_byte(const char* from, void** frame) {
  read_all(const_cast<char*>(from), 1, frame, false);
  return *from;
}
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
  if (!world.in_program) return;
  read_all(address, size, memfence_frame, is_volatile != 0);
  LateStore& late = world.me().late;
  if (late.awaits_load) late.remember();  // others may have stored there in the meantime
  late.awaits_load = false;
}
// A store of what the program loads next: `to = from`, for structures.
__attribute__((visibility("hidden"))) void memfence_copy(char* address, std::size_t size, unsigned is_volatile) {
  if (world.in_program) write_late(address, size, memfence_frame, is_volatile != 0, true);
}
// A load of what is stored next: a bit-field among others.
__attribute__((visibility("hidden"))) void memfence_update(char* address, std::size_t size, unsigned is_volatile) {
  if (!world.in_program) return;
  void** frame = memfence_frame;
  read_all(address, size, frame, is_volatile != 0);
  List<Buffered> shown;
  shown.swap(world.me().shown);
  write_late(address, size, frame, is_volatile != 0, false);
  shown.swap(world.me().shown);
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
  if (world.in_program && world.makes_graphs) return graph_fence(order, __builtin_return_address(0));
  if (order >= kRelease && world.in_program) {
    world.settle();  // the store before it is not behind the fence
    ++world.me().releases;
  }
  if (order == kSequentiallyConsistent) fence_step(__builtin_return_address(0));
}
__attribute__((visibility("default"))) void __tsan_atomic_signal_fence(int) {}
// Stands where the program's assembler text has an mfence or the like.
__attribute__((visibility("hidden"))) void memfence_fence_at(void* pc) { fence_step(pc); }

#define ATOMIC_BODIES(BITS, T)                                                                                             \
  __attribute__((visibility("hidden"))) T memfence_load##BITS(volatile T* a, int o) { return atomic_load<T>(a, o); }       \
  __attribute__((visibility("hidden"))) void memfence_store##BITS(volatile T* a, T v, int o) { atomic_store<T>(a, v, o); } \
  __attribute__((visibility("hidden"))) T memfence_exchange##BITS(volatile T* a, T v, int o) {                             \
    return read_modify_write<T>(a, o, [&](T) { return v; });                                                               \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_add##BITS(volatile T* a, T v, int o) {                                  \
    return read_modify_write<T>(a, o, [&](T x) { return static_cast<T>(x + v); });                                         \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_sub##BITS(volatile T* a, T v, int o) {                                  \
    return read_modify_write<T>(a, o, [&](T x) { return static_cast<T>(x - v); });                                         \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_and##BITS(volatile T* a, T v, int o) {                                  \
    return read_modify_write<T>(a, o, [&](T x) { return static_cast<T>(x & v); });                                         \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_or##BITS(volatile T* a, T v, int o) {                                   \
    return read_modify_write<T>(a, o, [&](T x) { return static_cast<T>(x | v); });                                         \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_xor##BITS(volatile T* a, T v, int o) {                                  \
    return read_modify_write<T>(a, o, [&](T x) { return static_cast<T>(x ^ v); });                                         \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_nand##BITS(volatile T* a, T v, int o) {                                 \
    return read_modify_write<T>(a, o, [&](T x) { return static_cast<T>(~(x & v)); });                                      \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) int memfence_cas##BITS(volatile T* a, T* c, T v, int o, int f) {                   \
    return compare_exchange<T>(a, c, v, o, f);                                                                             \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) int memfence_weak_cas##BITS(volatile T* a, T* c, T v, int o, int f) {              \
    return weak_compare_exchange<T>(a, c, v, o, f);                                                                        \
  }                                                                                                                        \
  __attribute__((visibility("hidden"))) T memfence_cas_val##BITS(volatile T* a, T c, T v, int o, int f) {                  \
    return compare_exchange_of_value<T>(a, c, v, o, f);                                                                    \
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
