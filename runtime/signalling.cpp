#include "signalling.hpp"

namespace memfence::running {

int& World::tokens_of(void* object) {
  for (Queue& queue : queues_)
    if (queue.object == object) return queue.tokens;
  queues_.push_back({object, 0});
  return queues_.back().tokens;
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

namespace {

bool is_signalled(const Fiber& me) { return me.is_eligible && world.tokens_of(me.waits_on) > 0; }

}  // namespace

bool await_signal(void* object, int number, const char* name, void* pc, bool timed) {
  Fiber& me = world.me();
  me.waits_on = object;
  me.is_eligible = false;
  Wish wish = world.wish_for(object, kCondition, name, pc, timed ? nullptr : is_signalled);
  if (!world.is_alone() && number >= 0) wish.number = number;
  world.stop(wish);
  const bool signalled = is_signalled(me);
  if (signalled) --world.tokens_of(object);
  me.waits_on = nullptr;
  me.is_eligible = false;
  return signalled;
}

}  // namespace memfence::running
