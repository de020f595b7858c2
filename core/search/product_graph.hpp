// All states of a product and the arcs between them, found level by level by several threads (crew.hpp).
//
// A search for components needs arcs in an order of its own. It is quick where they are written down, so that making them is
// what threads share. Arcs on no accepted cycle are left out: the states of the automaton on an accepted cycle go around in
// one component of the automaton, whose edges have all its marks.
#pragma once

#include "search/accepting_components.hpp"
#include "search/arc_list.hpp"
#include "search/batch.hpp"
#include "search/crew.hpp"
#include "search/product.hpp"

namespace memfence {

template <MemoryModel Semantics>
class ProductGraph {
 public:
  ProductGraph(const Machine& m, const Semantics& semantics, const BuchiQuery& query, bool reduce, const Limits& limits,
               int threads)
      : machine_(m),
        semantics_(semantics),
        query_(query),
        reduce_(reduce),
        recurrent_(accepting_components(query)),
        words_(Product<Semantics>::layout(semantics, query).words()),
        states_(words_),
        levels_(states_),
        watch_(limits),
        crew_(states_, levels_, threads) {
    crew_.add(make_worker());
    crew_.become_large([&] { return make_worker(); });
  }

  // The number of each initial state, in order.
  std::vector<Index> insert_initial(std::size_t count) {
    std::vector<Index> numbers;
    Worker& worker = crew_.first();
    levels_.begin();
    for (std::size_t number = 0; number < count; ++number) {
      if (levels_.wants_to_grow()) crew_.grow_table();
      levels_.reserve(worker.share);
      const std::vector<Word> state = worker.product.initial(number);
      const auto [index, is_new] =
          states_.insert(state.data(), hash_words(state.data(), words_), Link::none(), worker.share.next);
      worker.share.next += is_new;
      numbers.push_back(index);
    }
    levels_.end();
    return numbers;
  }

  // Expands the next level.
  Stop run_level() {
    first_arc_.resize(levels_.allocated(), kNone);
    expanded_ = levels_.size();
    const Stop why = crew_.run_level(watch_);
    levels_.end();
    return why;
  }
  bool is_complete() const { return levels_.is_empty(); }

  // Whether the next level is at least as large as the one that was expanded.
  bool is_growing() const { return levels_.size() >= expanded_; }

  std::uint64_t states() const { return levels_.states(); }
  const StateSet& state_set() const { return states_; }
  SearchStats stats() const {
    SearchStats stats;
    stats.states = states();
    stats.bytes = bytes();
    stats.seconds = watch_.seconds();
    stats.state_bits = crew_.first().product.state_bits();
    for (const auto& worker : crew_.workers()) {
      stats.transitions += worker->transitions();
      stats.refused += worker->product.refused();
    }
    return stats;
  }

  // As a graph (component_search.hpp); states that were not expanded have no arcs.
  std::uint64_t count() const { return levels_.allocated(); }
  bool has_arcs(Index state) const { return state < first_arc_.size() && first_arc_[state] != kNone; }
  template <class Use>
  void arcs_from(Index state, Use&& use) const {
    if (!has_arcs(state)) return;
    const std::uint64_t first = first_arc_[state];
    crew_.workers()[first >> kWorkerShift]->arcs.for_each(first & kArcMask, use);
  }
  void prefetch(Index state) const {
    if (state < first_arc_.size()) __builtin_prefetch(&first_arc_[state]);
  }
  template <class Use>
  void known_arcs(Index state, Use&& use) const {
    arcs_from(state, use);
  }
  Stop stop(std::uint64_t queue, std::uint64_t more_bytes) { return watch_.check(states(), 0, queue, bytes() + more_bytes); }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::uint32_t kLeaves = ~std::uint32_t{0};  // in place of a code: not an arc to be written down
  static constexpr std::size_t kNoArc = ~std::size_t{0};
  static constexpr unsigned kWorkerShift = 48;
  static constexpr std::uint64_t kArcMask = (std::uint64_t{1} << kWorkerShift) - 1;

  // One thread's part of the search.
  struct Worker {
    Worker(ProductGraph& g, std::uint64_t n)
        : graph(g), number(n), product(g.machine_, g.semantics_, g.query_, g.reduce_), batch(g.words_) {}

    void expand(Index index) {
      const Word* const from = graph.states_.state(index);
      const Link link(index, hash_words(from, graph.words_));
      const int component = graph.recurrent_[product.automaton_state(from)];
      const std::uint64_t first = arcs.end() + waiting;
      std::size_t last = kNoArc;
      product.arcs_from(from, [&](const Word* packed, std::uint64_t marks, const auto&) {
        copy_words(packed, batch.room(), graph.words_);
        batch.add(link, graph.states_);
        ++taken;
        const bool stays = component >= 0 && graph.recurrent_[product.automaton_state(packed)] == component;
        if (stays) last = codes.size();
        waiting += stays;
        codes.push_back(stays ? arcs.code_of(marks) << 1 : kLeaves);
      });
      if (last == kNoArc) return;
      codes[last] |= 1;
      graph.first_arc_[index] = number << kWorkerShift | first;
    }
    // False: the table must grow first.
    bool flush() {
      batch.enter(graph.states_, graph.levels_, share, true, [&](Index target) {
        const std::uint32_t code = codes[entered++];
        if (code == kLeaves) return;
        arcs.add(target, code >> 1, code & 1);
        --waiting;
      });
      if (!batch.is_empty()) return false;
      codes.clear();
      entered = 0;
      return true;
    }
    bool is_empty() const { return batch.is_empty(); }
    bool ends_here() const { return false; }
    bool ends_soon() const { return false; }
    std::uint64_t transitions() const { return taken; }
    std::uint64_t bytes() const { return arcs.bytes(); }

    ProductGraph& graph;
    std::uint64_t number;
    Product<Semantics> product;  // for its arcs alone: it has no states
    Levels::Share share;
    Levels::Range piece;
    Batch batch;
    std::vector<std::uint32_t> codes;  // of what is gathered: marks, and whether it is the last of its state; or kLeaves
    std::size_t entered = 0;           // how many of those are states already,
    std::uint64_t waiting = 0;         // and how many of the others will be arcs
    std::uint64_t taken = 0;
    ArcList arcs;
  };

  std::unique_ptr<Worker> make_worker() { return std::make_unique<Worker>(*this, crew_.workers().size()); }
  std::uint64_t bytes() const { return states_.bytes() + crew_.bytes() + first_arc_.capacity() * sizeof(std::uint64_t); }

  const Machine& machine_;
  const Semantics& semantics_;
  const BuchiQuery& query_;
  bool reduce_;
  std::vector<int> recurrent_;  // of each state of the automaton, the component, if that is an accepting one; or -1
  std::size_t words_;
  StateSet states_;
  Levels levels_;
  Watch watch_;
  Crew<Worker> crew_;
  std::uint64_t expanded_ = 0;            // states of the last level
  std::vector<std::uint64_t> first_arc_;  // of each state: whose, and its number there
};

}  // namespace memfence
