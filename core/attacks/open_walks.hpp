// Attacks that are possible by a look at the text and at what the attacker alone knows: is there a walk beyond the known?
//
// docs/theory/criteria.md, "Without exploring". A walk starts at any store of the text, whatever the attacker's registers,
// the memory and the others may be. On the way only what must be so is known: a load of an own pending store has its value,
// a variable that nobody ever changes has its first one, and what is computed from these. Everything else may be anything,
// so that every walk from a state that SC reaches is one of these walks. Where all of them cross a clause that is known
// before they access anything of interest, the known clauses are all there are, and no state needs to be visited.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "attacks/known_values.hpp"
#include "attacks/walk_text.hpp"

namespace memfence {

class OpenWalks {
 public:
  OpenWalks(const Machine& m, Criterion criterion, const WalkText& text, std::vector<bool> changing);

  // Whether a walk of the process may exist that accesses something of interest and has crossed no `known` clause. A text
  // with very many ways through it is given up on: true.
  bool exist(int process, const std::vector<Crossed>& known);

 private:
  using Pending = std::map<int, std::optional<Value>>;  // variables; no value: any
  // Between two steps of a walk.
  struct Place {
    int location;
    KnownValues registers;
    Pending pending;
    std::vector<int> crossed;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  enum class Step { GoesOn, Ends, Conflicts };

  // Everything the walk can be behind the edge; false: it accesses something of interest.
  bool take(const Edge& edge, bool is_first, const Place& from);
  Step run(const Edge& edge, bool is_first, Place& at);
  Step run_op(const Edge& edge, const Op& op, bool is_first, bool is_only_store, Place& at);
  Step load(const Op& op, Place& at);
  Step store(const Op& op, bool is_delayed, bool is_first, Place& at);
  bool cross(int transition, Place& at) const;
  // Registers that decide which variables the edge accesses, and are not known: the walk is tried with each of their values.
  std::optional<int> open_register(const Edge& edge, const Place& at) const;
  // What the variable holds in every state, where that is one value.
  std::optional<Value> only_value(int variable) const;
  bool is_of_interest(const Op& op, std::optional<int> variable) const;

  static constexpr int kMostPlaces = 20000;
  static constexpr Wide kMostValues = 300;

  const Machine& machine_;
  Criterion criterion_;
  const WalkText& text_;
  bool delays_every_store_;
  std::vector<bool> changing_;
  const std::vector<Crossed>* known_ = nullptr;
  int left_ = 0;
  std::set<Place> seen_;
  std::vector<Place> todo_;
};

}  // namespace memfence
