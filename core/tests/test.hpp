// The whole test harness of the core: TEST(name) { CHECK(condition); }. A failed check is reported and the test goes on.
#pragma once

#include <cstdio>
#include <vector>

namespace memfence::test {

struct Case {
  const char* name;
  void (*body)();
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}
inline int& failed_checks() {
  static int count = 0;
  return count;
}
struct Registered {
  Registered(const char* name, void (*body)()) { cases().push_back({name, body}); }
};

}  // namespace memfence::test

#define TEST(name)                                                        \
  static void name();                                                     \
  static const memfence::test::Registered registered_##name(#name, name); \
  static void name()

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      ++memfence::test::failed_checks();                                  \
    }                                                                     \
  } while (false)
