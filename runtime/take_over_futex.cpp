// Futexes, by way of `syscall`: what std::atomic::wait and hand-made locks sleep at.
//
// All of them are steps on the cell of the futex word, which the kernel compares before a thread sleeps.
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "real.hpp"
#include "signalling.hpp"

using namespace memfence::running;

#define PC __builtin_return_address(0)

namespace {

long futex(unsigned* word, int operation, unsigned value, bool timed, void* pc) {
  const int command = operation & FUTEX_CMD_MASK;
  const bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
  if (!waits && command != FUTEX_WAKE && command != FUTEX_WAKE_BITSET)
    world.fail(Finding::Unsupported, "a futex operation other than wait and wake", pc);
  world.settle();
  world.changed();
  int number = world.is_alone() ? -1 : world.cells.touch(word, sizeof(*word), world.me().id, true);
  if (number < 0 && !world.is_alone()) number = world.cells.synchronisation(word, kFutex);
  Wish wish = world.wish_for(word, kFutex, waits ? "futex wait" : "futex wake", pc, nullptr);
  wish.number = number;
  world.stop(wish);
  if (!waits) return world.wake(word, static_cast<int>(value));
  if (*word != value) {
    errno = EAGAIN;
    return -1;
  }
  if (await_signal(word, number, "waits at the futex", pc, timed)) return 0;
  errno = ETIMEDOUT;
  return -1;
}

}  // namespace

MEMFENCE_EXPORT long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  if (!world.in_program) return MEMFENCE_REAL(syscall, number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (number == SYS_futex)
    return futex(reinterpret_cast<unsigned*>(a[0]), static_cast<int>(a[1]), static_cast<unsigned>(a[2]),
                 a[3] != 0 && (static_cast<int>(a[1]) & FUTEX_CMD_MASK) != FUTEX_WAKE, PC);
  if (number == SYS_gettid) return 1000 + world.me().id;
  if (number == SYS_membarrier) world.fail(Finding::Unsupported, "the system call membarrier", PC);
  return MEMFENCE_REAL(syscall, number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
