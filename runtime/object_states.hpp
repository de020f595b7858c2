// What synchronises as a value: the state of a lock, a semaphore, a barrier and the like in 64 bits.
#pragma once

#include "world.hpp"

namespace memfence::running {

graphs::Value state_of_object(const void* object, int kind);
void set_object(void* object, int kind, graphs::Value state);
// Whether the state has room for this thread, where it names threads.
bool has_room_for(int kind, const Fiber& fiber);

}  // namespace memfence::running
