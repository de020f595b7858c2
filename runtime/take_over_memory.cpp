// memcpy and its relatives in the program, which is linked with `--wrap` for them: steps like its own loads and stores.
#include <cstdlib>
#include <cstring>

#include "real.hpp"

namespace memfence::running {
void copy_steps(char* to, const char* from, std::size_t size, bool backwards, void** frame);
void fill_steps(char* to, int value, std::size_t size, void** frame);
char load_byte(const char* from, void** frame);
}  // namespace memfence::running

using namespace memfence::running;

namespace {

// What the entry points of hooks keep. What the function itself knows is not in it, so that its own loops are none that wait.
struct Frame {
  void* words[8] = {};
  explicit Frame(void* pc) {
    words[7] = pc;
    world.me().is_in_library = true;
  }
  ~Frame() { world.me().is_in_library = false; }
};

// The function makes a store that was announced: it is no other one.
void begin(const void* to) {
  LateStore& late = world.me().late;
  if (late.address == to) late.size = 0;
}

}  // namespace

#define PC __builtin_return_address(0)

MEMFENCE_EXPORT void* __wrap_memcpy(void* to, const void* from, std::size_t size) {
  if (!world.in_program) return memcpy(to, from, size);
  Frame frame(PC);
  begin(to);
  copy_steps(static_cast<char*>(to), static_cast<const char*>(from), size, false, frame.words);
  return to;
}
MEMFENCE_EXPORT void* __wrap_memmove(void* to, const void* from, std::size_t size) {
  if (!world.in_program) return memmove(to, from, size);
  Frame frame(PC);
  begin(to);
  copy_steps(static_cast<char*>(to), static_cast<const char*>(from), size, to > from, frame.words);
  return to;
}
MEMFENCE_EXPORT void* __wrap_memset(void* to, int value, std::size_t size) {
  if (!world.in_program) return memset(to, value, size);
  Frame frame(PC);
  begin(to);
  fill_steps(static_cast<char*>(to), value, size, frame.words);
  return to;
}

// What LLVM's instrumentation calls instead of them.
extern "C" __attribute__((visibility("default"), alias("__wrap_memcpy"))) void* __tsan_memcpy(void*, const void*, std::size_t);
extern "C" __attribute__((visibility("default"), alias("__wrap_memmove"))) void* __tsan_memmove(void*, const void*,
                                                                                                std::size_t);
extern "C" __attribute__((visibility("default"), alias("__wrap_memset"))) void* __tsan_memset(void*, int, std::size_t);

// --- Strings, byte by byte ---------------------------------------------------------------------------------------------------

namespace {

std::size_t length(const char* text, std::size_t most, void** frame) {
  std::size_t n = 0;
  while (n < most && load_byte(text + n, frame) != 0) ++n;
  return n;
}

int compare(const void* a, const void* b, std::size_t most, bool as_text, void** frame) {
  for (std::size_t i = 0; i < most; ++i) {
    const auto x = static_cast<unsigned char>(load_byte(static_cast<const char*>(a) + i, frame));
    const auto y = static_cast<unsigned char>(load_byte(static_cast<const char*>(b) + i, frame));
    if (x != y) return x < y ? -1 : 1;
    if (as_text && x == 0) return 0;
  }
  return 0;
}

char* copy_text(char* to, const char* from, std::size_t most, void** frame) {
  begin(to);
  const std::size_t count = length(from, most, frame);
  copy_steps(to, from, count < most ? count + 1 : count, false, frame);
  return to + count;
}

constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

}  // namespace

MEMFENCE_EXPORT void* __wrap_mempcpy(void* to, const void* from, std::size_t size) {
  return static_cast<char*>(__wrap_memcpy(to, from, size)) + size;
}
MEMFENCE_EXPORT int __wrap_memcmp(const void* a, const void* b, std::size_t size) {
  if (!world.in_program) return memcmp(a, b, size);
  return compare(a, b, size, false, Frame(PC).words);
}
extern "C" __attribute__((visibility("default"), alias("__wrap_memcmp"))) int __wrap_bcmp(const void*, const void*,
                                                                                          std::size_t);
MEMFENCE_EXPORT void* __wrap_memchr(const void* text, int wanted, std::size_t size) {
  if (!world.in_program) return const_cast<void*>(memchr(text, wanted, size));
  Frame frame(PC);
  auto* at = static_cast<char*>(const_cast<void*>(text));
  for (std::size_t i = 0; i < size; ++i)
    if (load_byte(at + i, frame.words) == static_cast<char>(wanted)) return at + i;
  return nullptr;
}
MEMFENCE_EXPORT std::size_t __wrap_strlen(const char* text) {
  return world.in_program ? length(text, kNoLimit, Frame(PC).words) : strlen(text);
}
MEMFENCE_EXPORT std::size_t __wrap_strnlen(const char* text, std::size_t most) {
  return world.in_program ? length(text, most, Frame(PC).words) : strnlen(text, most);
}
MEMFENCE_EXPORT int __wrap_strcmp(const char* a, const char* b) {
  return world.in_program ? compare(a, b, kNoLimit, true, Frame(PC).words) : strcmp(a, b);
}
MEMFENCE_EXPORT int __wrap_strncmp(const char* a, const char* b, std::size_t most) {
  return world.in_program ? compare(a, b, most, true, Frame(PC).words) : strncmp(a, b, most);
}
MEMFENCE_EXPORT char* __wrap_stpcpy(char* to, const char* from) {
  return world.in_program ? copy_text(to, from, kNoLimit, Frame(PC).words) : stpcpy(to, from);
}
MEMFENCE_EXPORT char* __wrap_strcpy(char* to, const char* from) {
  if (!world.in_program) return strcpy(to, from);
  copy_text(to, from, kNoLimit, Frame(PC).words);
  return to;
}
MEMFENCE_EXPORT char* __wrap_strncpy(char* to, const char* from, std::size_t most) {
  if (!world.in_program) return strncpy(to, from, most);
  Frame frame(PC);
  const auto count = static_cast<std::size_t>(copy_text(to, from, most, frame.words) - to);
  fill_steps(to + count, 0, most - count, frame.words);
  return to;
}
MEMFENCE_EXPORT char* __wrap_strcat(char* to, const char* from) {
  if (!world.in_program) return strcat(to, from);
  Frame frame(PC);
  copy_text(to + length(to, kNoLimit, frame.words), from, kNoLimit, frame.words);
  return to;
}
MEMFENCE_EXPORT char* __wrap_strchr(const char* text, int wanted) {
  if (!world.in_program) return const_cast<char*>(strchr(text, wanted));
  Frame frame(PC);
  for (;; ++text) {
    const char here = load_byte(text, frame.words);
    if (here == static_cast<char>(wanted)) return const_cast<char*>(text);
    if (here == 0) return nullptr;
  }
}
MEMFENCE_EXPORT char* __wrap_strrchr(const char* text, int wanted) {
  if (!world.in_program) return const_cast<char*>(strrchr(text, wanted));
  Frame frame(PC);
  for (std::size_t i = length(text, kNoLimit, frame.words) + 1; i-- > 0;)
    if (load_byte(text + i, frame.words) == static_cast<char>(wanted)) return const_cast<char*>(text + i);
  return nullptr;
}
MEMFENCE_EXPORT char* __wrap_strdup(const char* text) {
  if (!world.in_program) return strdup(text);
  Frame frame(PC);
  const std::size_t size = length(text, kNoLimit, frame.words) + 1;
  auto* made = static_cast<char*>(malloc(size));
  if (made != nullptr) copy_steps(made, text, size, false, frame.words);
  return made;
}
