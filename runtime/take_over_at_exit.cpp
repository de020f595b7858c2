// What runs at the end of the process: functions of `atexit` and destructors of objects that live as long as it does, the
// last one first; then functions that the program calls destructors.
//
// The C library is not told of them, for a process ends many times here.
#include <stdlib.h>

#include "exits.hpp"
#include "pages.hpp"
#include "real.hpp"
#include "start.hpp"

using namespace memfence::running;

#define PC __builtin_return_address(0)

namespace {

struct Registered {
  void (*function)(void*);
  void* object;
  void* pc;  // those of libraries are none of the program's
};

struct AtExit {
  List<Registered> all, early;  // early: before `main`
  bool has_next() const {
    for (const Registered& one : all)
      if (is_program_code(one.pc)) return true;
    return false;
  }
  void run_next() {
    const Registered last = all.back();
    all.pop_back();
    if (is_program_code(last.pc)) last.function(last.object);
    world.settle();
  }
};
AtExit at_exit_, at_quick_exit_;
std::size_t destructors_left_ = 0;

int add(AtExit& list, const Registered& one, const char* name) {
  if (!world.in_program) {
    list.early.push_back(one);
    return 0;
  }
  world.synchronise(&at_exit_, kAtExit, name, one.pc);
  list.all.push_back(one);
  return 0;
}

}  // namespace

void* memfence::running::exit_object() { return &at_exit_; }

bool memfence::running::runs_at_exit(Exit exit) {
  switch (exit) {
    case Exit::Usual: return at_exit_.has_next() || destructors_left_ > 0;
    case Exit::Quick: return at_quick_exit_.has_next();
    case Exit::AtOnce: return false;
  }
  return false;
}

// One of them may register others, or call `exit` again: what is left runs then.
void memfence::running::run_at_exit(Exit exit) {
  AtExit& list = exit == Exit::Quick ? at_quick_exit_ : at_exit_;
  while (!list.all.empty()) list.run_next();
  while (exit == Exit::Usual && destructors_left_ > 0) {
    program_destructors().first[--destructors_left_]();
    world.settle();
  }
}

void memfence::running::forget_at_exit() {
  at_exit_.all = at_exit_.early;
  at_quick_exit_.all = at_quick_exit_.early;
  const std::size_t count = program_destructors().count;
  destructors_left_ = count > 1 ? count : 0;  // the compiler always adds one, which does nothing here
}

extern "C" int __cxa_atexit(void (*)(void*), void*, void*);
MEMFENCE_EXPORT int __cxa_atexit(void (*function)(void*), void* object, void* library) {
  if (!world.in_program && !is_before_main()) return MEMFENCE_REAL(__cxa_atexit, function, object, library);
  return add(at_exit_, {function, object, PC}, "atexit");
}

extern "C" int __cxa_at_quick_exit(void (*)(void*), void*);
MEMFENCE_EXPORT int __cxa_at_quick_exit(void (*function)(void*), void* library) {
  if (!world.in_program && !is_before_main()) return MEMFENCE_REAL(__cxa_at_quick_exit, function, library);
  return add(at_quick_exit_, {function, nullptr, PC}, "at_quick_exit");
}
