// How a thread ends: from the frame that calls pthread_exit outwards, handlers of pthread_cleanup_push and destructors of
// C++ run; then destructors of thread-local variables, then those of its values of keys.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <threads.h>
#include <unwind.h>

#include <utility>

#include "exits.hpp"
#include "mutex.hpp"
#include "pages.hpp"
#include "real.hpp"

using namespace memfence::running;

#define PC __builtin_return_address(0)

// --- Handlers and destructors of frames --------------------------------------------------------------------------------------

namespace {

// Where C runs a handler: behind the `__sigsetjmp` of its pthread_cleanup_push. The handler's end calls `go_outwards`.
[[noreturn]] void run_handler() {
  List<void*>& cleanups = world.me().cleanups;
  void* const buffer = cleanups.back();
  cleanups.pop_back();
  world.settle();
  // By this name the compiler may call one that looks for overruns, which knows nothing of our stacks.
  static const auto jump = reinterpret_cast<void (*)(void*, int)>(dlsym(RTLD_NEXT, "siglongjmp"));
  jump(buffer, 1);
  __builtin_unreachable();
}

_Unwind_Reason_Code leave_frame(int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception*,
                                _Unwind_Context* context, void*) {
  Fiber& me = world.me();
  const bool is_end = (actions & _UA_END_OF_STACK) != 0;
  const auto frame_end = reinterpret_cast<char*>(_Unwind_GetCFA(context));
  if (!me.cleanups.empty() && (is_end || static_cast<char*>(me.cleanups.back()) < frame_end)) run_handler();
  if (is_end) world.finish(me.result);
  return _URC_NO_REASON;
}

[[noreturn]] void go_outwards() {
  Fiber& me = world.me();
  me.unwinding = {};
  _Unwind_ForcedUnwind(&me.unwinding, leave_frame, nullptr);
  if (!me.cleanups.empty()) run_handler();  // a frame that nobody can unwind
  world.finish(me.result);
}

}  // namespace

void memfence::running::exit_thread(void* result, void*) {
  world.settle();
  world.me().result = result;
  go_outwards();
}

extern "C" {
void __pthread_register_cancel(__pthread_unwind_buf_t*);
void __pthread_unregister_cancel(__pthread_unwind_buf_t*);
void __pthread_unwind_next(__pthread_unwind_buf_t*);
}
MEMFENCE_EXPORT void __pthread_register_cancel(__pthread_unwind_buf_t* buffer) {
  if (!world.in_program) return MEMFENCE_REAL(__pthread_register_cancel, buffer);
  world.me().cleanups.push_back(buffer);
}
MEMFENCE_EXPORT void __pthread_unregister_cancel(__pthread_unwind_buf_t* buffer) {
  if (!world.in_program) return MEMFENCE_REAL(__pthread_unregister_cancel, buffer);
  List<void*>& cleanups = world.me().cleanups;
  while (!cleanups.empty() && cleanups.back() != buffer) cleanups.pop_back();
  if (!cleanups.empty()) cleanups.pop_back();
}
MEMFENCE_EXPORT void __pthread_unwind_next(__pthread_unwind_buf_t* buffer) {
  if (!world.in_program) {
    MEMFENCE_REAL(__pthread_unwind_next, buffer);
    __builtin_unreachable();
  }
  go_outwards();
}

// --- Keys --------------------------------------------------------------------------------------------------------------------

namespace {

struct Key {
  pthread_key_t key;
  void (*destructor)(void*);
  bool is_deleted;
};
constexpr pthread_key_t kFirstKey = 1 << 16;  // those of before `main` are libc's own
List<Key> keys_;
std::size_t early_keys_ = 0;

const void* taken_value(pthread_key_t key) {
  for (ThreadLocalValue& value : world.me().values)
    if (value.key == key) return std::exchange(value.value, nullptr);
  return nullptr;
}

}  // namespace

void memfence::running::forget_keys() {
  keys_.resize(early_keys_);
  for (Key& key : keys_) key.is_deleted = false;
}

void memfence::running::destroy_variables() {
  List<ThreadExit>& exits = world.me().exits;
  while (!exits.empty()) {
    const ThreadExit last = exits.back();
    exits.pop_back();
    const bool is_early = is_local_storage(last.object);  // the program had no copy of its own then
    last.function(is_early ? as_program_sees(last.object) : last.object);
    world.settle();
  }
}

// A destructor may set values again: as libc does, this is looked at a few times.
void memfence::running::destroy_values() {
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    bool found = false;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const Key key = keys_[i];
      if (key.destructor == nullptr || key.is_deleted) continue;
      const void* value = taken_value(key.key);
      if (value == nullptr) continue;
      found = true;
      key.destructor(const_cast<void*>(value));
      world.settle();
    }
    if (!found) return;
  }
}

MEMFENCE_EXPORT int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  if (!world.in_program) {
    const int error = MEMFENCE_REAL(pthread_key_create, key, destructor);
    if (error == 0 && !world.is_on) keys_.push_back({*key, destructor, false}), early_keys_ = keys_.size();
    return error;
  }
  if (keys_.size() == PTHREAD_KEYS_MAX) return EAGAIN;
  world.settle();
  *key = kFirstKey + static_cast<pthread_key_t>(keys_.size());
  keys_.push_back({*key, destructor, false});
  return 0;
}
MEMFENCE_EXPORT int pthread_key_delete(pthread_key_t key) {
  MEMFENCE_UNLESS_EXPLORED(pthread_key_delete, key);
  for (Key& known : keys_)
    if (known.key == key && !known.is_deleted) {
      known.is_deleted = true;
      return 0;
    }
  return EINVAL;
}
MEMFENCE_EXPORT int tss_create(tss_t* key, tss_dtor_t destructor) {
  MEMFENCE_UNLESS_EXPLORED(tss_create, key, destructor);
  return pthread_key_create(key, destructor) == 0 ? thrd_success : thrd_error;
}
MEMFENCE_EXPORT void tss_delete(tss_t key) {
  if (!world.in_program) return MEMFENCE_REAL(tss_delete, key);
  pthread_key_delete(key);
}
