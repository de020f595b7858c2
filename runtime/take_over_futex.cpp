// Futexes, by way of `syscall`: what std::atomic::wait and hand-made locks sleep at.
//
// All of them are steps on the cell of the futex word, which the kernel compares before a thread sleeps.
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "graph_stops.hpp"
#include "mutex.hpp"
#include "real.hpp"
#include "signalling.hpp"
#include "text.hpp"

using namespace memfence::running;

namespace {

// Until when a wait lasts at most; `time` null: for ever.
struct Limit {
  const timespec* time;
  bool is_absolute;

  // The time is over.
  void pass() const {
    const auto then = static_cast<std::uint64_t>(time->tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time->tv_nsec);
    std::uint64_t& now = world.me().nanoseconds;
    constexpr std::uint64_t kBegin = kFirstSecond * 1'000'000'000u;
    if (!is_absolute)
      now += then;
    else if (then > kBegin && now < then - kBegin)
      now = then - kBegin;
  }
};

// As events: the thread is there to be woken, looks at the word, and sleeps. Who wakes it has written before: either this
// thread sees the new value, or the other one finds it here.
long futex_wait_in_graph(unsigned* word, unsigned value, const Limit& limit, void** frame, std::uint64_t state) {
  void* const pc = frame[kReturnAddress];
  Fiber& me = world.me();
  if (world.is_back_asleep(word, state)) world.give_up_execution(pc);
  world.synchronise(word, kFutex, "futex wait", pc);
  me.waits_on = word;
  me.is_eligible = false;
  if (graph_look(word, sizeof(*word), pc) != value) {
    world.synchronise(word, kFutex, "does not wait", pc);
    me.waits_on = nullptr;
    errno = EAGAIN;
    return -1;
  }
  if (await_signal_in_graph(word, kFutex, "waits at the futex",
                            limit.time != nullptr ? "its time is over" : "wakes up without a signal", pc)) {
    world.changed();
    return 0;
  }
  world.follow_whim(Whim::WakeUp, site_of(frame), word, state);
  if (limit.time == nullptr) return 0;
  limit.pass();
  errno = ETIMEDOUT;
  return -1;
}

// The thread sleeps, if the word still has that value.
long futex_wait(unsigned* word, unsigned value, int number, const Limit& limit, bool patient, void** frame) {
  void* const pc = frame[kReturnAddress];
  const std::uint64_t state = world.state_of(frame);
  if (world.makes_graphs) return futex_wait_in_graph(word, value, limit, frame, state);
  Wish wish = world.wish_for(word, kFutex, "futex wait", pc, nullptr);
  wish.number = number;
  wish.state = state;
  world.stop(wish);
  if (*word != value) {
    errno = EAGAIN;
    return -1;
  }
  wish.name = "waits at the futex";
  wish.is_ready = limit.time != nullptr ? nullptr : is_signalled;
  if (!patient) {
    wish.whim = Whim::WakeUp;
    wish.whims = 2;
  }
  const Awaited end = await_signal(wish);
  if (end.is_spurious) {
    if (!world.me().seen.empty()) world.me().seen.back().is_spurious = true;
    world.probe({.whim = Whim::WakeUp, .site = site_of(frame), .state = state, .object = word});
    if (end.choice == 1) return 0;
    errno = EINTR;
    return -1;
  }
  world.changed();
  if (end.is_signalled) return 0;
  limit.pass();
  errno = ETIMEDOUT;
  return -1;
}

long futex(unsigned* word, int operation, unsigned value, const timespec* time, bool patient, void** frame) {
  void* const pc = frame[kReturnAddress];
  const int command = operation & FUTEX_CMD_MASK;
  const bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
  if (!waits && command != FUTEX_WAKE && command != FUTEX_WAKE_BITSET)
    world.fail(Finding::Unsupported, "a futex operation other than wait and wake", pc);
  world.settle();
  if (world.makes_graphs) {
    if (waits) return futex_wait(word, value, -1, {time, command == FUTEX_WAIT_BITSET}, patient, frame);
    world.synchronise(word, kFutex, "futex wake", pc);
    return world.wake(word, static_cast<int>(value));
  }
  if (!waits) world.changed();
  int number = world.is_alone() ? -1 : world.cells.touch(word, sizeof(*word), world.me().id, true);
  if (number < 0 && !world.is_alone()) number = world.cells.synchronisation(word, kFutex);
  if (waits) return futex_wait(word, value, number, {time, command == FUTEX_WAIT_BITSET}, patient, frame);
  Wish wish = world.wish_for(word, kFutex, "futex wake", pc, nullptr);
  wish.number = number;
  world.stop(wish);
  return world.wake(word, static_cast<int>(value));
}

// System calls that touch no memory of the program.
constexpr long kHarmless[] = {SYS_getpid, SYS_getppid, SYS_getuid,      SYS_geteuid,
                              SYS_getgid, SYS_getegid, SYS_sched_yield, SYS_write};

// `patient`: the caller looks again whatever has woken it, and is never woken for no reason.
long system_call(long number, long a0, long a1, long a2, long a3, long a4, bool patient) {
  void** const frame = memfence_frame;
  const long a[6] = {a0, a1, a2, a3, a4, reinterpret_cast<long>(frame[kReturnAddress + 1])};
  void* const pc = frame[kReturnAddress];
  if (!world.in_program) return MEMFENCE_REAL(syscall, number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (number == SYS_futex)
    return futex(reinterpret_cast<unsigned*>(a[0]), static_cast<int>(a[1]), static_cast<unsigned>(a[2]),
                 reinterpret_cast<const timespec*>(a[3]), patient, frame);
  if (number == SYS_gettid) return 1000 + world.me().id;
  if (std::ranges::find(kHarmless, number) == std::end(kHarmless)) {
    Text<128> message;
    message << "the system call with the number " << static_cast<std::uint64_t>(number) << " cannot be explored";
    world.fail(Finding::Unsupported, message.content(), pc);
  }
  return MEMFENCE_REAL(syscall, number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // namespace

// Entered by way of hook_entries.cpp, which keeps the registers of the caller. The last argument is on the stack.
MEMFENCE_BODY long memfence_syscall(long number, long a0, long a1, long a2, long a3, long a4) {
  return system_call(number, a0, a1, a2, a3, a4, false);
}
MEMFENCE_BODY long memfence_patient_syscall(long number, long a0, long a1, long a2, long a3, long a4) {
  return system_call(number, a0, a1, a2, a3, a4, true);
}
