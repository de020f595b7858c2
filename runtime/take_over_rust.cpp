// What Rust's standard library asks of the system before `main`, its locks, and how it panics.
//
// binary/rust_assembler.py makes the library's functions jump to those of the same meaning here: where a thread waits for a
// lock, and what every panic goes through once its message was printed. The message is what was written to stderr since.
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "graph_stops.hpp"
#include "mutex.hpp"
#include "real.hpp"

using namespace memfence::running;

namespace memfence::running {

namespace {

constexpr std::size_t kMostWords = 1000;

// The last that the thread has printed to stderr, in this execution.
struct LastWords {
  char text[kMostWords + 1] = {};
  std::size_t size = 0;

  void add(const char* more, std::size_t count) {
    if (count > kMostWords) count = kMostWords;
    if (size + count > kMostWords) size = 0;
    std::memcpy(text + size, more, count);
    size += count;
    text[size] = '\0';
  }
};

LastWords last_words_;

// `thread 'main' (7) panicked at src/main.rs:3:5:\nmessage\nnote: ...` as `message (src/main.rs:3:5)`.
void tell_panic(char (&message)[240]) {
  const char* end = last_words_.text + last_words_.size;
  const char* begin = nullptr;
  for (const char* next = last_words_.text; (next = std::strstr(next, "panicked at ")) != nullptr; ++next) begin = next;
  message[0] = '\0';
  if (begin == nullptr) return;
  begin += std::strlen("panicked at ");
  const char* place_end = std::strstr(begin, ":\n");
  if (place_end == nullptr) return;
  const char* text = place_end + 2;
  const char* text_end = end;
  for (const char* after : {"\nstack backtrace:", "\nnote: "})
    if (const char* found = std::strstr(text, after); found != nullptr && found < text_end) text_end = found;
  while (text_end > text && text_end[-1] == '\n') --text_end;
  std::size_t used = 0;
  const auto put = [&](const char* from, const char* to) {
    for (; from < to && used + 1 < sizeof(message); ++from) message[used++] = *from == '\n' ? ' ' : *from;
  };
  constexpr std::size_t kMostText = 150;
  put(text, static_cast<std::size_t>(text_end - text) > kMostText ? text + kMostText : text_end);
  put(" (", " (" + 2);
  put(begin, place_end);
  put(")", ")" + 1);
  message[used] = '\0';
}

}  // namespace

}  // namespace memfence::running

#define PC __builtin_return_address(0)

MEMFENCE_EXPORT void __memfence_panic() {
  if (!world.in_program) abort();
  world.settle();
  char message[240];
  tell_panic(message);
  last_words_.size = 0;
  world.fail(Finding::Panic, message, PC);
}

MEMFENCE_EXPORT void __memfence_test() { world.runs_tests = world.in_program; }

// --- Locks -------------------------------------------------------------------------------------------------------------------

// The words have the library's values, since the fast paths of its own code go on using them: 0 is free. What says that
// somebody sleeps is never set: a thread that waits here is ready once the word says so.
namespace {

constexpr std::uint32_t kLocked = 1, kContended = 2;
constexpr std::uint32_t kReaders = (1u << 30) - 1, kWriting = kReaders, kMostReaders = kReaders - 1;

std::uint32_t word_of(const Fiber& me) { return *static_cast<const std::uint32_t*>(me.wish.object); }
bool is_unlocked(const Fiber& me) { return word_of(me) == 0; }
bool is_readable(const Fiber& me) { return word_of(me) < kMostReaders; }

void lock_word(std::uint32_t* word, const char* name, bool (*is_ready)(const Fiber&), std::uint32_t added, void* pc) {
  refuse_in_graphs("the locks of Rust's library", pc);
  world.settle();
  world.changed();
  int number = world.is_alone() ? -1 : world.cells.touch(word, sizeof(*word), world.me().id, true);
  if (number < 0 && !world.is_alone()) number = world.cells.synchronisation(word, kFutex);
  Wish wish = world.wish_for(word, kFutex, name, pc, is_ready);
  wish.number = number;
  world.stop(wish);
  *word += added;
}

}  // namespace

