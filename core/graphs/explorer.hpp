// Every consistent execution graph of a program, once: TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: Truly
// Stateless, Optimal Dynamic Partial Order Reduction, POPL 2022), with awaits.
//
// The graph grows by one event at a time. A read tries every write that coherence and the model allow; a write tries every
// place in modification order, and it revisits the reads of its location that do not lead to it: the graph without all that
// was added after the read (but for what leads to the write) is explored as well, with the read reading from the write. No
// set of visited graphs is kept; the condition in maximal.hpp makes sure that each is visited once.
//
// Awaits. A read on which its thread only waits for another value is no event of its own for each such value: it waits, as
// one read that reads from nowhere, until a write revisits it. That is one more source that it may have, and counts as the
// newest write where that makes the thread wait. So a loop that spins is one read, whatever it saw meanwhile. Where the
// newest write lets the thread go on, it may still come too late: another thread may write a value for which it waits.
// Which values are written is learned on the way; whenever there is one more, everything begins again.
//
// Read-modify-writes. Two of them may not read from the same write. A read that would still is added if the other one could
// be revisited: its write, then, is put nowhere, but it revisits the other read, and the two follow each other the other
// way round; or it revisits an earlier read, and the other one is left out.
//
// Depth first. A frame remembers where there was more than one way on, and goes through the ways; graphs that revisits made
// lie on a stack of their own.
#pragma once

#include <algorithm>
#include <deque>

#include "graphs/executor.hpp"
#include "graphs/maximal.hpp"
#include "graphs/models.hpp"
#include "search/limits.hpp"

namespace memfence::graphs {

// `blocked`: that came to an end in which a thread waits, or that do not count. `given_up`: graphs that were begun and turned
// out inconsistent, or led nowhere but to a revisit. `revisits`: graphs that were made by one.
struct Explored {
  Stop stop = Stop::None;
  std::uint64_t executions = 0, blocked = 0, cut = 0, given_up = 0, revisits = 0, events = 0;
  double seconds = 0;
  bool is_complete = false;  // nothing was left out, but what `cut` counts
};

// What becomes of plain accesses where the model has races. End: a race is a finding, and what follows from it does not
// matter. So a plain read sees one write, the newest. Branch: plain accesses are like any other, and what races is told at
// the end of the execution.
enum class Races : std::uint8_t { End, Branch };

// `looks_on`: an execution in which something was found only has to come to its end, unless all others are wanted as well.
struct Manner {
  Races races = Races::End;
  bool looks_on = false;
};

template <class Model, Executor E, class L>
  requires Listener<L>
class Explorer {
 public:
  Explorer(E& executor, L& listener, const Limits& limits, Manner manner = {})
      : executor_(executor), listener_(listener), limits_(limits), watch_(limits_), manner_(manner) {}

  Explored run();

 private:
  void explore();
  enum class Way : std::uint8_t { Read, Write, Choice, Revisit };
  static constexpr int kWait = -1;  // an option of a read
  struct Frame {
    Way way;
    std::size_t graph, mark;
    int thread;
    Action action;
    EventId revisited = kNoEvent;
    Outlook outlook{};  // of the read that is revisited
    std::size_t options, option, revisits;  // in `options_`: where they begin; the one that is next; where revisits begin
  };

  ExecutionGraph& graph() { return graphs_[depth_]; }
  std::size_t at(int number) const { return static_cast<std::size_t>(number); }
  void follow();
  bool grow();
  int choose_thread(Action& action);
  bool would_wait(int thread, int location);
  bool could_wait(int thread, int location);
  void learn_value(int location, Value value);
  bool begin(Frame frame, bool has_revisits);
  bool go_back();
  bool next_option(Frame& frame);
  bool take(Frame& frame, int option);

  bool read(int thread, const Action& action);
  bool write(int thread, const Action& action);
  bool take_read(int thread, const Action& action, int place);
  bool take_write(int thread, const Action& action, int place);
  bool take_other(int thread, const Action& action, Value value);
  bool take_revisit(const Frame& frame, int place);
  bool give_up() {
    ++result_.given_up;
    return false;
  }
  bool begin_revisit(const Frame& of, EventId read);
  void find_revisits(int thread, const Action& action, EventId rival);
  void end();

