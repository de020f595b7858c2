// Is there an infinite run of the program that a generalised Büchi automaton accepts? Explored on the fly, one depth-first
// pass over the strongly connected components of the product (Couvreur 1999): each open component carries the union of the
// marks seen inside it, and the first that has all of them is a counterexample. Any number of acceptance conditions up to
// 64 costs nothing extra, so fairness is made of marks too (DESIGN 9):
//   Recurring      the step leaves a state where an expression holds;
//   BufferDrains   the step commits from the buffer, or leaves a state where it is empty;
//   ProcessRuns    the step is one of the process, or leaves a state where it has none (weak fairness).
// The automaton reads the state that a step leaves. Where the program can do nothing it stands still for ever.
//
// A depth-first search finds deep lassos. Once there is one, the search is repeated among the states nearest to the start,
// twice as many each time, until they contain one, too: a short run is worth the time to whoever reads it.
#pragma once

#include <memory>
#include <stdexcept>
#include <unordered_set>

#include "search/exploration.hpp"

namespace memfence {

struct BuchiEdge {
  int target;
  std::uint64_t positive, negative;  // over atoms
  std::uint64_t marks;
};

enum class ConditionKind : std::int32_t { Recurring, BufferDrains, ProcessRuns };

struct Condition {
  ConditionKind kind;
  int number;  // expression, or process
  int buffer;  // BufferDrains under PSO: which one
};

struct BuchiQuery {
  int initial;
  std::vector<std::vector<BuchiEdge>> edges;
  int marks;
  std::vector<int> atoms;  // expressions
  std::vector<Condition> conditions;

  std::uint64_t all_marks() const {
    const int count = marks + static_cast<int>(conditions.size());
    return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
};

// One step of a lasso; `stutters` where the program stands still.
struct LassoStep {
  bool stutters;
  Step step;
};

struct BuchiResult {
  Stop stop = Stop::None;  // Found: there is such a run
  SearchStats stats;
  std::size_t start = 0;
  std::vector<LassoStep> prefix, cycle;
};

template <MemoryModel Semantics>
class Emptiness {
 public:
  Emptiness(const Machine& m, Semantics semantics, const BuchiQuery& query, const Limits& limits)
      : machine_(m),
        semantics_(std::move(semantics)),
        query_(query),
        automaton_slot_(static_cast<int>(semantics_.slots.size())),
        layout_(product_slots()),
        successors_(machine_, semantics_, false),
        states_(layout_.words()),
        limits_(limits),
        work_(layout_.slots()) {}

  BuchiResult run() {
    Watch watch(limits_);
    BuchiResult result;
    for (std::size_t start = 0; start < machine_.initial.size() && stop_ == Stop::None; ++start) {
      const Index root = insert_initial(start);
      if (order_[root] == 0) search(root, watch);
      result.stats.states = count_;
      result.stats.transitions = transitions_;
      result.stats.refused = refused_;
      if (stop_ == Stop::Found) {
        result.start = start;
        extract(root, result);
        look_nearby(root, watch, result);
      }
    }
    result.stop = stop_;
    result.stats.seconds = watch.seconds();
    result.stats.bytes = states_.bytes();
    result.stats.state_bits = layout_.bits();
    return result;
  }

 private:
  static constexpr std::uint32_t kDead = 0xFFFFFFFFu;
  static constexpr std::uint64_t kNearby = 10'000;  // states to look at for a shorter lasso in any case: a blink
  static constexpr std::size_t kMostKnots = 32, kAnyLength = ~std::size_t{0};

  struct Arc {
    Index target;
    std::uint64_t marks;
  };
  struct Frame {
    Index state;
    std::size_t first, next;  // its arcs in `arcs_`
  };
  struct Component {
    std::uint32_t root;       // order of its first state
    std::uint64_t inside;     // marks on arcs inside
    std::uint64_t entering;   // marks of the arc that leads to it
  };

  std::vector<Slot> product_slots() const {
    std::vector<Slot> slots = semantics_.slots;
    slots.push_back(Slot{0, static_cast<Value>(query_.edges.size()) - 1});
    return slots;
  }

