// The product of a program and a Büchi automaton, state by state, with the marks on the arcs between them.
//
// A state of the product is a state of the program and, in one more slot, one of the automaton.
//
// With `reduce`, some states are left by the steps of one process only (Successors). Which other processes could move is
// not known there, so that such a step never counts as one that leaves a state where a process had none. That loses no
// mark of a loop: the steps are private, and change nothing about the others; and every loop has a state that is left by
// all its steps (docs/theory/ltl.md).
#pragma once

#include <cstring>

#include "search/emptiness.hpp"
#include "search/state_set.hpp"
#include "search/successors.hpp"

namespace memfence {

template <MemoryModel Semantics>
class Product {
 public:
  Product(const Machine& m, Semantics semantics, const BuchiQuery& query, bool reduce = false)
      : machine_(m),
        semantics_(std::move(semantics)),
        query_(query),
        pairs_(query.strong_pairs()),
        automaton_slot_(static_cast<int>(semantics_.slots.size())),
        layout_(layout(semantics_, query)),
        successors_(machine_, semantics_, reduce),
        states_(layout_.words()),
        work_(layout_.slots()) {}

  // How states are packed.
  static Layout layout(const Semantics& semantics, const BuchiQuery& query) {
    std::vector<Slot> slots = semantics.slots;
    slots.push_back(Slot{0, static_cast<Value>(query.edges.size()) - 1});
    return Layout(slots);
  }

  // A successor of the program's part, before the automaton's choice.
  struct Move {
    std::size_t at;  // its words in `moved_`
    Step step;
    bool stutters;
  };

  const BuchiQuery& query() const { return query_; }
  std::uint64_t count() const { return states_.count(); }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t bytes() const { return states_.bytes(); }
  std::size_t state_bits() const { return layout_.bits(); }
  std::size_t words() const { return layout_.words(); }
  const Word* state(Index index) const { return states_.state(index); }
  Index parent(Index index) const { return states_.parent(index); }

  std::size_t automaton_state(const Word* packed) const {
    return static_cast<std::size_t>(layout_.read(packed, automaton_slot_));
  }

  std::vector<Word> initial(std::size_t number) {
    std::fill_n(work_.data(), layout_.slots(), 0);
    std::copy(machine_.initial[number].begin(), machine_.initial[number].end(), work_.data());
    work_.data()[automaton_slot_] = query_.initial;
    std::vector<Word> packed(layout_.words());
    layout_.pack(work_.data(), packed.data());
    return packed;
  }
  Index insert_initial(std::size_t number) { return insert(initial(number).data()); }
  Index insert(const Word* packed) { return states_.insert(packed).index; }
  StateSet::Inserted insert(const Word* packed, Index parent) { return states_.insert(packed, parent); }
  Index find(const Word* packed) const { return states_.find(packed); }

  // Every arc that leaves `state`, as use(successor words, marks, move).
  template <class Use>
  void arcs_from(Index state, Use&& use) {
    arcs_from(states_.state(state), use);
  }
  // The same for a state that need not be kept here.
  template <class Use>
  void arcs_from(const Word* from, Use&& use) {
    layout_.unpack(from, work_.data());
    semantics_.derive(work_);
    work_.settle();
    moves_.clear();
    moved_.clear();
    Sink sink{*this, from};
    is_whole_ = successors_.expand(work_, sink);
    if (moves_.empty()) {
      moved_.assign(from, from + layout_.words());
      moves_.push_back({0, {}, true});
    }
    std::uint64_t valuation = 0;
    bool failed = false;
    for (std::size_t a = 0; a < query_.atoms.size(); ++a)
      valuation |=
          std::uint64_t{machine_.expressions[static_cast<std::size_t>(query_.atoms[a])].evaluate(work_.data(), failed) != 0}
          << a;
    const auto& leaving = query_.edges[static_cast<std::size_t>(work_[automaton_slot_])];
    for (const Move& move : moves_) {
      const std::uint64_t fair = fairness(move);
      for (const BuchiEdge& edge : leaving) {
        if ((edge.positive & ~valuation) || (edge.negative & valuation)) continue;
        layout_.write(&moved_[move.at], automaton_slot_, edge.target);
        use(&moved_[move.at], edge.marks | fair, move);
      }
    }
  }

 private:
  struct Sink {
    Product& product;
    const Word* from;
    void step(const Step& step) {
      const std::size_t words = product.layout_.words(), at = product.moved_.size();
      product.moved_.resize(at + words);
      Word* const state = &product.moved_[at];
      copy_words(from, state, words);
      for (const Work::Change& c : product.work_.log()) product.layout_.write(state, c.slot, product.work_[c.slot]);
      product.moves_.push_back({at, step, false});
    }
    void failed(const Step&) {}
    void refused() { ++product.refused_; }
  };

  std::uint64_t fairness(const Move& move) const {
    std::uint64_t marks = 0;
    for (std::size_t i = 0; i < query_.conditions.size(); ++i)
      if (satisfies(query_.conditions[i], move)) marks |= std::uint64_t{1} << (static_cast<std::size_t>(query_.marks) + i);
    if (!pairs_.empty()) marks |= could_move();
    return marks;
  }
  // The marks of the strongly fair processes that have a step here.
  std::uint64_t could_move() const {
    std::uint64_t marks = 0;
    auto pair = pairs_.begin();
    for (const Condition& c : query_.conditions) {
      if (c.kind != ConditionKind::ProcessRunsOften) continue;
      for (const Move& other : moves_)
        if (runs(other, c.number)) marks |= pair->could;
      ++pair;
    }
    return marks;
  }
  bool satisfies(const Condition& c, const Move& move) const {
    bool failed = false;
    switch (c.kind) {
      case ConditionKind::Recurring:
        return machine_.expressions[static_cast<std::size_t>(c.number)].evaluate(work_.data(), failed) != 0;
      case ConditionKind::BufferDrains:
        return semantics_.is_buffer_empty(work_, c.number, c.buffer) ||
               (!move.stutters && move.step.kind == StepKind::Background && move.step.process == c.number &&
                semantics_.drains(move.step.number, c.number, c.buffer));
      case ConditionKind::ProcessRuns:
        if (runs(move, c.number)) return true;
        if (!is_whole_) return false;
        for (const Move& other : moves_)
          if (runs(other, c.number)) return false;
        return true;
      case ConditionKind::ProcessRunsOften: return runs(move, c.number);
    }
    return false;
  }
  bool runs(const Move& move, int process) const {
    if (move.stutters || move.step.kind != StepKind::Edge) return false;
    return move.step.process == process || machine_.edges[static_cast<std::size_t>(move.step.number)].partner == process;
  }

  const Machine& machine_;
  Semantics semantics_;
  const BuchiQuery& query_;
  std::vector<StrongPair> pairs_;
  int automaton_slot_;
  Layout layout_;
  Successors<Semantics> successors_;
  CountedStates states_;
  Work work_;
  std::uint64_t refused_ = 0;
  bool is_whole_ = true;  // whether `moves_` are all that there are
  std::vector<Move> moves_;
  std::vector<Word> moved_;
};

}  // namespace memfence
