// Values of a thread: keys, what std::call_once hands over, and what is to be done when the thread ends.
#include <pthread.h>

#include <mutex>

#include "pages.hpp"
#include "real.hpp"
#include "start.hpp"

using namespace memfence::running;

MEMFENCE_EXPORT void* pthread_getspecific(pthread_key_t key) {
  MEMFENCE_UNLESS_EXPLORED(pthread_getspecific, key);
  for (const ThreadLocalValue& value : world.me().values)
    if (value.key == key) return const_cast<void*>(value.value);
  return nullptr;
}

MEMFENCE_EXPORT int pthread_setspecific(pthread_key_t key, const void* content) {
  MEMFENCE_UNLESS_EXPLORED(pthread_setspecific, key, content);
  for (ThreadLocalValue& value : world.me().values)
    if (value.key == key) {
      value.value = content;
      return 0;
    }
  world.me().values.push_back({key, content});
  return 0;
}

extern "C" int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);
MEMFENCE_EXPORT int __cxa_thread_atexit_impl(void (*function)(void*), void* object, void* library) {
  if (!world.in_program && !is_before_main()) return MEMFENCE_REAL(__cxa_thread_atexit_impl, function, object, library);
  (world.in_program ? world.me().exits : world.early_exits).push_back({function, object});
  return 0;
}

// std::call_once hands its function over in a thread-local variable of the C++ library: the program has its own copies.
MEMFENCE_EXPORT void __once_proxy() { (*static_cast<void (**)()>(as_program_sees(&std::__once_call)))(); }