  Index insert_initial(std::size_t number) {
    std::fill_n(work_.data(), layout_.slots(), 0);
    std::copy(machine_.initial[number].begin(), machine_.initial[number].end(), work_.data());
    work_.data()[automaton_slot_] = query_.initial;
    std::vector<Word> packed(layout_.words());
    layout_.pack(work_.data(), packed.data());
    return insert(packed.data());
  }
  Index insert(const Word* packed) {
    states_.reserve(count_ + 1);
    const auto inserted = states_.insert(packed, hash_words(packed, layout_.words()), kNoIndex, static_cast<Index>(count_));
    if (inserted.is_new) {
      ++count_;
      order_.push_back(0);
      if (count_ * 2 > states_.capacity()) states_.grow(count_, [](Index) { return true; });
    }
    return inserted.index;
  }

  // A successor of the program's part, before the automaton's choice.
  struct Move {
    std::size_t at;  // its words in `moved_`
    Step step;
    bool stutters;
  };
  struct Sink {
    Emptiness& search;
    const Word* from;
    void step(const Step& step) {
      const std::size_t words = search.layout_.words(), at = search.moved_.size();
      search.moved_.resize(at + words);
      std::memcpy(&search.moved_[at], from, words * sizeof(Word));
      for (const Work::Change& c : search.work_.log()) search.layout_.write(&search.moved_[at], c.slot, search.work_[c.slot]);
      search.moves_.push_back({at, step, false});
    }
    void failed(const Step&) {}
    void refused() { ++search.refused_; }
  };

  // Every arc that leaves `state`, as use(successor words, marks, move).
  template <class Use>
  void arcs_from(Index state, Use&& use) {
    const Word* from = states_.state(state);
    layout_.unpack(from, work_.data());
    semantics_.derive(work_);
    work_.settle();
    moves_.clear();
    moved_.clear();
    Sink sink{*this, from};
    successors_.expand(work_, sink);
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

  std::uint64_t fairness(const Move& move) const {
    std::uint64_t marks = 0;
    for (std::size_t i = 0; i < query_.conditions.size(); ++i)
      if (satisfies(query_.conditions[i], move)) marks |= std::uint64_t{1} << (static_cast<std::size_t>(query_.marks) + i);
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
        for (const Move& other : moves_)
          if (runs(other, c.number)) return false;
        return true;
    }
    return false;
  }
  bool runs(const Move& move, int process) const {
    if (move.stutters || move.step.kind != StepKind::Edge) return false;
    return move.step.process == process || machine_.edges[static_cast<std::size_t>(move.step.number)].partner == process;
  }

  void open(Index state, std::uint64_t entering) {
    order_[state] = ++clock_;
    live_.push_back(state);
    components_.push_back({clock_, 0, entering});
    const std::size_t first = arcs_.size();
    arcs_from(state, [&](const Word* packed, std::uint64_t marks, const Move&) {
      ++transitions_;
      const Index to = insert(packed);
      if (nearby_.empty() || is_nearby(to)) arcs_.push_back({to, marks});
    });
    frames_.push_back({state, first, first});
  }

  void search(Index root, Watch& watch) {
    std::uint64_t since_check = 0;
    open(root, 0);
    while (!frames_.empty()) {
      if (++since_check % 1024 == 0) {
        const std::uint64_t bytes = states_.bytes() + arcs_.capacity() * sizeof(Arc) + frames_.capacity() * sizeof(Frame) +
                                    components_.capacity() * sizeof(Component) +
                                    (order_.capacity() + live_.capacity()) * sizeof(Index);
        stop_ = watch.check(count_, transitions_, frames_.size(), bytes);
        if (stop_ != Stop::None) return;
      }
      Frame& frame = frames_.back();
      if (frame.next < arcs_.size()) {
        const Arc arc = arcs_[frame.next++];
        if (order_[arc.target] == 0) {
          open(arc.target, arc.marks);
        } else if (order_[arc.target] != kDead) {
          if (merge(order_[arc.target], arc.marks)) {
            stop_ = Stop::Found;
            return;
          }
        }
      } else {
        close();
      }
    }
  }

