// How programs end: by a status, a signal, an exception that nobody catches, an assumption that is false. What counts as
// failing is not decided here: src/memfence/failures.py has the table, and options say which ends are normal.
#include <cxxabi.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <exception>

#include "pages.hpp"
#include "real.hpp"
#include "text.hpp"

using namespace memfence::running;
using memfence::AccessKind;

#define PC __builtin_return_address(0)

namespace {

[[noreturn]] void end_by(Finding kind, const char* function, const char* message, void* pc) {
  world.settle();
  world.failure.function = function;
  world.fail(kind, message, pc);
}

}  // namespace

// --- A status ------------------------------------------------------------------------------------------------------------------

MEMFENCE_EXPORT void exit(int status) noexcept {
  if (!world.in_program) {
    MEMFENCE_REAL(exit, status);
    __builtin_unreachable();
  }
  world.end_process(Exit::Usual, status, "exit", PC);
}
MEMFENCE_EXPORT void _exit(int status) {
  if (!world.in_program) {
    MEMFENCE_REAL(_exit, status);
    __builtin_unreachable();
  }
  world.end_process(Exit::AtOnce, status, "_exit", PC);
}
MEMFENCE_EXPORT void _Exit(int status) noexcept {
  if (!world.in_program) {
    MEMFENCE_REAL(_Exit, status);
    __builtin_unreachable();
  }
  world.end_process(Exit::AtOnce, status, "_Exit", PC);
}
MEMFENCE_EXPORT void quick_exit(int status) noexcept {
  if (!world.in_program) {
    MEMFENCE_REAL(quick_exit, status);
    __builtin_unreachable();
  }
  world.end_process(Exit::Quick, status, "quick_exit", PC);
}

// --- abort, and what C++ makes of it ---------------------------------------------------------------------------------------------

namespace {

// The exception that nobody catches, if there is one: the library has begun to handle it.
const char* uncaught_name() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return nullptr;
  int status = 0;
  const char* name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  return status == 0 ? name : type->name();
}

[[noreturn]] void end_by_library(void* pc) {
  world.settle();
  if (const char* name = is_program_code(pc) ? nullptr : uncaught_name()) {
    Text<256> thrown;
    thrown << name;
    world.fail(Finding::Exception, thrown.content(), pc);
  }
  end_by(Finding::Terminate, nullptr, "", pc);
}

bool has_own_terminate_handler() {
  const std::terminate_handler handler = std::get_terminate();
  return handler != nullptr && is_program_code(reinterpret_cast<void*>(handler));
}

}  // namespace

MEMFENCE_EXPORT void abort() noexcept {
  if (!world.in_program) {
    MEMFENCE_REAL(abort);
    __builtin_unreachable();
  }
  if (!is_program_code(PC) && uncaught_name() != nullptr) end_by_library(PC);
  if (world.is_abort_normal) world.end_process(Exit::AtOnce, 0, "abort", PC);
  end_by(Finding::Abort, "abort", "", PC);
}
// std::terminate()
MEMFENCE_EXPORT void _ZSt9terminatev() noexcept {
  if (!world.in_program) {
    static const auto real = reinterpret_cast<void (*)()>(dlsym(RTLD_NEXT, "_ZSt9terminatev"));
    real();
    __builtin_unreachable();
  }
  if (has_own_terminate_handler()) {
    std::get_terminate()();
    abort();
  }
  end_by_library(PC);
}
MEMFENCE_EXPORT void __cxa_pure_virtual() {
  if (world.in_program) end_by(Finding::Terminate, "__cxa_pure_virtual", "", PC);
  abort();
}
MEMFENCE_EXPORT void __cxa_deleted_virtual() {
  if (world.in_program) end_by(Finding::Terminate, "__cxa_deleted_virtual", "", PC);
  abort();
}

// --- Assertions ------------------------------------------------------------------------------------------------------------------

namespace {

[[noreturn]] void fail_assertion(const char* text, const char* file, unsigned line, const char* function, void* pc) {
  Text<256> message;
  message << "assertion `" << text << "` fails in " << function << " (" << file << ":" << line << ")";
  end_by(Finding::Assertion, nullptr, message.content(), pc);
}

}  // namespace

