// What each thread could do next, frame by frame of the present execution.
//
// An offer stays true until its thread moves, or something that it reads is written: most are inherited from the frame
// before. Everything lies in arrays that grow and shrink with the stack of frames.
#pragma once

#include <vector>

#include "execution/access.hpp"
#include "execution/memory_event.hpp"
#include "stateless/races.hpp"

namespace memfence {

// One way for a thread to go on. A machine may have several; a running program has one, and what its environment may do.
struct Alternative {
  int label = -1;  // what a schedule calls it
  bool fails = false;
  bool optional = false;  // it may also never happen, though the thread could go on so: nobody may rely on it
  bool locked = false;
  bool single = false;  // one event for the monitor, its last access: `op`
  MemoryOp op = MemoryOp::Load;
  std::size_t accesses = 0, accesses_end = 0;
  std::size_t notes = 0, notes_end = 0;  // the executor's own
};

struct Offer {
  std::size_t first = 0, last = 0;             // alternatives
  std::size_t accesses = 0, accesses_end = 0;  // of all ways, blocked ones included
  std::size_t blocked = 0;                     // from here on: what the blocked ones read
  bool touches = false, reads = false, fails = false;
  bool optional = false;  // there are ways on, and all of them are
};

class Offers {
 public:
  explicit Offers(int threads) : threads_(static_cast<std::size_t>(threads)) {}

  // --- Asking ----------------------------------------------------------------------------------------------------------

  const Offer& of(std::size_t frame, int thread) const {
    return offers_[of_thread_[frame * threads_ + static_cast<std::size_t>(thread)]];
  }
  const Alternative& alternative(std::size_t number) const { return alternatives_[number]; }
  const Access& access(std::size_t number) const { return accesses_[number]; }
  const Access* accesses() const { return accesses_.data(); }
  const Access& last_access(const Alternative& a) const { return accesses_[a.accesses_end - 1]; }

  // --- Writing: for executors, while they make an offer ---------------------------------------------------------------

  void record(const Access& access) { accesses_.push_back(access); }
  std::size_t recorded() const { return accesses_.size(); }
  // A way on, with the accesses recorded from `a.accesses` on. `one_event`: whether it may be handed to the monitor as a
  // single event, if it looks like one.
  void add(Alternative a, bool one_event);
  // What was recorded from `first` on belongs to a way that is blocked now.
  void block(std::size_t first) {
    blocked_.insert(blocked_.end(), accesses_.begin() + static_cast<std::ptrdiff_t>(first), accesses_.end());
    accesses_.resize(first);
  }
  // A running program knows the value of an access when it has been made.
  void set_value(std::size_t access, std::int64_t value) { accesses_[access].value = value; }

  // --- Frames ----------------------------------------------------------------------------------------------------------

  struct Moves {
    Mask enabled = 0, waiting = 0;
    Mask optional = 0;  // enabled, but perhaps never
    Mask fresh = 0;     // threads whose offer was not inherited
    int local = -1;  // the first thread that can go on without touching memory
  };
  // Enter frame `number`, behind the step `taken` of thread `moved` (-1: nobody; this is the first frame).
  template <class Executor>
  Moves enter(Executor& executor, std::size_t number, int moved, std::size_t taken);
  template <class Executor>
  void leave(Executor& executor) {
    const Begin begin = begins_.back();
    begins_.pop_back();
    offers_.resize(begin.offers);
    of_thread_.resize(begins_.size() * threads_);
    alternatives_.resize(begin.alternatives);
    accesses_.resize(begin.accesses);
    executor.drop_notes(begin.notes);
  }
  // The step that was taken has turned out to fail: so does the offer that it was part of, wherever it was inherited.
  void set_failing(std::size_t frame, int thread, std::size_t alternative) {
    offers_[of_thread_[frame * threads_ + static_cast<std::size_t>(thread)]].fails = true;
    alternatives_[alternative].fails = true;
  }
  void clear();

 private:
  struct Begin {
    std::size_t offers, alternatives, accesses, notes;
  };

