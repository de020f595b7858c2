// A few executions at random, to learn what threads share before the exploration begins.
#pragma once

#include "options.hpp"
#include "plain_races.hpp"

namespace memfence::running {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint64_t below(std::uint64_t count) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return count == 0 ? 0 : state_ % count;
  }

 private:
  std::uint64_t state_;
};

double seconds_now();

// Until several in a row show nothing new.
void scout(const Options& options, PlainRaces& races);

}  // namespace memfence::running