  const Count* known_to(int thread, bool before_last = false) {
    const int last = graph().size(thread) - 1 - before_last;
    return last < 0 ? nullptr : graph().clock(event_id(thread, last), Model::kKnown);
  }
  int floor(const Count* known, int location);
  void options_for_write(int thread, const Action& action, int above);
  EventId rival_of(int thread, const Action& action);
  Value value_of(EventId write, int location) {
    return write == kInitial ? executor_.initial(location) : graph().event(write).value;
  }
  // A plain access that sees, or is seen by, everything that came before it: else it races.
  bool is_settled(Order order) const { return Model::kHasRaces && manner_.races == Races::End && !(order & kAtomic); }
  void look_for_race(EventId id);
  EventId add(int thread, const Action& action, EventId source, Value value, int place, const Outlook& outlook = {});
  bool advance(int thread, Value value);
  bool is_newest(int location, int place) { return at(place) == graph().writes(location).size(); }
  bool wake_one();
  void finish(bool found) { finishes_ |= found && !manner_.looks_on; }

  E& executor_;
  L& listener_;
  Limits limits_;
  Watch watch_;
  Manner manner_;
  Model model_;
  std::deque<ExecutionGraph> graphs_;
  std::size_t depth_ = 0;
  std::vector<Frame> frames_;
  std::vector<int> options_;
  struct Values {
    std::vector<Value> values;
    bool were_asked = false;
  };
  std::vector<Values> written_;  // of each location: what was ever written there
  bool has_news_ = false;        // a value that somebody would have wanted to know
  bool is_behind_ = false;  // the executor stands elsewhere
  struct Woken {
    EventId read;
    Order order;
  };
  std::vector<Woken> woken_;  // reads that waited, and do not since the execution only has to come to its end
  bool finishes_ = false;   // only the newest values from here on
  Ending ending_;
  Explored result_;
};

template <class M, Executor E, class L>
  requires Listener<L>
Explored Explorer<M, E, L>::run() {
  do {
    listener_.begin();
    const std::uint64_t events = result_.events;
    result_ = Explored{};
    result_.events = events;
    explore();
  } while (has_news_ && result_.stop == Stop::None);
  result_.is_complete = result_.stop == Stop::None;
  result_.seconds = watch_.seconds();
  return result_;
}

template <class M, Executor E, class L>
  requires Listener<L>
void Explorer<M, E, L>::explore() {
  graphs_.clear();
  graphs_.emplace_back(M::kClocks);
  depth_ = 0;
  frames_.clear();
  options_.clear();
  woken_.clear();
  is_behind_ = finishes_ = has_news_ = false;
  ending_ = Ending{};
  executor_.reset();
  for (bool grows = true; result_.stop == Stop::None && !has_news_;) {
    if (grows) {
      grows = grow();
    } else {
      if (frames_.empty()) break;
      grows = go_back();
    }
    has_news_ |= executor_.has_learned();
    if ((++result_.events & 0xff) == 0 && result_.stop == Stop::None) {
      result_.stop = watch_.check(result_.executions, result_.events, frames_.size(), 0);
      if (result_.stop == Stop::None) result_.stop = watch_.check_states(result_.events);
    }
  }
}

template <class M, Executor E, class L>
  requires Listener<L>
void Explorer<M, E, L>::follow() {
  if (!is_behind_) return;
  executor_.follow(graph());
  graph().settle();
  is_behind_ = false;
}

template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::grow() {
  follow();
  Action action;
  const int thread = choose_thread(action);
  if (thread < 0) {
    if (finishes_ && wake_one()) return true;
    end();
    return false;
  }
  graph().ensure(executor_.threads(), executor_.locations());
  switch (action.kind) {
    case ActionKind::Read: return read(thread, action);
    case ActionKind::Write: return write(thread, action);
    case ActionKind::Choice: {
      Frame frame{Way::Choice, depth_, graph().size(), thread, action, kNoEvent, {}, options_.size(), 0, 0};
      for (int way = 0; way < (finishes_ ? 1 : action.ways); ++way) options_.push_back(way);
      return begin(frame, false);
    }
    default: return take_other(thread, action, 0);
  }
}

// The options are those behind `frame.options`. One that is alone needs no frame.
template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::begin(Frame frame, bool has_revisits) {
  if (!has_revisits) frame.revisits = options_.size();
  frame.option = frame.options;
  if (frame.options == options_.size()) {
    ++result_.given_up;
    return false;
  }
  if (frame.options + 1 == options_.size() && frame.revisits == options_.size() && frame.way != Way::Revisit) {
    const int option = options_.back();
    options_.pop_back();
    return take(frame, option);
  }
  frames_.push_back(frame);
  return next_option(frames_.back());
}

template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::next_option(Frame& frame) {
  const int option = options_[frame.option++];
  if (frame.option > frame.revisits) return begin_revisit(frame, option);
  return take(frame, option);
}

template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::take(Frame& frame, int option) {
  switch (frame.way) {
    case Way::Read: return take_read(frame.thread, frame.action, option);
    case Way::Write: return take_write(frame.thread, frame.action, option);
    case Way::Choice: return take_other(frame.thread, frame.action, option);
    default: return take_revisit(frame, option);
  }
}

// To the last place where there is another way on; false if the way turns out to be none.
template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::go_back() {
  Frame& frame = frames_.back();
  if (depth_ > frame.graph) woken_.clear();
  for (; depth_ > frame.graph; --depth_) graphs_[depth_ - 1].unsettle(graphs_[depth_]);
  finishes_ = false;
  ending_ = Ending{};
  is_behind_ = true;
  graph().take_back(frame.mark);
  for (const Woken& one : woken_)
    if (number_of(one.read) < graph().size(thread_of(one.read))) graph().set_source(one.read, kNowhere, 0, one.order, false);
  woken_.clear();
  if (frame.way == Way::Revisit) {
    const Event& read = graph().event(frame.revisited);
    if (!read.waits()) graph().set_source(frame.revisited, kNowhere, 0, read.order, false);
  }
  if (frame.option < options_.size()) return next_option(frame);
  options_.resize(frame.options);
  frames_.pop_back();
  return false;
}

// The highest place of a write that the clock knows, or that a read read which the clock knows.
template <class M, Executor E, class L>
  requires Listener<L>
int Explorer<M, E, L>::floor(const Count* known, int location) {
  if (known == nullptr) return 0;
  const auto& writes = graph().writes(location);
  int found = 0;
  for (std::size_t n = writes.size(); n-- > 0;)
    if (ExecutionGraph::knows(known, writes[n])) {
      found = static_cast<int>(n) + 1;
      break;
    }
  if (at(found) == writes.size()) return found;
  for (const EventId read : graph().reads(location)) {
    if (!ExecutionGraph::knows(known, read) || graph().event(read).waits()) continue;
    found = std::max(found, graph().place_of(graph().event(read).source));
  }
  return found;
}

template <class M, Executor E, class L>
  requires Listener<L>
EventId Explorer<M, E, L>::add(int thread, const Action& action, EventId source, Value value, int place,
                               const Outlook& outlook) {
  const bool has_read = action.kind == ActionKind::Read && source != kNowhere;
  Event event{};
  event.kind = action.kind;
  event.order = has_read ? outlook.order : action.order;
  event.is_update = has_read ? outlook.updates : action.is_update;
  event.location = action.location;
  event.value = value;
  event.source = source;
  event.place = place;
  if (event.writes()) learn_value(event.location, value);
  const EventId id = graph().add(thread, event);
  model_.learn(graph(), id);
  if (M::kHasRaces && manner_.races == Races::End) look_for_race(id);
  return id;
}

// The graph has an event that the executor has yet to take; where it stands elsewhere it takes that with the others.
template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::advance(int thread, Value value) {
  if (is_behind_) {
    follow();
  } else if (graph().settled(thread) < graph().taken(thread)) {
    executor_.take(thread, value);
    graph().settle(thread);
  }
  return true;
}

}  // namespace memfence::graphs

#include "graphs/turns.hpp"
#include "graphs/ways_on.hpp"