  bool survives(const Offer& offer, const Alternative& taken) const {
    for (std::size_t i = taken.accesses; i < taken.accesses_end; ++i) {
      if (!accesses_[i].writes()) continue;
      for (std::size_t k = offer.accesses; k < offer.accesses_end; ++k)
        if (accesses_[k].address == accesses_[i].address && accesses_[k].reads()) return false;
    }
    return true;
  }
  void finish(Offer& offer);

  std::size_t threads_;
  std::vector<std::size_t> of_thread_;  // [frame][thread]: number of the offer
  std::vector<Begin> begins_;           // [frame]
  std::vector<Offer> offers_;
  std::vector<Alternative> alternatives_;
  std::vector<Access> accesses_, blocked_;
};

template <class Executor>
Offers::Moves Offers::enter(Executor& executor, std::size_t number, int moved, std::size_t taken) {
  begins_.push_back({offers_.size(), alternatives_.size(), accesses_.size(), executor.notes()});
  Moves moves;
  const bool inherits = moved >= 0 && executor.meets_in_memory_only();
  for (int p = 0; p < static_cast<int>(threads_); ++p) {
    const std::size_t before = inherits ? of_thread_[(number - 1) * threads_ + static_cast<std::size_t>(p)] : 0;
    if (inherits && p != moved && survives(offers_[before], alternatives_[taken])) {
      of_thread_.push_back(before);
    } else {
      of_thread_.push_back(offers_.size());
      Offer& fresh = offers_.emplace_back();
      fresh.first = alternatives_.size();
      fresh.accesses = accesses_.size();
      executor.offer(p, *this);
      finish(fresh);
      moves.fresh |= bit(p);
    }
    const Offer& mine = offers_[of_thread_.back()];
    if (mine.first != mine.last) {
      moves.enabled |= bit(p);
      if (mine.optional)
        moves.optional |= bit(p);
      else if (executor.meets_in_memory_only() && !mine.touches && moves.local < 0)
        moves.local = p;
    } else if (!executor.is_done(p)) {
      moves.waiting |= bit(p);
    }
  }
  return moves;
}

// Most steps are one event: one load, store or fence, or locked accesses to one variable, at least one of them a write.
inline void Offers::add(Alternative a, bool one_event) {
  a.accesses_end = accesses_.size();
  const std::size_t count = a.accesses_end - a.accesses;
  if (one_event && count > 0) {
    const Access& last = accesses_.back();
    if (a.locked && last.touches_memory()) {
      a.op = MemoryOp::Interlocked;
      a.single = last.kind == AccessKind::LockedStore;
      for (std::size_t i = a.accesses; i < a.accesses_end; ++i) a.single &= accesses_[i].address == last.address;
    } else {
      a.single = count == 1 && last.kind != AccessKind::DirectStore;
      a.op = last.kind == AccessKind::Load    ? MemoryOp::Load
             : last.kind == AccessKind::Store ? MemoryOp::Store
                                              : MemoryOp::Fence;
    }
  }
  alternatives_.push_back(a);
}

inline void Offers::finish(Offer& offer) {
  offer.last = alternatives_.size();
  offer.blocked = accesses_.size();
  offer.optional = offer.first != offer.last;
  for (std::size_t i = offer.first; i < offer.last; ++i) {
    offer.fails |= alternatives_[i].fails;
    offer.optional &= alternatives_[i].optional;
  }
  for (const Access& a : blocked_)
    if (a.reads()) accesses_.push_back(a);
  blocked_.clear();
  offer.accesses_end = accesses_.size();
  for (std::size_t i = offer.accesses; i < offer.accesses_end; ++i) {
    offer.touches |= accesses_[i].touches_memory();
    offer.reads |= accesses_[i].reads();
  }
}

inline void Offers::clear() {
  of_thread_.clear();
  begins_.clear();
  offers_.clear();
  alternatives_.clear();
  accesses_.clear();
}

}  // namespace memfence