MEMFENCE_EXPORT void __memfence_lock(std::uint32_t* word) {
  if (world.in_program) return lock_word(word, "Mutex::lock", is_unlocked, kLocked, PC);
  while (__atomic_exchange_n(word, kContended, __ATOMIC_ACQUIRE) != 0)
    MEMFENCE_REAL(syscall, SYS_futex, word, FUTEX_WAIT_PRIVATE, kContended, nullptr);
}
MEMFENCE_EXPORT void __memfence_read_lock(std::uint32_t* word) {
  if (world.in_program) return lock_word(word, "RwLock::read", is_readable, 1, PC);
  for (std::uint32_t now = *word;; sched_yield())
    if (now < kMostReaders && __atomic_compare_exchange_n(word, &now, now + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return;
    else
      now = *word;
}
MEMFENCE_EXPORT void __memfence_write_lock(std::uint32_t* word) {
  if (world.in_program) return lock_word(word, "RwLock::write", is_unlocked, kWriting, PC);
  for (std::uint32_t free = 0;; free = 0, sched_yield())
    if (__atomic_compare_exchange_n(word, &free, kWriting, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
}

// Where `thread::scope` waits until none of its threads runs any more.
MEMFENCE_EXPORT std::size_t __memfence_scope(std::size_t* running, int) {
  if (!world.in_program) return __atomic_load_n(running, __ATOMIC_ACQUIRE);
  refuse_in_graphs("`thread::scope` of Rust's library", PC);
  world.settle();
  const int number = world.is_alone() ? -1 : world.cells.touch(running, sizeof(*running), world.me().id, true);
  Wish wish = world.wish_for(running, kFutex, "thread::scope", PC,
                             [](const Fiber& me) { return *static_cast<const std::size_t*>(me.wish.object) == 0; });
  if (number >= 0) wish.number = number;
  world.stop(wish);
  return 0;
}

// --- Atomic operations that nobody is to notice ------------------------------------------------------------------------------

#define PLAIN_ATOMICS(BITS, T)                                                                                             \
  MEMFENCE_EXPORT T __memfence_plain_atomic##BITS##_load(T* a, int) { return __atomic_load_n(a, __ATOMIC_SEQ_CST); }       \
  MEMFENCE_EXPORT void __memfence_plain_atomic##BITS##_store(T* a, T v, int) { __atomic_store_n(a, v, __ATOMIC_SEQ_CST); } \
  MEMFENCE_EXPORT T __memfence_plain_atomic##BITS##_exchange(T* a, T v, int) {                                             \
    return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                                                    \
  }                                                                                                                        \
  MEMFENCE_EXPORT T __memfence_plain_atomic##BITS##_fetch_add(T* a, T v, int) {                                            \
    return __atomic_fetch_add(a, v, __ATOMIC_SEQ_CST);                                                                     \
  }                                                                                                                        \
  MEMFENCE_EXPORT T __memfence_plain_atomic##BITS##_fetch_sub(T* a, T v, int) {                                            \
    return __atomic_fetch_sub(a, v, __ATOMIC_SEQ_CST);                                                                     \
  }                                                                                                                        \
  MEMFENCE_EXPORT T __memfence_plain_atomic##BITS##_fetch_and(T* a, T v, int) {                                            \
    return __atomic_fetch_and(a, v, __ATOMIC_SEQ_CST);                                                                     \
  }                                                                                                                        \
  MEMFENCE_EXPORT T __memfence_plain_atomic##BITS##_fetch_or(T* a, T v, int) {                                             \
    return __atomic_fetch_or(a, v, __ATOMIC_SEQ_CST);                                                                      \
  }                                                                                                                        \
  MEMFENCE_EXPORT T __memfence_plain_atomic##BITS##_fetch_xor(T* a, T v, int) {                                            \
    return __atomic_fetch_xor(a, v, __ATOMIC_SEQ_CST);                                                                     \
  }                                                                                                                        \
  MEMFENCE_EXPORT T __memfence_plain_atomic##BITS##_compare_exchange_val(T* a, T c, T v, int, int) {                       \
    __atomic_compare_exchange_n(a, &c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                      \
    return c;                                                                                                              \
  }
PLAIN_ATOMICS(8, std::uint8_t)
PLAIN_ATOMICS(16, std::uint16_t)
PLAIN_ATOMICS(32, std::uint32_t)
PLAIN_ATOMICS(64, std::uint64_t)
MEMFENCE_EXPORT void __memfence_plain_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// --- What it asks before `main` ----------------------------------------------------------------------------------------------

MEMFENCE_EXPORT ssize_t write(int file, const void* text, std::size_t size) {
  if (world.in_program && file == STDERR_FILENO) last_words_.add(static_cast<const char*>(text), size);
  return MEMFENCE_REAL(write, file, text, size);
}
MEMFENCE_EXPORT ssize_t writev(int file, const iovec* pieces, int count) {
  if (world.in_program && file == STDERR_FILENO)
    for (int i = 0; i < count; ++i) last_words_.add(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
  return MEMFENCE_REAL(writev, file, pieces, count);
}

// The stack of the thread, as the runtime has made it: with a guard below.
MEMFENCE_EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) noexcept {
  MEMFENCE_UNLESS_EXPLORED(pthread_getattr_np, thread, attributes);
  if (thread != pthread_self())
    world.fail(Finding::Unsupported, "`pthread_getattr_np` of another thread cannot be explored", PC);
  const int error = pthread_attr_init(attributes);
  return error != 0 ? error : pthread_attr_setstack(attributes, world.me().stack, world.me().stack_size);
}
