// memcpy, memmove and memset of the program, which is linked with `--wrap` for them: steps like its own loads and stores.
#include <cstring>

#include "real.hpp"

namespace memfence::running {
void copy_steps(char* to, const char* from, std::size_t size, bool backwards, void** frame);
void fill_steps(char* to, int value, std::size_t size, void** frame);
}  // namespace memfence::running

using namespace memfence::running;

namespace {

// What the entry points of hooks keep; registers are left out, so that no loop over these counts as one that waits.
struct Frame {
  void* words[8] = {};
  explicit Frame(void* pc) { words[7] = pc; }
};

}  // namespace

#define PC __builtin_return_address(0)

MEMFENCE_EXPORT void* __wrap_memcpy(void* to, const void* from, std::size_t size) {
  if (!world.in_program) return memcpy(to, from, size);
  Frame frame(PC);
  world.changed();
  copy_steps(static_cast<char*>(to), static_cast<const char*>(from), size, false, frame.words);
  return to;
}
MEMFENCE_EXPORT void* __wrap_memmove(void* to, const void* from, std::size_t size) {
  if (!world.in_program) return memmove(to, from, size);
  Frame frame(PC);
  world.changed();
  copy_steps(static_cast<char*>(to), static_cast<const char*>(from), size, to > from, frame.words);
  return to;
}
MEMFENCE_EXPORT void* __wrap_memset(void* to, int value, std::size_t size) {
  if (!world.in_program) return memset(to, value, size);
  Frame frame(PC);
  world.changed();
  fill_steps(static_cast<char*>(to), value, size, frame.words);
  return to;
}
