// Time and chance, the same in every execution; and what cannot be explored, said so.
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "real.hpp"
#include "text.hpp"

using namespace memfence::running;

#define PC __builtin_return_address(0)

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kTick = 1'000;           // and each look at the clock takes that long

std::uint64_t now() {
  world.look_at_clock();
  return kFirstSecond * kSecond + (world.me().nanoseconds += kTick);
}
timespec as_timespec(std::uint64_t time) { return {static_cast<time_t>(time / kSecond), static_cast<long>(time % kSecond)}; }
void pass(const timespec& time) {
  world.settle();
  world.me().nanoseconds += static_cast<std::uint64_t>(time.tv_sec) * kSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t next_random() {
  std::uint64_t x = ++world.me().chance * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(world.me().id) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 31);
}

}  // namespace

// --- Time --------------------------------------------------------------------------------------------------------------------

MEMFENCE_EXPORT int clock_gettime(clockid_t clock, timespec* time) {
  MEMFENCE_UNLESS_EXPLORED(clock_gettime, clock, time);
  *time = as_timespec(now());
  return 0;
}
MEMFENCE_EXPORT int gettimeofday(timeval* time, void* zone) noexcept {
  MEMFENCE_UNLESS_EXPLORED(gettimeofday, time, zone);
  const timespec precise = as_timespec(now());
  *time = {precise.tv_sec, precise.tv_nsec / 1000};
  return 0;
}
MEMFENCE_EXPORT time_t time(time_t* into) noexcept {
  MEMFENCE_UNLESS_EXPLORED(time, into);
  const time_t seconds = as_timespec(now()).tv_sec;
  if (into != nullptr) *into = seconds;
  return seconds;
}
MEMFENCE_EXPORT clock_t clock() noexcept {
  MEMFENCE_UNLESS_EXPLORED(clock);
  return static_cast<clock_t>((now() - kFirstSecond * kSecond) / 1000);
}
MEMFENCE_EXPORT int nanosleep(const timespec* length, timespec* left) {
  MEMFENCE_UNLESS_EXPLORED(nanosleep, length, left);
  pass(*length);
  return 0;
}
MEMFENCE_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* length, timespec* left) {
  MEMFENCE_UNLESS_EXPLORED(clock_nanosleep, clock, flags, length, left);
  if ((flags & TIMER_ABSTIME) == 0) pass(*length);
  return 0;
}
MEMFENCE_EXPORT int usleep(useconds_t length) {
  MEMFENCE_UNLESS_EXPLORED(usleep, length);
  pass({static_cast<time_t>(length / 1'000'000), static_cast<long>(length % 1'000'000) * 1000});
  return 0;
}
MEMFENCE_EXPORT unsigned sleep(unsigned length) {
  MEMFENCE_UNLESS_EXPLORED(sleep, length);
  pass({static_cast<time_t>(length), 0});
  return 0;
}
MEMFENCE_EXPORT int sched_yield() noexcept {
  MEMFENCE_UNLESS_EXPLORED(sched_yield);
  world.settle();
  return 0;
}

// --- Chance ------------------------------------------------------------------------------------------------------------------

MEMFENCE_EXPORT ssize_t getrandom(void* into, std::size_t size, unsigned flags) {
  if (!world.in_program) {
    static const auto real = reinterpret_cast<ssize_t (*)(void*, std::size_t, unsigned)>(dlsym(RTLD_NEXT, "getrandom"));
    return real(into, size, flags);
  }
  for (std::size_t i = 0; i < size; ++i) static_cast<char*>(into)[i] = static_cast<char>(next_random());
  return static_cast<ssize_t>(size);
}
// The numbers of libc come from one state that all threads share, and nobody would see its loads and stores.
MEMFENCE_EXPORT int rand() noexcept {
  MEMFENCE_UNLESS_EXPLORED(rand);
  return static_cast<int>(next_random() & RAND_MAX);
}
MEMFENCE_EXPORT long random() noexcept {
  MEMFENCE_UNLESS_EXPLORED(random);
  return static_cast<long>(next_random() & RAND_MAX);
}
MEMFENCE_EXPORT long lrand48() noexcept {
  MEMFENCE_UNLESS_EXPLORED(lrand48);
  return static_cast<long>(next_random() & RAND_MAX);
}
MEMFENCE_EXPORT double drand48() noexcept {
  MEMFENCE_UNLESS_EXPLORED(drand48);
  return static_cast<double>(next_random() >> 11) * 0x1p-53;
}
MEMFENCE_EXPORT int rand_r(unsigned* seed) noexcept {
  MEMFENCE_UNLESS_EXPLORED(rand_r, seed);
  world.changed();
  *seed = *seed * 1103515245 + 12345;
  return static_cast<int>(*seed >> 1);
}
// std::random_device::operator()
MEMFENCE_EXPORT unsigned _ZNSt13random_device9_M_getvalEv(void* device) {
  if (!world.in_program) {
    static const auto real = reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "_ZNSt13random_device9_M_getvalEv"));
    return real(device);
  }
  return static_cast<unsigned>(next_random());
}

