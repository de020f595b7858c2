#include "graphs/seq_cst.hpp"

#include <algorithm>

#include "graphs/models.hpp"

namespace memfence::graphs {

namespace {

using Word = std::uint64_t;

class Relation {
 public:
  explicit Relation(std::size_t size) : size_(size), words_((size + 63) / 64), bits_(size * words_, 0) {}
  bool has(std::size_t a, std::size_t b) const { return row(a)[b / 64] >> (b % 64) & 1; }
  void set(std::size_t a, std::size_t b) { bits_[a * words_ + b / 64] |= Word{1} << (b % 64); }
  // Everything that `b` is related to in `other` becomes related to `a`.
  void add_row(std::size_t a, const Relation& other, std::size_t b) {
    for (std::size_t w = 0; w < words_; ++w) bits_[a * words_ + w] |= other.bits_[b * words_ + w];
  }
  template <class Each>
  void each(std::size_t a, const Each& each) const {
    for (std::size_t w = 0; w < words_; ++w)
      for (Word left = row(a)[w]; left; left &= left - 1) each(w * 64 + static_cast<std::size_t>(__builtin_ctzll(left)));
  }
  std::size_t size() const { return size_; }

 private:
  const Word* row(std::size_t a) const { return &bits_[a * words_]; }
  std::size_t size_, words_;
  std::vector<Word> bits_;
};

class SeqCst {
 public:
  explicit SeqCst(const ExecutionGraph& graph)
      : graph_(graph), size_(graph.size()), happens_(size_), eco_(size_), scb_(size_), psc_(size_) {
    for (const EventId id : graph.events()) {
      const Event& event = graph.event(id);
      if (event.order & kSeqCst) marked_.push_back(number(id));
    }
  }

  bool is_acyclic() {
    if (marked_.size() < 2) return true;
    relate();
    for (const std::size_t a : marked_) add_edges_from(a);
    return !has_cycle();
  }

 private:
  const Event& event(std::size_t number) const { return graph_.event(graph_.events()[number]); }
  std::size_t number(EventId id) const { return static_cast<std::size_t>(graph_.event(id).stamp); }
  bool is_fence(std::size_t number) const { return event(number).kind == ActionKind::Fence; }
  static bool is_access(const Event& event) { return event.reads() || event.writes(); }
  bool at_same_place(const Event& a, const Event& b) const { return is_access(a) && is_access(b) && a.location == b.location; }

  void relate() {
    for (std::size_t b = 0; b < size_; ++b) {
      const Count* known = graph_.clock(graph_.events()[b], kHappens);
      for (int t = 0; t < graph_.threads(); ++t)
        for (int n = 0; n < known[t]; ++n) {
          const std::size_t a = number(event_id(t, n));
          if (a != b) happens_.set(a, b);
        }
    }
    for (int x = 0; x < graph_.locations(); ++x) relate_at(x);
    for (int t = 0; t < graph_.threads(); ++t) relate_in(t);
    for (std::size_t a = 0; a < size_; ++a)
      happens_.each(a, [&](std::size_t b) {
        if (at_same_place(event(a), event(b))) scb_.set(a, b);
      });
  }

  // Modification order and from-reads are part of scb; with reads-from behind them, of eco.
  void relate_at(int location) {
    const std::vector<EventId>& writes = graph_.writes(location);
    const std::vector<EventId>& reads = graph_.reads(location);
    const auto from = [&](EventId id, int place) {
      const std::size_t a = number(id);
      for (std::size_t n = static_cast<std::size_t>(place); n < writes.size(); ++n) {
        if (writes[n] == id) continue;
        eco_.set(a, number(writes[n]));
        scb_.set(a, number(writes[n]));
      }
      for (const EventId read : reads) {
        const Event& other = graph_.event(read);
        if (!other.waits() && other.source != kInitial && graph_.place_of(other.source) > place) eco_.set(a, number(read));
      }
    };
    for (const EventId write : writes) {
      from(write, graph_.event(write).place);
      for (const EventId read : reads)
        if (graph_.event(read).source == write) eco_.set(number(write), number(read));
    }
    for (const EventId read : reads)
      if (!graph_.event(read).waits()) from(read, graph_.place_of(graph_.event(read).source));
  }

  // Program order, and happens-before between what is elsewhere: the nearest neighbours at other locations decide.
  void relate_in(int thread) {
    for (int n = 0; n < graph_.size(thread); ++n) {
      const std::size_t a = number(event_id(thread, n));
      for (int m = n + 1; m < graph_.size(thread); ++m) scb_.set(a, number(event_id(thread, m)));
      const EventId next = elsewhere(thread, n, 1);
      if (next == kNoEvent) continue;
      for (int t = 0; t < graph_.threads(); ++t)
        for (int m = 0; m < graph_.size(t); ++m) {
          const EventId before = elsewhere(t, m, -1);
          if (before != kNoEvent && happens_.has(number(next), number(before))) scb_.set(a, number(event_id(t, m)));
        }
    }
  }

  EventId elsewhere(int thread, int from, int direction) const {
    const Event& here = graph_.event(event_id(thread, from));
    for (int n = from + direction; n >= 0 && n < graph_.size(thread); n += direction)
      if (!at_same_place(here, graph_.event(event_id(thread, n)))) return event_id(thread, n);
    return kNoEvent;
  }

  void add_edges_from(std::size_t a) {
    // Behind `first; scb`.
    Relation behind(size_);
    if (is_fence(a)) happens_.each(a, [&](std::size_t b) { behind.add_row(0, scb_, b); });
    behind.add_row(0, scb_, a);
    for (const std::size_t b : marked_) {
      bool leads = behind.has(0, b);
      if (!leads && is_fence(b)) behind.each(0, [&](std::size_t c) { leads |= happens_.has(c, b); });
      if (!leads && is_fence(a) && is_fence(b)) leads = happens_.has(a, b) || leads_by_eco(a, b);
      if (leads) psc_.set(a, b);
    }
  }

  bool leads_by_eco(std::size_t a, std::size_t b) const {
    bool leads = false;
    happens_.each(a, [&](std::size_t c) { eco_.each(c, [&](std::size_t d) { leads |= happens_.has(d, b); }); });
    return leads;
  }

  bool has_cycle() {
    std::vector<std::size_t> left(marked_);
    for (bool removed = true; removed;) {
      removed = false;
      for (std::size_t n = 0; n < left.size(); ++n) {
        if (std::any_of(left.begin(), left.end(), [&](std::size_t b) { return psc_.has(left[n], b); })) continue;
        left[n] = left.back();
        left.pop_back();
        removed = true;
        --n;
      }
    }
    return !left.empty();
  }

  const ExecutionGraph& graph_;
  std::size_t size_;
  Relation happens_, eco_, scb_, psc_;
  std::vector<std::size_t> marked_;
};

}  // namespace

bool is_seq_cst_consistent(const ExecutionGraph& graph) { return SeqCst(graph).is_acyclic(); }

bool Rc11::is_consistent(const ExecutionGraph& graph, EventId id) {
  const bool is_marked = (graph.event(id).order & kSeqCst) != 0;
  int marked = 0, fences = 0;
  for (const EventId other : graph.events()) {
    const Event& event = graph.event(other);
    if (!(event.order & kSeqCst)) continue;
    ++marked;
    fences += event.kind == ActionKind::Fence;
  }
  if (marked < 2 || (!is_marked && fences == 0)) return true;
  return is_seq_cst_consistent(graph);
}

}  // namespace memfence::graphs
