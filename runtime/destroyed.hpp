// Locks and the like that the program has destroyed. The mark is in the object itself, so that it is reset with all memory,
// and gone when the object is initialised again.
#pragma once

#include "accesses.hpp"
#include "text.hpp"
#include "world.hpp"

namespace memfence::running {

constexpr int kDestroyed = -0x4d46;

// Where objects keep the mark: an int of theirs that holds no such value otherwise. Nor may their memory be freed.
inline void require_alive(const int& mark, const char* what, void* pc) {
  fail_unless_allocated(&mark, sizeof(mark), true, pc);
  if (mark != kDestroyed) return;
  Text<64> message;
  message << "use of a destroyed " << what;
  world.fail(Finding::Misuse, message.content(), pc);
}

// Others may use the object until then: destroying is a step, unless it is on the thread's stack and no other thread ever
// does. Locks must be free by then.
template <class Busy>
int destroy(int& mark, void* object, Synchronisation kind, const char* name, const char* what, void* pc, const Busy& busy) {
  const Fiber& me = world.me();
  const auto depth = static_cast<std::size_t>(static_cast<char*>(object) - me.stack);
  if (depth < me.stack_size && world.cells.is_own(object, kind, me.id)) {
    world.settle();
    world.changed();
  } else {
    world.synchronise(object, kind, name, pc);
  }
  require_alive(mark, what, pc);
  if (busy() && (kind == kMutex || kind == kReadWriteLock || kind == kSpinLock)) {
    Text<64> message;
    message << "destruction of a locked " << what;
    world.fail(Finding::Misuse, message.content(), pc);
  }
  if (busy()) return 16;  // EBUSY
  mark = kDestroyed;
  return 0;
}

}  // namespace memfence::running