// --- What cannot be explored ---------------------------------------------------------------------------------------------------

namespace {
[[noreturn]] void refuse(const char* what, void* pc) {
  Text<128> message;
  message << "`" << what << "` cannot be explored";
  world.fail(Finding::Unsupported, message.content(), pc);
}
}  // namespace

#define REFUSED(RESULT, NAME, PARAMETERS, ...)             \
  MEMFENCE_EXPORT RESULT NAME PARAMETERS {                 \
    if (world.in_program) refuse(#NAME, PC);               \
    return MEMFENCE_REAL(NAME __VA_OPT__(, ) __VA_ARGS__); \
  }
REFUSED(pid_t, fork, () noexcept)
REFUSED(pid_t, vfork, () noexcept)
REFUSED(int, system, (const char* command), command)
REFUSED(FILE*, popen, (const char* command, const char* mode), command, mode)
REFUSED(int, pipe, (int ends[2]) noexcept, ends)
REFUSED(int, socket, (int domain, int type, int protocol) noexcept, domain, type, protocol)
// A look at files is none at other threads; whoever waits for them could wait for ever. Without files it is a pause.
MEMFENCE_EXPORT int poll(pollfd* files, nfds_t count, int limit) {
  if (!world.in_program || limit == 0) return MEMFENCE_REAL(poll, files, count, limit);
  if (count != 0 || limit < 0) refuse("poll", PC);
  pass({limit / 1000, static_cast<long>(limit % 1000) * 1'000'000});
  return 0;
}
REFUSED(int, select, (int count, fd_set* in, fd_set* out, fd_set* bad, timeval* limit), count, in, out, bad, limit)
REFUSED(int, pthread_cancel, (pthread_t thread), thread)
REFUSED(int, pthread_timedjoin_np, (pthread_t thread, void** result, const timespec* limit), thread, result, limit)
REFUSED(int, pthread_clockjoin_np, (pthread_t thread, void** result, clockid_t clock, const timespec* limit), thread, result,
        clock, limit)
REFUSED(int, pthread_tryjoin_np, (pthread_t thread, void** result) noexcept, thread, result)
REFUSED(int, pthread_getname_np, (pthread_t thread, char* name, std::size_t size) noexcept, thread, name, size)
REFUSED(int, pthread_getaffinity_np, (pthread_t thread, std::size_t size, cpu_set_t* set) noexcept, thread, size, set)
REFUSED(int, pthread_setschedparam, (pthread_t thread, int policy, const sched_param* parameters) noexcept, thread, policy,
        parameters)
REFUSED(int, pthread_getschedparam, (pthread_t thread, int* policy, sched_param* parameters) noexcept, thread, policy,
        parameters)
REFUSED(sem_t*, sem_open, (const char* name, int flags, ...) noexcept, name, flags)
REFUSED(pid_t, waitpid, (pid_t process, int* status, int options), process, status, options)
REFUSED(unsigned, alarm, (unsigned seconds) noexcept, seconds)

// Signals are handled by the runtime, on a stack of its own.
MEMFENCE_EXPORT int sigaltstack(const stack_t* stack, stack_t* before) noexcept {
  MEMFENCE_UNLESS_EXPLORED(sigaltstack, stack, before);
  if (before != nullptr) *before = {nullptr, SS_DISABLE, 0};
  return 0;
}

namespace {
void ignore(int signal, bool ignored) {
  if (signal < 1 || signal > 63) return;
  const std::uint64_t bit = std::uint64_t{1} << signal;
  world.ignored_signals = ignored ? world.ignored_signals | bit : world.ignored_signals & ~bit;
}
}  // namespace

MEMFENCE_EXPORT __sighandler_t signal(int number, __sighandler_t handler) noexcept {
  if (world.in_program && handler != SIG_DFL && handler != SIG_IGN) refuse("signal", PC);
  if (world.in_program) {
    ignore(number, handler == SIG_IGN);
    return SIG_DFL;
  }
  return MEMFENCE_REAL(signal, number, handler);
}
MEMFENCE_EXPORT int sigaction(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  if (world.in_program && action != nullptr && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
    refuse("sigaction", PC);
  if (world.in_program && action != nullptr) ignore(number, action->sa_handler == SIG_IGN);
  static const auto real =
      reinterpret_cast<int (*)(int, const struct sigaction*, struct sigaction*)>(dlsym(RTLD_NEXT, "sigaction"));
  // A program that looks before it handles crashes itself, as Rust's library does, sees that somebody does already.
  if (world.in_program && action == nullptr && before != nullptr)
    return real(number == SIGBUS ? SIGSEGV : number, nullptr, before);
  if (world.in_program) return 0;
  return real(number, action, before);
}
MEMFENCE_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  MEMFENCE_UNLESS_EXPLORED(pthread_sigmask, how, set, before);
  return 0;
}