  // An arc back into an open component joins everything above it.
  bool merge(std::uint32_t target, std::uint64_t marks) {
    while (components_.back().root > target) {
      marks |= components_.back().inside | components_.back().entering;
      components_.pop_back();
    }
    components_.back().inside |= marks;
    return components_.back().inside == query_.all_marks();
  }

  void close() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    arcs_.resize(frame.first);
    if (components_.back().root != order_[frame.state]) return;
    components_.pop_back();
    Index state;
    do {
      state = live_.back();
      live_.pop_back();
      order_[state] = kDead;
    } while (state != frame.state);
  }

  // A short lasso: the shortest way into the accepting component, then to a knot, and around from there. Where the loop is
  // tied decides how long it is, so that the nearest places with a mark are all tried, as long as that is cheap.
  void extract(Index root, BuchiResult& result) {
    const std::uint32_t lowest = components_.back().root;
    const auto in_component = [&](Index s) { return order_[s] != kDead && order_[s] >= lowest && order_[s] != 0; };
    std::vector<LassoStep> way;
    Index entry = root;
    if (!in_component(root))
      entry = shortest(
          root, way, kAnyLength, [](Index) { return true; }, [&](Index to, std::uint64_t) { return in_component(to); });
    std::size_t length = kAnyLength;
    visits_ = 0;
    for (const Index knot : knots(entry, in_component)) {
      std::vector<LassoStep> prefix = way, cycle;
      const auto left = [&] { return length == kAnyLength ? length : length - std::min(length, prefix.size() + cycle.size()); };
      if (knot != entry &&
          shortest(entry, prefix, left(), in_component, [&](Index to, std::uint64_t) { return to == knot; }) == kNoIndex)
        break;
      if (!go_around(knot, cycle, in_component, left)) continue;
      length = prefix.size() + cycle.size();
      result.prefix = std::move(prefix);
      result.cycle = std::move(cycle);
      if (visits_ > kNearby) break;
    }
    if (length == kAnyLength) throw std::logic_error("an accepting component without the lasso that it promises");
  }

  // The entry, and states of the component, nearest first, from where an arc with a mark of the automaton leads on inside it.
  template <class Inside>
  std::vector<Index> knots(Index entry, Inside&& inside) {
    const std::uint64_t wanted = query_.marks == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << query_.marks) - 1;
    std::vector<Index> queue{entry}, found;
    std::unordered_set<Index> known{entry};
    for (std::size_t i = 0; i < queue.size() && found.size() < kMostKnots; ++i) {
      bool marked = false;
      arcs_from(queue[i], [&](const Word* packed, std::uint64_t marks, const Move&) {
        const Index to = states_.find(packed, hash_words(packed, layout_.words()));
        if (to == kNoIndex || !inside(to)) return;
        marked |= wanted == 0 || (marks & wanted) != 0;
        if (known.insert(to).second) queue.push_back(to);
      });
      if (marked || i == 0) found.push_back(queue[i]);
    }
    return found;
  }

  // A loop from `knot` that sees every mark: always on to the nearest arc with one that is missing, and back. False where
  // it takes more than left() steps.
  template <class Inside, class Left>
  bool go_around(Index knot, std::vector<LassoStep>& cycle, Inside&& inside, Left&& left) {
    Index at = knot;
    std::uint64_t missing = query_.all_marks();
    do {
      std::uint64_t seen = 0;
      const auto is_missing = [&](Index, std::uint64_t marks) { return missing == 0 || (marks & missing); };
      at = shortest(at, cycle, left(), inside, is_missing, &seen, knot);
      if (at == kNoIndex) return false;
      missing &= ~seen;
    } while (missing);
    return at == knot || shortest(at, cycle, left(), inside, [&](Index to, std::uint64_t) { return to == knot; }) != kNoIndex;
  }

  bool is_nearby(Index state) const { return state < nearby_.size() && nearby_[state]; }

