// Attacks on persistence: a process overtakes its own store with a read that another process can change. The conditions of
// Theorem 6 in `docs/theory/certificates.md`, as in `certificates/checker/criteria.py`.
#pragma once

#include <string>
#include <unordered_map>

#include "certificate/steps.hpp"

namespace memfence::certificate {

class Overtaking {
 public:
  // `program`: canonical text. Unsupported for more than 64 processes.
  explicit Overtaking(const std::string& program);

  // `changing`: for each variable the processes, as bits, that can give it another value in `state`, a state of SC. Nobody
  // holds the bus there. Returns whether some process makes a store that stays pending, as do all that follow, walks on alone and
  // reads a variable that another one can change; `step` reads it.
  bool starts_attack(const Number* state, const std::vector<std::uint64_t>& changing, Step& step);

 private:
  struct Read {
    int variable, transition;
  };
  const std::vector<Read>& reads(const Number* state, int process);
  std::vector<Read> walk(const Number* state, int process);
  void keep_newest_stores(std::vector<Number>& state, int process) const;

  Model model_{Buffers::PerProcess, 0, false};
  Program program_;
  Layout layout_;
  Steps steps_;
  bool keeps_all_;  // whether several stores have to be pending
  // A walk depends on memory and on its own process, nothing else: many states have the same ones.
  std::vector<std::unordered_map<std::string, std::vector<Read>>> known_;
};

}  // namespace memfence::certificate
