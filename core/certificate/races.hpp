// Data races: two processes are about to access one variable, one of them writing, not both in locked steps. The condition of
// Theorem 5 in `docs/theory/certificates.md`, as in `certificates/checker/criteria.py`.
#pragma once

#include <string>

#include "certificate/events.hpp"
#include "certificate/finding.hpp"

namespace memfence::certificate {

class Races : public CriterionChecker {
 public:
  // `program`: canonical text. Unsupported for more than 64 processes.
  explicit Races(const std::string& program);

  // Of a state of SC.
  bool refuses(const Number* state, std::optional<Step>& step) override;

 private:
  // Who is about to access a variable, as bits.
  struct Accessing {
    std::uint64_t plain = 0, locked = 0, writes_plain = 0, writes_locked = 0;
    bool is_race() const;
  };
  void note(int process, const std::vector<Access>& made, bool is_locked);

  Model sc_{};
  Program program_;
  Layout layout_;
  Events events_;
  std::vector<std::vector<char>> locked_;  // by process and transition, as TSO reads them, or with the bus
  std::vector<Accessing> about_;  // by variable
  std::vector<int> touched_;
};

}  // namespace memfence::certificate
