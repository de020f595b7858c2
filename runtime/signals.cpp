#include "signals.hpp"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "accesses.hpp"
#include "complain.hpp"
#include "pages.hpp"
#include "switch.hpp"
#include "world.hpp"

extern "C" void** memfence_frame;

namespace memfence::running {

namespace {

constexpr std::size_t kSignalStack = 64 << 10;
constexpr double kAlarm = 0.25;
constexpr int kFrameReturn = 7;  // in the frame that entry points of hooks keep
int most_ticks_ = 8, idle_ticks_ = 0;
std::uint64_t last_progress_ = 0;

// Where the thread entered the hook that it is in. Other threads may have entered hooks since.
void* pc_of_hook() {
  const Fiber& me = world.me();
  const auto* frame = reinterpret_cast<const char*>(memfence_frame);
  return frame >= me.stack && frame < me.stack + me.stack_size ? memfence_frame[kFrameReturn] : me.wish.pc;
}

void* place_of(const ucontext_t* context) {
  auto* pc = reinterpret_cast<void*>(context->uc_mcontext.gregs[REG_RIP]);
  if (!is_program_code(pc)) pc = pc_of_hook();
  if (!is_program_code(pc) && !world.me().calls.empty()) pc = world.me().calls.back();
  return pc;
}

// Go on in the scheduler as if the fiber had switched to it.
void go_to_scheduler(ucontext_t* context) {
  context->uc_mcontext.gregs[REG_RSP] = reinterpret_cast<greg_t>(world.scheduler_stack);
  context->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&memfence_resume);
}

// End the execution.
void land(ucontext_t* context, Finding kind, const char* message) {
  world.crash_landing(kind, place_of(context), message);
  go_to_scheduler(context);
}

const char* text_of(int signal) {
  switch (signal) {
    case SIGSEGV: return "a load or store at an address where there is no memory (SIGSEGV)";
    case SIGBUS: return "a load or store at a wrong address (SIGBUS)";
    case SIGFPE: return "a division by zero (SIGFPE)";
    default: return "an instruction that does not exist (SIGILL)";
  }
}

void on_fault(int signal, siginfo_t* info, void* raw) {
  if (signal == SIGSEGV && admit_write(info->si_addr)) return;
  auto* context = static_cast<ucontext_t*>(raw);
  if (!world.in_program) {
    ::signal(signal, SIG_DFL);
    give_up("a fault outside of the program");
  }
  if (signal == SIGSEGV && world.is_on_stack_guard(info->si_addr))
    return land(context, Finding::StackOverflow, "the stack of the thread (8 MB) is used up");
  const auto* code = reinterpret_cast<const unsigned char*>(context->uc_mcontext.gregs[REG_RIP]);
  const bool is_trap = signal == SIGILL && code[0] == 0x0f && code[1] == 0x0b;  // ud2: what __builtin_trap() becomes
  land(context, is_trap ? Finding::Trap : Finding::Crash, is_trap ? "" : text_of(signal));
}

void on_tick(int, siginfo_t*, void* raw) {
  if (!world.in_program || world.progress != last_progress_) {
    last_progress_ = world.progress;
    idle_ticks_ = 0;
    return;
  }
  if (++idle_ticks_ < most_ticks_) return;
  world.is_interrupted = true;  // its next hook ends it; if there is none, so do we
  if (idle_ticks_ < most_ticks_ + 2) return;
  idle_ticks_ = 0;
  auto* context = static_cast<ucontext_t*>(raw);
  auto* pc = reinterpret_cast<void*>(context->uc_mcontext.gregs[REG_RIP]);
  world.leave_behind(is_program_code(pc) ? pc : place_on_stack(reinterpret_cast<void**>(context->uc_mcontext.gregs[REG_RSP])));
  go_to_scheduler(context);
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

void* place_on_stack(void** top) {
  const Fiber& me = world.me();
  if (!is_on_own_stack(top)) return me.wish.pc;
  for (void** const end = reinterpret_cast<void**>(me.stack + me.stack_size); top < end; ++top)
    if (is_program_code(*top)) return *top;
  return me.wish.pc;
}

void take_over_signals(double seconds) {
  stack_t stack = {};
  stack.ss_size = kSignalStack;
  stack.ss_sp = mmap(nullptr, kSignalStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaltstack(&stack, nullptr);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) handle(signal, on_fault);
  most_ticks_ = static_cast<int>(seconds / kAlarm) + 1;
  handle(SIGALRM, on_tick);
  const itimerval every{{0, static_cast<suseconds_t>(kAlarm * 1e6)}, {0, static_cast<suseconds_t>(kAlarm * 1e6)}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

namespace {
bool is_never_ready(const Fiber&) { return false; }
}  // namespace

void World::leave_behind(void* pc) {
  Fiber& me = *current;
  is_interrupted = false;
  for (std::size_t i = me.shown.size(); i-- > 0;) me.shown[i].cell.write(me.shown[i].value);
  me.shown.clear();
  me.is_endless = true;
  me.wish = Wish{};
  me.wish.pc = pc;
  me.wish.name = "runs on for ever";
  me.wish.is_ready = is_never_ready;
  in_program = false;
}

void World::blame_endless() {
  if (is_over()) return;
  for (int id = 0; id < known_threads(); ++id) {
    if (is_done(id) || !fibers_[id]->is_endless) continue;
    failure.kind = Finding::EndlessLoop;
    failure.thread = id;
    failure.pc = fibers_[id]->wish.pc;
    strncpy(failure.message, kEndless, sizeof(failure.message) - 1);
  }
}

void World::crash_landing(Finding kind, void* pc, const char* message) {
  memfence_failure();
  failure.kind = kind;
  failure.thread = current->id;
  failure.pc = pc;
  strncpy(failure.message, message, sizeof(failure.message) - 1);
  current->state = Fiber::State::Done;
  plan_size_ = plan_at_ = 0;
  in_program = false;
  if (!logs) return;
  current->wish = Wish{};
  current->wish.pc = pc;
  current->wish.name = "failure";
  write_down(*current);
}

}  // namespace memfence::running
