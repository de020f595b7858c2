#include "world.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstring>

#include "arena.hpp"
#include "complain.hpp"
#include "exits.hpp"
#include "pages.hpp"
#include "real.hpp"
#include "switch.hpp"

namespace memfence::running {

World world;

namespace {

constexpr std::size_t kStack = std::size_t{8} << 20;
constexpr std::size_t kGuardPages = 64 << 10;
constexpr std::uintptr_t kStacks = 0x300000000000;  // where a schedule that was saved finds them again
constexpr std::uintptr_t kAboveThreads = 0x320000000000;  // and their variables

void begin_fiber() { world.enter_fiber(); }

Fiber* make_fiber(int id) {
  auto* fiber = new (allocate_own(sizeof(Fiber))) Fiber;
  fiber->id = id;
  auto* wanted = reinterpret_cast<void*>(kStacks + static_cast<std::size_t>(id) * (kStack + kGuardPages));
  void* room = MEMFENCE_REAL(mmap, wanted, kStack + kGuardPages, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) give_up("no room for the stack of a thread");
  mprotect(room, kGuardPages, PROT_NONE);
  fiber->stack = static_cast<char*>(room) + kGuardPages;
  fiber->stack_size = kStack;
  fiber->thread_local_storage.resize(local_storage_size());
  fiber->variables = make_variables(id);
  return fiber;
}

}  // namespace

void World::open(int (*main)(int, char**, char**), int argc, char** argv, char** environment) {
  main_ = main;
  argc_ = argc;
  argv_ = argv;
  environment_ = environment;
  is_single_threaded_ = static_cast<char*>(dlsym(RTLD_DEFAULT, "__libc_single_threaded"));
  main_storage_.resize(local_storage_size());
  thread_storage_.resize(local_storage_size());
  save_local_storage(main_storage_.data());
  fill_local_storage(thread_storage_.data());
  identities_.push_back({-1, 0});
  fibers_[0] = make_fiber(0);
  created_ids_end_ = 1;
  is_on = true;
}

int World::identify(int parent, int index) {
  for (std::size_t i = 0; i < identities_.size(); ++i)
    if (identities_[i].parent == parent && identities_[i].index == index) return static_cast<int>(i);
  if (identities_.size() == kMostFibers) return -1;
  identities_.push_back({parent, index});
  fibers_[created_ids_end_] = make_fiber(created_ids_end_);
  cells.learned = true;
  return created_ids_end_++;
}

// A fiber that has not begun: switching to it calls `begin_fiber`.
void World::prepare(Fiber& fiber) {
  auto** top = reinterpret_cast<void**>(fiber.stack + fiber.stack_size);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(&begin_fiber);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  fiber.stack_pointer = top;
  fiber.state = Fiber::State::Running;
  const List<char>& storage = fiber.id == 0 ? main_storage_ : thread_storage_;
  __builtin_memcpy(fiber.thread_local_storage.data(), storage.data(), storage.size());
  fill_variables(fiber.variables, fiber.id == 0);
}

void World::reset() {
  restore_snapshot();
  reset_arena();
  forget_keys();
  forget_at_exit();
  for (int i = 0; i < created_ids_end_; ++i) {
    Fiber& f = *fibers_[i];
    if (f.state == Fiber::State::Unborn) continue;
    f.state = Fiber::State::Unborn;
    f.joined = f.detached = f.quiet_birth = f.is_gone = f.is_endless = f.is_eligible = f.has_unfenced_store = f.is_in_library =
        false;
    f.created = 0;
    f.releases = f.stored_releases = f.epoch = 0;
    f.joiner = -1;
    f.wish = Wish{};
    f.freed.clear();
    f.unsettled = Cell{};
    f.buffer.clear();
    f.shown.clear();
    f.late.size = 0;
    f.late.awaits_load = false;
    f.seen.clear();
    f.calls.clear();
    f.values.clear();
    f.exits.clear();
    f.cleanups.clear();
    f.waits_on = nullptr;
    f.choice = 0;
    f.changes = 0;
    f.unchanged_since = nullptr;
    f.checked = f.polled = Seen{};
    f.probe = Probe{};
    f.has_failed_for_no_reason = false;
    f.spurious.clear();
    f.held.clear();
    f.ask = GraphStop{};
    f.has_update = f.restores_object = false;
    f.object = nullptr;
    f.trail.clear();
    f.nanoseconds = f.chance = 0;
  }
  fibers_[0]->exits = early_exits;
  unjoined_ = 0;
  has_threads = false;
  ending_ = -1;
  failure = Failure{};
  ignored_signals = 0;
  has_ended = is_interrupted = runs_tests = false;
  leads_back = Return::None;
  storage_owner_ = nullptr;
  queues_.clear();
  for (StoreQueue& queue : store_queues_) queue.entered = queue.left = 0;
  log.clear();
  call_log.clear();
  access_log.clear();
  plan_size_ = plan_at_ = 0;
  prepare(*fibers_[0]);
  is_beginning_ = true;
  resume(*fibers_[0]);
  is_beginning_ = false;
}

void World::use_storage(Fiber& of) {
  if (storage_owner_ == &of) return;
  if (storage_owner_ != nullptr) save_local_storage(storage_owner_->thread_local_storage.data());
  load_local_storage(of.thread_local_storage.data());
  use_variables(of.variables);
  storage_owner_ = &of;
}

void World::resume(Fiber& to) {
  use_storage(to);
  current = &to;
  in_program = true;
  memfence_switch(&scheduler_stack, to.stack_pointer);
  in_program = false;
}

void World::run(const int* steps, std::size_t count) {
  plan_ = steps;
  plan_size_ = count;
  plan_at_ = 0;
  while (plan_at_ < plan_size_ && !(makes_graphs ? failure.kind != Finding::None : is_over())) {
    const int step = plan_[plan_at_++];
    if (step < 0) {
      flush(~step);
    } else {
      Fiber& to = *fibers_[step % kMostFibers];
      to.choice = step / kMostFibers;
      if (given_ != nullptr) to.given = given_[plan_at_ - 1];
      resume(to);
    }
  }
}

// The fiber has stopped or ended: go on with the next step that is planned, else tell the scheduler. Returns when the fiber
// was chosen.
void World::next(Fiber& from) {
  while (plan_at_ < plan_size_) {
    const int step = plan_[plan_at_++];
    if (step < 0) {
      flush(~step);
      continue;
    }
    Fiber& to = *fibers_[step % kMostFibers];
    to.choice = step / kMostFibers;
    if (given_ != nullptr) to.given = given_[plan_at_ - 1];
    if (&to == &from && from.state != Fiber::State::Done) return;
    use_storage(to);
    current = &to;
    memfence_switch(&from.stack_pointer, to.stack_pointer);
    return;
  }
  in_program = false;
  memfence_switch(&from.stack_pointer, scheduler_stack);
}

namespace {

// The stack below is empty again. What was there would be found in variables that the program has not set yet, and a thread
// that comes back to where it was would not look the same.
__attribute__((noinline)) void scrub() {
  constexpr std::size_t kScrubbed = 2048;
  char below[kScrubbed];
  std::memset(below, 0, kScrubbed);
  asm volatile("" : : "r"(below) : "memory");
}

}  // namespace

void World::scrub_below() { scrub(); }

void World::stop(const Wish& wish) {
  if (makes_graphs) return stop_as_graph(wish);
  Fiber& me = *current;
  ++progress;
  me.unnoticed = 0;
  me.wish = wish;
  me.choice = 0;
  if (wish.locked()) me.has_unfenced_store = false;
  if (wish.kind == AccessKind::Store) me.has_unfenced_store = true;
  if (me.probe.whim != Whim::None) judge(me);
  if (unjoined_ == 0 && wish.whims == 0 && (wish.is_ready == nullptr || wish.is_ready(me))) {
    logged_ = false;
    return;
  }
  next(me);
  scrub();
  logged_ = logs;
  if (logs) write_down(me);
}

void World::let_others_run() { stop(Wish{}); }

bool World::is_ready(int id) const {
  const Fiber& fiber = *fibers_[id];
  if (fiber.state != Fiber::State::Running) return false;
  if (simulates && !fiber.buffer.empty()) {
    if (fiber.wish.locked() || fiber.wish.what == Wish::What::End) return false;
    if (fiber.wish.kind == AccessKind::Load && needs_flush(fiber)) return false;
  }
  return fiber.wish.is_ready == nullptr || fiber.wish.is_ready(fiber);
}

void World::write_down(const Fiber& fiber) {
  const std::size_t first = call_log.size();
  for (std::size_t i = fiber.calls.size(); i-- > 0;) call_log.push_back(fiber.calls[i]);
  const std::size_t more = access_log.size();
  for (const NumberedAccess& access : fiber.freed) access_log.push_back(access);
  if (fiber.choice != 0 && fiber.wish.mutex_number >= 0) {  // it takes the mutex as well
    access_log.push_back({AccessKind::LockedStore, fiber.wish.number});
    access_log.push_back({AccessKind::LockedStore, fiber.wish.mutex_number});
  }
  log.push_back({fiber.id, fiber.wish, 0, false, first, call_log.size(), more, access_log.size(), false, fiber.choice,
                 makes_graphs ? static_cast<int>(fiber.trail.size()) - 1 : -1});
}

int World::next_thread(void* pc) {
  const int id = identify(current->id, current->created);
  if (id < 0) fail(Finding::Unsupported, "more than 64 threads", pc);
  return id;
}

void World::create(void* (*start)(void*), void* argument, bool detached, void* pc) {
  Fiber& me = *current;
  settle();
  changed();
  Fiber& born = *fibers_[next_thread(pc)];
  const bool quiet = is_beginning_ && (makes_graphs || unjoined_ == 0);
  ++unjoined_;
  has_threads = true;
  if (!quiet) stop(wish_for(&born, kBirth, "pthread_create", pc, nullptr));
  ++me.created;
  if (is_single_threaded_ != nullptr) *is_single_threaded_ = 0;  // libraries count without locked steps until then
  prepare(born);
  born.nanoseconds = me.nanoseconds;
  born.start = start;
  born.argument = argument;
  born.detached = detached;
  born.quiet_birth = quiet;
  born.wish.what = Wish::What::Begin;
  born.wish.kind = AccessKind::LockedStore;
  born.wish.pc = reinterpret_cast<void*>(start);
  born.wish.name = "begin";
  born.wish.number = quiet ? -1 : cells.synchronisation(&born, kBirth);
  if (!makes_graphs || quiet) return;
  born.ask.kind = graphs::ActionKind::Read;
  born.ask.location = born.wish.number;
  born.ask.order = born.ask.otherwise = graphs::kAtomic | graphs::kAcquire;
  born.trail.push_back(born.wish.pc);
}

void World::joined(Fiber& other) {
  other.joined = true;
  if (other.id != 0) --unjoined_;
}

void World::enter_fiber() {
  Fiber& me = *current;
  if (me.id == 0) end_process(Exit::Usual, memfence_call_main(main_, argc_, argv_, environment_), nullptr, nullptr);
  if (logs) write_down(me);
  finish(me.start(me.argument));
}

void World::fail(Finding kind, const char* message, void* pc) {
  memfence_failure();
  if (current != nullptr && in_program) {
    failure.thread = current->id;
    const Fiber& me = *current;
    if (logs) {
      Wish wish;
      wish.pc = pc;
      wish.name = "failure";
      Fiber& mine = *current;
      mine.wish = wish;
      write_down(me);
    }
  }
  failure.kind = kind;
  failure.pc = pc;
  std::strncpy(failure.message, message, sizeof(failure.message) - 1);
  plan_size_ = plan_at_ = 0;
  Fiber& me = *current;
  me.state = Fiber::State::Done;
  in_program = false;
  memfence_switch(&me.stack_pointer, scheduler_stack);
  __builtin_unreachable();
}

bool World::is_lost(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at < kStacks || at >= kAboveThreads) return false;
  for (int i = 0; i < created_ids_end_; ++i) {
    const Fiber& fiber = *fibers_[i];
    if (!fiber.is_gone || &fiber == current) continue;
    if (address >= fiber.stack && address < fiber.stack + fiber.stack_size) return true;
    if (fiber.variables != nullptr && address >= variables_begin(fiber.variables) && address < fiber.variables) return true;
  }
  return false;
}

bool World::is_on_stack_guard(const void* address) const {
  for (int i = 0; i < created_ids_end_; ++i)
    if (address >= fibers_[i]->stack - kGuardPages && address < fibers_[i]->stack) return true;
  return false;
}

}  // namespace memfence::running