  // Replaces the lasso of `result` by a shorter one, if there is one among the nearest states: no more than were
  // visited, or kNearby.
  void look_nearby(Index root, Watch& watch, BuchiResult& result) {
    const std::uint64_t most = std::max(count_, kNearby);
    std::vector<Index> nearest{root};
    std::size_t expanded = 0;
    nearby_.assign(count_, false);
    nearby_[root] = true;
    for (std::uint64_t size = 1; stop_ == Stop::Found && size / 2 < most; size *= 2) {
      for (; expanded < nearest.size() && nearest.size() < size; ++expanded)
        arcs_from(nearest[expanded], [&](const Word* packed, std::uint64_t, const Move&) {
          const Index to = insert(packed);
          nearby_.resize(count_, false);
          if (nearby_[to]) return;
          nearby_[to] = true;
          nearest.push_back(to);
        });
      forget_search();
      search(root, watch);
      if (stop_ == Stop::None) {
        stop_ = Stop::Found;  // the lasso that is known already
        continue;
      }
      if (stop_ == Stop::Found) {
        BuchiResult nearer;
        extract(root, nearer);
        if (nearer.prefix.size() + nearer.cycle.size() < result.prefix.size() + result.cycle.size()) {
          result.prefix = std::move(nearer.prefix);
          result.cycle = std::move(nearer.cycle);
        }
        return;
      }
      stop_ = Stop::Found;  // a limit was hit: the first lasso is as good an answer
      return;
    }
  }
  void forget_search() {
    stop_ = Stop::None;
    clock_ = 0;
    std::fill(order_.begin(), order_.end(), 0);
    live_.clear();
    frames_.clear();
    components_.clear();
    arcs_.clear();
  }

  // Appends the shortest way from `from`, through states `inside`, to an arc that is a `goal`; where it takes more than
  // `most` steps, nothing, and gives kNoIndex. Of several such arcs that leave a state one to `preferred` is taken.
  template <class Inside, class Goal>
  Index shortest(Index from, std::vector<LassoStep>& steps, std::size_t most, Inside&& inside, Goal&& goal,
                 std::uint64_t* seen = nullptr, Index preferred = kNoIndex) {
    struct Visit {
      Index state;
      std::size_t before, depth;
      LassoStep step;
      std::uint64_t marks;
    };
    std::vector<Visit> visits{{from, 0, 0, {}, 0}};
    std::unordered_set<Index> known{from};
    for (std::size_t i = 0; i < visits.size() && visits[i].depth < most; ++i) {
      std::size_t found = 0;
      ++visits_;
      arcs_from(visits[i].state, [&](const Word* packed, std::uint64_t marks, const Move& move) {
        const Index to = found && preferred == kNoIndex ? kNoIndex : states_.find(packed, hash_words(packed, layout_.words()));
        if (to == kNoIndex || (found && to != preferred) || !inside(to)) return;
        const bool is_goal = goal(to, marks);
        if (found && !is_goal) return;
        if (!is_goal && !known.insert(to).second) return;
        visits.push_back({to, i, visits[i].depth + 1, {move.stutters, move.step}, marks});
        if (is_goal) found = visits.size() - 1;
      });
      if (!found) continue;
      std::vector<LassoStep> path;
      for (std::size_t j = found; j != 0; j = visits[j].before) {
        path.push_back(visits[j].step);
        if (seen) *seen |= visits[j].marks;
      }
      steps.insert(steps.end(), path.rbegin(), path.rend());
      return visits[found].state;
    }
    return kNoIndex;
  }

  const Machine& machine_;
  Semantics semantics_;
  const BuchiQuery& query_;
  int automaton_slot_;
  Layout layout_;
  Successors<Semantics> successors_;
  StateSet states_;
  const Limits& limits_;
  Work work_;

  std::uint64_t count_ = 0, transitions_ = 0, refused_ = 0, visits_ = 0;
  std::uint32_t clock_ = 0;
  Stop stop_ = Stop::None;
  std::vector<std::uint32_t> order_;  // 0: not visited; kDead: its component is finished
  std::vector<Index> live_;
  std::vector<Frame> frames_;
  std::vector<Component> components_;
  std::vector<Arc> arcs_;
  std::vector<Move> moves_;
  std::vector<Word> moved_;
  std::vector<bool> nearby_;  // where not empty: the only states to search
};

BuchiResult find_accepted_run(std::shared_ptr<const Machine> machine, const Model& model, const BuchiQuery& query,
                              const Limits& limits);

}  // namespace memfence
