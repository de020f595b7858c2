#include "search/limits.hpp"

#include <cstring>
#include <memory>

#include "test.hpp"

using namespace memfence;

TEST(memory_that_is_touched_is_resident_and_counts_into_the_peak) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const std::uint64_t before = resident_bytes();
  const auto block = std::make_unique_for_overwrite<char[]>(kBytes);
  std::memset(block.get(), 1, kBytes);
  CHECK(block[kBytes / 2] == 1);
  CHECK(before > 0 && resident_bytes() >= before + kBytes / 2);
  CHECK(peak_bytes() >= before + kBytes / 2);
}

TEST(a_watch_stops_for_memory_only_beyond_what_the_process_held_already) {
  Limits limits;
  limits.memory_bytes = resident_bytes() + (std::uint64_t{64} << 20);
  Watch watch(limits);
  CHECK(watch.check(0, 0, 0, 0) == Stop::None && watch.check(0, 0, 0, std::uint64_t{128} << 20) == Stop::Memory);
  CHECK(!watch.would_exceed(0, 1) && watch.would_exceed(0, std::uint64_t{128} << 20));
}
