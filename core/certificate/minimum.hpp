// The fast checker of minimum sets of fences: the runs of clauses, as in `certificates/checker/minimum.py`. `fence_bound` has the rest.
#pragma once

#include <string>

#include "certificate/runs.hpp"
#include "certificate/variant.hpp"

namespace memfence::certificate {

constexpr std::size_t kMostEnds = 100'000;

// What a run has to be to be bad.
enum class BadRun : std::uint8_t { Safety, Persistent, Robust, StateRobust, Trf, Never };

// Expressions as canonical text. `finals`: what is said about final states, and whether it has to be true in all of them or in none.
struct MinimumAsked {
  std::string bad;
  bool deadlock = false;
  std::vector<std::pair<std::string, bool>> finals;
  BadRun criterion = BadRun::Never;
  std::size_t most_bytes = SIZE_MAX;  // for what a criterion has to search
};

// What is wrong with a clause.
enum class ClauseFault : std::uint8_t { None, Sites, Start, Step, NotBad, Pending, TooLong, TooManyEnds };

class MinimumChecker {
 public:
  // `program`: canonical text. Unsupported where sites have places that it has not.
  MinimumChecker(const std::string& program, const Model& model, std::vector<Site> sites, const MinimumAsked& asked);

  struct Found {
    ClauseFault fault = ClauseFault::None;
    std::size_t step = 0;  // the one that is not possible, by position
  };
  // Whether the run is bad in the program with the fences of all sites but those of the clause. bad_alloc for more than `most_bytes`.
  Found check(const std::vector<int>& clause, std::uint64_t start, const std::vector<Step>& steps) const;

 private:
  ClauseFault check_run(Replay& run, const Variant& fenced, const std::vector<Number>& start,
                        const std::vector<char>& made) const;
  Found check_race(const std::vector<char>& made, std::uint64_t start, const std::vector<Step>& steps) const;
  ClauseFault check_trace(const Replay& run, const Variant& fenced, const std::vector<Number>& start) const;

  std::string text_;
  Model model_;
  Program program_;
  std::vector<Site> sites_;
  BadRun criterion_;
  bool deadlock_;
  std::size_t most_bytes_;
  int bad_ = -1;
  std::vector<std::pair<int, bool>> finals_;
};

}  // namespace memfence::certificate
