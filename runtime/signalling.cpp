#include "signalling.hpp"

namespace memfence::running {

bool World::waits_for_ever() const {
  bool waits = false;
  for (int id = 0; id < known_threads(); ++id) {
    if (is_done(id) || is_unborn(id)) continue;
    if (fibers_[id]->wish.spins_roughly) return false;
    waits = true;
  }
  return waits;
}

Wish World::wish_for(void* object, Synchronisation kind, const char* name, void* pc, bool (*is_ready)(const Fiber&)) {
  Wish wish;
  wish.what = Wish::What::Synchronise;
  wish.kind = AccessKind::LockedStore;
  wish.number = is_alone() ? -1 : cells.synchronisation(object, kind, me().id);
  wish.cell = {object, 0};
  wish.pc = pc;
  wish.is_ready = is_ready;
  wish.object = object;
  wish.object_kind = kind;
  wish.name = name;
  return wish;
}

void World::synchronise(void* object, Synchronisation kind, const char* name, void* pc, bool (*is_ready)(const Fiber&),
                        Role role) {
  settle();
  changed();
  Wish wish = wish_for(object, kind, name, pc, is_ready);
  wish.role = role;
  stop(wish);
}

void World::try_to_take(void* object, Synchronisation kind, const char* name, void* pc, bool (*may)(const Fiber&)) {
  settle();
  changed();
  Wish wish = wish_for(object, kind, name, pc, nullptr);
  wish.role = Role::Takes;
  wish.tries = may;
  stop(wish);
}

void World::begin_once(void* object, Synchronisation kind, const char* name, void* pc, bool (*is_ready)(const Fiber&),
                       bool (*is_first)(const Fiber&)) {
  settle();
  changed();
  Wish wish = wish_for(object, kind, name, pc, is_ready);
  wish.tries = is_first;
  stop(wish);
}

void World::look_at(void* object, Synchronisation kind, const char* name, void* pc) {
  settle();
  Wish wish = wish_for(object, kind, name, pc, nullptr);
  wish.kind = AccessKind::Load;
  wish.role = Role::Looks;
  stop(wish);
}

int& World::tokens_of(void* object) {
  for (Queue& queue : queues_)
    if (queue.object == object) return queue.tokens;
  queues_.push_back({object, 0});
  return queues_.back().tokens;
}

bool World::has_waiting(const void* object) const {
  for (int i = 0; i < created_ids_end_; ++i)
    if (fibers_[i]->state == Fiber::State::Running && fibers_[i]->waits_on == object) return true;
  return false;
}

int World::wake(void* object, int count) {
  int waiting = 0;
  for (int i = 0; i < created_ids_end_; ++i) {
    Fiber& fiber = *fibers_[i];
    if (fiber.state != Fiber::State::Running || fiber.waits_on != object) continue;
    fiber.is_eligible = true;
    ++waiting;
  }
  int& tokens = tokens_of(object);
  const int woken = count < waiting - tokens ? count : waiting - tokens;
  tokens += woken;
  return woken;
}

bool is_signalled(const Fiber& fiber) { return fiber.is_eligible && world.tokens_of(fiber.waits_on) > 0; }

bool await_signal_in_graph(void* object, Synchronisation kind, const char* waits, const char* wakes_up, void* pc) {
  Fiber& me = world.me();
  Wish wish;
  wish.pc = pc;
  wish.what = Wish::What::Choice;
  wish.name = waits;
  GraphStop choice;
  choice.kind = graphs::ActionKind::Choice;
  choice.ways = 2;
  const bool is_spurious = world.may_be_spurious(Whim::WakeUp) && world.stop(wish, choice) != 0;
  world.synchronise(object, kind, is_spurious ? wakes_up : waits, pc, is_spurious ? nullptr : is_signalled);
  const bool signalled = is_signalled(me);
  if (is_spurious && signalled) world.give_up_execution(pc);  // it takes the signal instead
  if (signalled) --world.tokens_of(object);
  me.waits_on = nullptr;
  me.is_eligible = false;
  return signalled;
}

Awaited await_signal(const Wish& wish) {
  Fiber& me = world.me();
  me.waits_on = wish.object;
  me.is_eligible = false;
  world.stop(wish);
  const bool spurious = me.choice != 0, signalled = !spurious && is_signalled(me);
  if (signalled) --world.tokens_of(wish.object);
  if (spurious && world.logs && !world.log.empty()) world.log.back().wish.name = "wakes up without a signal";
  if (!spurious && !signalled && world.logs && !world.log.empty()) world.log.back().wish.name = "its time is over";
  me.waits_on = nullptr;
  me.is_eligible = false;
  return {signalled, spurious, me.choice};
}

}  // namespace memfence::running
