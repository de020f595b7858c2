#include "object_states.hpp"

#include <semaphore.h>

#include "destroyed.hpp"
#include "exits.hpp"
#include "mutex.hpp"

namespace memfence::running {

namespace {

using graphs::Value;

constexpr Value kGone = Value{1} << 62;  // destroyed
constexpr int kMostWaiting = 24;         // threads that a condition variable or futex tells apart

int& word_of(void* object, int number) { return static_cast<int*>(object)[number]; }
int word_of(const void* object, int number) { return static_cast<const int*>(object)[number]; }

Value marked(Value state, int mark) { return mark == kDestroyed ? kGone : state; }
void set_mark(int& mark, Value state) {
  if (state == kGone)
    mark = kDestroyed;
  else if (mark == kDestroyed)
    mark = 0;
}

// Bits: who waits, who may take a signal, how many signals there are.
Value state_of_queue(const void* object, int mark) {
  Value state = 0;
  for (int id = 0; id < world.known_threads() && id < kMostWaiting; ++id) {
    const Fiber& fiber = world.fiber(id);
    if (fiber.state != Fiber::State::Running || fiber.waits_on != object) continue;
    state |= Value{1} << id;
    if (fiber.is_eligible) state |= Value{1} << (id + kMostWaiting);
  }
  return marked(state | static_cast<Value>(world.tokens_of(const_cast<void*>(object))) << (2 * kMostWaiting), mark);
}

void set_queue(void* object, Value state) {
  if (state == kGone) state = 0;
  for (int id = 0; id < world.known_threads() && id < kMostWaiting; ++id) {
    Fiber& fiber = world.fiber(id);
    if ((state >> id & 1) != 0) {
      fiber.waits_on = object;
      fiber.is_eligible = (state >> (id + kMostWaiting) & 1) != 0;
    } else if (fiber.waits_on == object) {
      fiber.waits_on = nullptr;
      fiber.is_eligible = false;
    }
  }
  world.tokens_of(object) = static_cast<int>(state >> (2 * kMostWaiting));
}

}  // namespace

bool has_room_for(int kind, const Fiber& fiber) { return (kind != kCondition && kind != kFutex) || fiber.id < kMostWaiting; }

Value state_of_object(const void* object, int kind) {
  switch (kind) {
    case kMutex: {
      const auto& mutex = *static_cast<const Mutex*>(object);
      return marked(mutex.owner | static_cast<Value>(mutex.count) << 32, mutex.kind);
    }
    case kSpinLock:
    case kOnce: return word_of(object, 0);
    case kSemaphore: return marked(static_cast<unsigned>(word_of(object, 0)), word_of(object, 1));
    case kBarrier:  // arrived, generation
      return marked(static_cast<Value>(word_of(object, 1)) | static_cast<Value>(word_of(object, 2)) << 32, word_of(object, 3));
    case kReadWriteLock:  // writer, readers
      return marked(static_cast<Value>(word_of(object, 0)) | static_cast<Value>(word_of(object, 1)) << 32, word_of(object, 2));
    case kGuard: {
      const auto* bytes = static_cast<const unsigned char*>(object);
      return bytes[0] | bytes[1] << 8;
    }
    case kCondition: return state_of_queue(object, word_of(object, 0));
    case kFutex: return state_of_queue(object, 0);
    case kExit: return static_cast<const Fiber*>(object)->state == Fiber::State::Done;
    case kAtExit: return world.ending_thread() + 1;
    default: return 0;
  }
}

void set_object(void* object, int kind, Value state) {
  const auto low = static_cast<int>(state & 0xffffffff), high = static_cast<int>(state >> 32);
  const bool is_gone = state == kGone;
  switch (kind) {
    case kMutex: {
      auto& mutex = *static_cast<Mutex*>(object);
      set_mark(mutex.kind, state);
      mutex.owner = is_gone ? 0 : low;
      mutex.count = is_gone ? 0 : high;
      break;
    }
    case kSpinLock:
    case kOnce: word_of(object, 0) = low; break;
    case kSemaphore:
      set_mark(word_of(object, 1), state);
      word_of(object, 0) = is_gone ? 0 : low;
      break;
    case kBarrier:
      set_mark(word_of(object, 3), state);
      word_of(object, 1) = is_gone ? 0 : low;
      word_of(object, 2) = is_gone ? 0 : high;
      break;
    case kReadWriteLock:
      set_mark(word_of(object, 2), state);
      word_of(object, 0) = is_gone ? 0 : low;
      word_of(object, 1) = is_gone ? 0 : high;
      break;
    case kGuard:
      static_cast<unsigned char*>(object)[0] = static_cast<unsigned char>(state & 0xff);
      static_cast<unsigned char*>(object)[1] = static_cast<unsigned char>(state >> 8 & 0xff);
      break;
    case kCondition:
      set_mark(word_of(object, 0), state);
      set_queue(object, state);
      break;
    case kFutex: set_queue(object, state); break;
    case kExit: static_cast<Fiber*>(object)->state = state != 0 ? Fiber::State::Done : Fiber::State::Running; break;
    case kAtExit: world.set_ending_thread(low - 1); break;
    default: break;
  }
}

}  // namespace memfence::running
