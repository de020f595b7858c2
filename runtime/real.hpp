// The functions that the runtime stands in front of, for programs that just run.
#pragma once

#include <dlfcn.h>

#include "world.hpp"

#define MEMFENCE_EXPORT extern "C" __attribute__((visibility("default")))

#define MEMFENCE_BODY extern "C" __attribute__((visibility("hidden")))

// Call the function of the next library unless the program is being explored: REAL(pthread_join, thread, result).
#define MEMFENCE_REAL(NAME, ...)                                                         \
  ([&] {                                                                                 \
    static const auto real = reinterpret_cast<decltype(&NAME)>(dlsym(RTLD_NEXT, #NAME)); \
    return real(__VA_ARGS__);                                                            \
  }())
#define MEMFENCE_UNLESS_EXPLORED(NAME, ...) \
  if (!memfence::running::world.in_program) return MEMFENCE_REAL(NAME, __VA_ARGS__)
