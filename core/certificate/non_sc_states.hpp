// State-robustness: every state with empty buffers is one that SC reaches, which is found by a search. The condition of Theorem 4
// in `docs/theory/certificates.md`, as in `certificates/checker/criteria.py`.
#pragma once

#include <string>

#include "certificate/finding.hpp"
#include "certificate/sc_states.hpp"

namespace memfence::certificate {

class NonScStates : public CriterionChecker {
 public:
  // `program`: canonical text; `model`: the one whose states are judged, in rows with room for `capacity` stores. bad_alloc where
  // the states of SC need more than `most_bytes`.
  NonScStates(const std::string& program, const Model& model, int capacity, std::size_t most_bytes);

  bool refuses(const Number* state, std::optional<Step>& step) override;

 private:
  Program program_;
  Layout layout_;  // of the model's states
  ScStates reached_;
};

}  // namespace memfence::certificate
