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

// Others may use the object until then: destroying is a step.
template <class Busy>
int destroy(int& mark, void* object, Synchronisation kind, const char* name, const char* what, void* pc, const Busy& busy) {
  world.synchronise(object, kind, name, pc);
  require_alive(mark, what, pc);
  if (busy()) return 16;  // EBUSY
  mark = kDestroyed;
  return 0;
}

}  // namespace memfence::running
