// Between the loader and `main`: explore the program, or just run it.
#include "start.hpp"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "arena.hpp"
#include "complain.hpp"
#include "driver.hpp"
#include "real.hpp"

extern char** environ;

namespace memfence::running {

int report_descriptor = -1;

bool is_explored() {
  static int answer = -1;
  if (answer >= 0) return answer != 0;
  if (environ == nullptr) return false;
  answer = 0;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (strncmp(*entry, "MEMFENCE_RUN=", 13) == 0) answer = 1;
  if (answer != 0) open_arena();
  return answer != 0;
}

bool is_before_main() { return !world.is_on && is_explored(); }

namespace {

int (*main_)(int, char**, char**) = nullptr;

// Addresses must be the same in every process that runs a schedule.
void without_randomisation(char** argv) {
  const int now = personality(0xffffffff);
  if (now == -1 || (now & ADDR_NO_RANDOMIZE) != 0 || getenv("MEMFENCE_RANDOMISED") != nullptr) return;
  setenv("MEMFENCE_RANDOMISED", "1", 1);
  if (personality(static_cast<unsigned>(now) | ADDR_NO_RANDOMIZE) != -1) execv("/proc/self/exe", argv);
}

int explored_main(int argc, char** argv, char** environment) {
  if (!is_explored()) return main_(argc, argv, environment);
  without_randomisation(argv);
  return explore_program(main_, argc, argv, environment);
}

}  // namespace

}  // namespace memfence::running

extern "C" {
using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

__attribute__((visibility("default"))) int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                                             void (*loader_fini)(), void* stack_end) {
  memfence::running::main_ = main;
  const auto real = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return real(memfence::running::explored_main, argc, argv, init, fini, loader_fini, stack_end);
}
}
