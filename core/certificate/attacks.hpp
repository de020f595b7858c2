// Attacks on robustness: a process makes a store that stays pending and walks on; others take steps of SC in between, each
// happening after something that the walk has done in memory, until one of them accesses the variable of that store. The
// conditions of Theorem 9 in `docs/theory/certificates.md`, as in `certificates/checker/robust.py`.
#pragma once

#include <string>

#include "certificate/attack.hpp"
#include "certificate/byte_strings.hpp"
#include "certificate/events.hpp"
#include "certificate/finding.hpp"

namespace memfence::certificate {

class Attacks : public CriterionChecker {
 public:
  // `program`: canonical text; `model`: TSO or PSO. Unsupported for more than 64 processes. bad_alloc where attacks need more
  // than `most_bytes`.
  Attacks(const std::string& program, const Model& model, std::size_t most_bytes);

  // Of a state of SC.
  bool refuses(const Number* state, std::optional<Step>& step) override;

 private:
  std::uint64_t bit(int process) const { return std::uint64_t{1} << process; }
  int processes() const { return static_cast<int>(program_.processes.size()); }

  // The attacker's step `number`, from `attack` into `next_`. False where it is not possible.
  bool walk(const Attack& attack, int number);
  // Take over what is pending after the attacker's step, of which all reaches memory that need not wait. False: nothing is pending.
  bool settle_per_process(const Number* after);
  bool settle_per_variable(const Number* after);
  bool is_first() const { return next_.delayed < 0; }
  // The event of another process, from `attack` into `next_`. False where it is not possible, or does not happen after anything in
  // the attack; `closes`: it accesses the delayed variable.
  bool answer(const Attack& attack, int process, const Events::Event& event, bool& closes);
  void stop(Attack& attack, int process) const;
  void add_made(const std::vector<Access>& made);

  // What has no influence on whether the attack comes to its end, by the text of the processes.
  void forget_what_cannot_matter(Attack& attack) const;
  // Whether the attack can come to its end, by the text of the processes.
  bool can_be_reached(const Attack& attack) const;
  void visit(Attack& attack);
  bool comes_back();
  // Whether the attack comes to its end by an event that begins with this step; else it may go on.
  bool comes_back_by(int process, int number);

  Model sc_{}, model_;
  Program plain_, program_;  // as SC and as the model read it
  Layout plain_layout_, layout_;
  Events events_;
  Steps steps_;
  AttackText text_;
  AttackBytes bytes_;
  std::size_t most_bytes_;
  ByteStrings seen_;
  std::size_t explored_ = 0;
  Attack here_, next_;
  std::vector<Number> buffered_;  // a state of the model
  std::vector<Access> made_;
};

}  // namespace memfence::certificate
