#include "test.hpp"

int main() {
  int passed = 0, failed = 0;
  for (const auto& test : memfence::test::cases()) {
    const int before = memfence::test::failed_checks();
    test.body();
    const bool ok = memfence::test::failed_checks() == before;
    if (!ok) std::printf("FAILED %s\n", test.name);
    ++(ok ? passed : failed);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