MEMFENCE_EXPORT void __assert_fail(const char* text, const char* file, unsigned line, const char* function) noexcept {
  if (!world.in_program) {
    static const auto real =
        reinterpret_cast<void (*)(const char*, const char*, unsigned, const char*)>(dlsym(RTLD_NEXT, "__assert_fail"));
    real(text, file, line, function);
    __builtin_unreachable();
  }
  fail_assertion(text, file, line, function, PC);
}
// std::__glibcxx_assert_fail: those of the C++ library itself.
MEMFENCE_EXPORT void _ZSt21__glibcxx_assert_failPKciS0_S0_(const char* file, int line, const char* function, const char* text) {
  if (world.in_program) fail_assertion(text, file, static_cast<unsigned>(line), function, PC);
  abort();
}
// What gcc calls where the program says that it never comes to.
MEMFENCE_EXPORT void __ubsan_handle_builtin_unreachable(void*) {
  if (world.in_program) end_by(Finding::Unreachable, nullptr, "", PC);
  abort();
}

// --- Signals that a thread sends to its own process ----------------------------------------------------------------------------

namespace {

const char* name_of_signal(int signal) {
  switch (signal) {
    case SIGHUP: return "SIGHUP";
    case SIGINT: return "SIGINT";
    case SIGQUIT: return "SIGQUIT";
    case SIGILL: return "SIGILL";
    case SIGTRAP: return "SIGTRAP";
    case SIGABRT: return "SIGABRT";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGKILL: return "SIGKILL";
    case SIGUSR1: return "SIGUSR1";
    case SIGSEGV: return "SIGSEGV";
    case SIGUSR2: return "SIGUSR2";
    case SIGPIPE: return "SIGPIPE";
    case SIGALRM: return "SIGALRM";
    case SIGTERM: return "SIGTERM";
    case SIGXCPU: return "SIGXCPU";
    case SIGXFSZ: return "SIGXFSZ";
    case SIGVTALRM: return "SIGVTALRM";
    case SIGPROF: return "SIGPROF";
    case SIGSYS: return "SIGSYS";
    default: return nullptr;
  }
}

bool is_harmless(int signal) {
  return signal == 0 || signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}

// Nobody handles signals: they end the process, or nothing happens.
int send_to_itself(int signal, const char* function, void* pc) {
  if (is_harmless(signal)) return 0;
  const char* name = name_of_signal(signal);
  if (name == nullptr) world.fail(Finding::Unsupported, "a signal that does not end the process cannot be explored", pc);
  if (signal != SIGKILL && (world.ignored_signals >> signal & 1) != 0) return 0;
  if (world.is_signal_normal) world.end_process(Exit::AtOnce, 0, function, pc);
  end_by(Finding::Signal, function, name, pc);
}

}  // namespace

MEMFENCE_EXPORT int raise(int signal) noexcept {
  MEMFENCE_UNLESS_EXPLORED(raise, signal);
  return send_to_itself(signal, "raise", PC);
}
MEMFENCE_EXPORT int pthread_kill(pthread_t thread, int signal) noexcept {
  MEMFENCE_UNLESS_EXPLORED(pthread_kill, thread, signal);
  return send_to_itself(signal, "pthread_kill", PC);
}
MEMFENCE_EXPORT int kill(pid_t process, int signal) noexcept {
  MEMFENCE_UNLESS_EXPLORED(kill, process, signal);
  if (process != 0 && process != getpid())
    world.fail(Finding::Unsupported, "a signal to another process cannot be explored", PC);
  return send_to_itself(signal, "kill", PC);
}

// --- SV-COMP, for programs that only declare these ---------------------------------------------------------------------------

namespace {

bool never(const Fiber&) { return false; }

// The execution does not count. What others do goes on: it would have been possible without this step.
void assume(int condition, const char* name, void* pc) {
  if (condition != 0) return;
  if (!world.in_program) _exit(0);
  world.settle();
  Wish wish;
  wish.what = Wish::What::Synchronise;
  wish.kind = AccessKind::Load;
  wish.pc = pc;
  wish.name = name;
  wish.is_ready = never;
  wish.is_void = true;
  world.stop(wish);
}

}  // namespace

MEMFENCE_EXPORT void __VERIFIER_assume(int condition) { assume(condition, "__VERIFIER_assume", PC); }
MEMFENCE_EXPORT void assume_abort_if_not(int condition) { assume(condition, "assume_abort_if_not", PC); }
MEMFENCE_EXPORT void reach_error() {
  if (world.in_program) end_by(Finding::Error, "reach_error", "", PC);
  abort();
}
MEMFENCE_EXPORT void __VERIFIER_error() {
  if (world.in_program) end_by(Finding::Error, "__VERIFIER_error", "", PC);
  abort();
}
// Called at the beginning of such a function that the program defines itself (binary/assembler.py).
MEMFENCE_BODY void memfence_error_at(void* pc) {
  if (world.in_program) end_by(Finding::Error, "reach_error", "", pc);
}
