#include "memfence/stateless.hpp"

#include <algorithm>

#include "stateless/races.hpp"
#include "stateless/stale_search.hpp"

namespace memfence {

namespace {

// Whether the steps of a process depend on the others through memory only.
bool meets_in_memory_only(const Machine& m) {
  if (m.lock_slot >= 0 || m.has_committed) return false;
  std::vector<int> owner(m.slots.size(), -1);
  for (std::size_t p = 0; p < m.processes.size(); ++p) {
    const auto end = p + 1 < m.processes.size() ? static_cast<std::size_t>(m.processes[p + 1].location_slot) : m.slots.size();
    for (auto slot = static_cast<std::size_t>(m.processes[p].location_slot); slot < end; ++slot) owner[slot] = static_cast<int>(p);
  }
  const auto is_own = [&](int process, int expression) {
    if (expression < 0) return true;
    const std::vector<int> read = m.expressions[static_cast<std::size_t>(expression)].slots_read();
    return std::all_of(read.begin(), read.end(), [&](int slot) { return owner[static_cast<std::size_t>(slot)] == process; });
  };
  for (const Edge& edge : m.edges) {
    if (edge.partner >= 0) return false;
    for (const Op& op : edge.ops) {
      const bool addressed = op.kind == OpKind::Load || op.kind == OpKind::Store;
      const bool valued = op.kind == OpKind::Store || op.kind == OpKind::Assign || op.kind == OpKind::Assume || op.kind == OpKind::Assert;
      if ((addressed && !is_own(op.process, op.index)) || (valued && !is_own(op.process, op.value)) ||
          (op.kind == OpKind::Load && !is_own(op.process, op.when)))
        return false;
    }
  }
  return true;
}

// What a process could do next: one entry an enabled edge. It stays true until the process moves or a variable that any
// of its edges reads is written.
struct Alternative {
  int edge;
  bool failed;
  bool single;  // one event for the monitor
  MemoryOp op;
  std::size_t effects, effects_end, accesses, accesses_end;
};

struct Offer {
  std::size_t first, last;          // alternatives
  std::size_t accesses, accesses_end;  // of all edges, blocked ones included
  std::size_t blocked;              // from here on: of the blocked ones
  bool touches, reads, fails;
};

struct Effect {
  int slot;
  Value value;
};

// Who made the newest write to a variable, and whether by a plain store.
struct Writer {
  int process = -1;
  bool buffered = false;
};

struct Frame {
  Mask enabled = 0, waiting = 0, sleep = 0, backtrack = 0;
  int process = -1;
  std::size_t alternative = 0;
  int last = -1;  // who moved last, for counting preemptions
  int preemptions = 0;
  int region = -1;  // frame in which the open lock region began
  bool borderline = false;  // what led here, or what is possible here
  bool forced = false;
  // What the step taken from here has to undo.
  bool stepped = false, raced = false, monitored = false;
  std::size_t overwritten = 0;
  // Processes with a plain store that no fence has followed; whether a load has followed one: before and after the step.
  Mask unfenced = 0, unfenced_after = 0;
  bool gap = false, gap_after = false;
  std::size_t mark = 0, alternatives = 0, effects = 0, accesses = 0;
};

class Explorer {
 public:
  Explorer(const Machine& m, const ExploreOptions& options, const Limits& limits)
      : machine_(m), options_(options), limits_(limits), watch_(limits_), sc_(m), work_(m.slots.size()),
        processes_(static_cast<int>(m.processes.size())), memory_only_(meets_in_memory_only(m)),
        reduce_(options.reduce && options.preemptions < 0 && memory_only_ && processes_ <= kMostProcesses),
        races_(processes_, m.variables), monitor_(make_monitor(m)), stale_(m, sc_) {
    for (const auto& locations : m.leaving) {
      auto& simple = simple_at_.emplace_back();
      for (const auto& edges : locations)
        simple.push_back(std::all_of(edges.begin(), edges.end(), [&](int e) { return is_simple(m, m.edges[static_cast<std::size_t>(e)]); }));
    }
  }

  ExploreResult run() {
    result_.reduced = reduce_;
    for (std::size_t start = 0; start < machine_.initial.size() && result_.stop == Stop::None; ++start) explore(start);
    result_.seconds = watch_.seconds();
    return std::move(result_);
  }

  std::vector<TraceStep> events_of(const Schedule& schedule);

 private:
  // One load, and nothing stored in the same step but, locked, that very variable: what comes before the step alone decides
  // whether the load can be stale.
  static bool is_simple(const Machine& m, const Edge& edge) {
    const Op* load = nullptr;
    for (const Op& op : edge.ops) {
      if (op.kind != OpKind::Load) continue;
      if (load) return false;
      load = &op;
    }
    if (!load || edge.partner >= 0) return edge.partner < 0;
    const auto variable = [&](const Op& op) {
      const Expression& index = m.expressions[static_cast<std::size_t>(op.index)];
      return index.is_constant() ? op.base + index.constant() : -1;
    };
    return std::all_of(edge.ops.begin(), edge.ops.end(), [&](const Op& op) {
      return op.kind != OpKind::Store || (edge.locked && variable(op) >= 0 && variable(op) == variable(*load));
    });
  }

  static Monitor make_monitor(const Machine& m) {
    bool several = false, direct = false;
    for (const Edge& edge : m.edges) {
      int loads = 0;
      for (const Op& op : edge.ops) {
        loads += op.kind == OpKind::Load;
        direct |= op.kind == OpKind::Store && op.locked && !edge.locked;
      }
      several |= loads > 1;
    }
    Monitor monitor(true, several);
    monitor.ensure_threads(static_cast<std::uint32_t>(m.processes.size() * (direct ? 2 : 1)));
    monitor.ensure_addresses(static_cast<std::uint32_t>(m.variables));
    return monitor;
  }

  void begin(std::size_t start) {
    start_ = start;
    std::copy(machine_.initial[start].begin(), machine_.initial[start].end(), work_.data());
    work_.settle();
    for (int v = 0; v < machine_.variables; ++v) monitor_.set_initial(static_cast<std::uint32_t>(v), work_[v]);
    frames_.clear();
    fed_ = 0;
    writer_.assign(static_cast<std::size_t>(machine_.variables), Writer{});
    overwritten_.clear();
    offer_of_.clear();
    offers_.clear();
    alternatives_.clear();
    effects_.clear();
    accesses_.clear();
  }

  void explore(std::size_t start) {
    begin(start);
    enter(0);
    while (!frames_.empty() && result_.stop == Stop::None) {
      Frame& frame = frames_.back();
      if (frame.stepped) {
        undo(frame);
        next_alternative(frame);
      }
      if (frame.process < 0 && !choose(frame)) {
        leave();
        continue;
      }
      take(frames_.size() - 1);
    }
    while (!frames_.empty()) {
      if (frames_.back().stepped) undo(frames_.back());
      leave();
    }
  }

  // --- What the processes could do -------------------------------------------------------------------------------------

  bool is_committed(int p) const {
    const Process& process = machine_.processes[static_cast<std::size_t>(p)];
    return process.committed[static_cast<std::size_t>(work_[process.location_slot])] != 0;
  }

  void make_offer(int p, bool committed, Offer& offer) {
    const Process& process = machine_.processes[static_cast<std::size_t>(p)];
    const auto& edges = machine_.leaving[static_cast<std::size_t>(p)][static_cast<std::size_t>(work_[process.location_slot])];
    offer = {alternatives_.size(), 0, accesses_.size(), 0, 0, false, false, false};
    blocked_.clear();
    for (const int number : edges) {
      const Edge& edge = machine_.edges[static_cast<std::size_t>(number)];
      if (committed && (!is_committed(p) || (edge.partner >= 0 && !is_committed(edge.partner)))) continue;
      const std::size_t mark = work_.mark(), first = accesses_.size(), effects = effects_.size();
      const Outcome outcome = run_recorded(machine_, edge, work_, sc_, accesses_);
      if (outcome == Outcome::Blocked) {
        blocked_.insert(blocked_.end(), accesses_.begin() + static_cast<std::ptrdiff_t>(first), accesses_.end());
        accesses_.resize(first);
      } else {
        if (outcome == Outcome::Done) {
          for (std::size_t i = mark; i < work_.log().size(); ++i) {
            const int slot = work_.log()[i].slot;
            if (slot >= machine_.variables) effects_.push_back({slot, work_[slot]});
          }
          // A store of the value that is there now is not in the log, but it may have an effect later.
          for (std::size_t i = first; i < accesses_.size(); ++i)
            if (accesses_[i].writes()) effects_.push_back({accesses_[i].variable, work_[accesses_[i].variable]});
        }
        offer.fails |= outcome == Outcome::Failed;
        alternatives_.push_back(
            {number, outcome == Outcome::Failed, false, MemoryOp::Load, effects, effects_.size(), first, accesses_.size()});
        if (memory_only_) is_single(edge, alternatives_.back());
      }
      work_.rollback(mark);
    }
    offer.last = alternatives_.size();
    offer.blocked = accesses_.size();
    for (const Touch& a : blocked_)
      if (a.reads()) accesses_.push_back(a);
    offer.accesses_end = accesses_.size();
    for (std::size_t i = offer.accesses; i < offer.accesses_end; ++i) {
      offer.touches |= accesses_[i].kind != TouchKind::Fence;
      offer.reads |= accesses_[i].reads();
    }
  }

  // Most steps are one event: one load, store or fence, or locked accesses to one variable, at least one of them a write.
  void is_single(const Edge& edge, Alternative& a) const {
    const std::size_t count = a.accesses_end - a.accesses;
    if (count == 0) return;
    const Touch& last = accesses_[a.accesses_end - 1];
    if (edge.locked) {
      a.op = MemoryOp::Interlocked;
      a.single = last.kind == TouchKind::LockedStore;
      for (std::size_t i = a.accesses; i < a.accesses_end; ++i) a.single &= accesses_[i].variable == last.variable;
      return;
    }
    a.single = count == 1 && last.kind != TouchKind::DirectStore;
    a.op = last.kind == TouchKind::Load ? MemoryOp::Load : last.kind == TouchKind::Store ? MemoryOp::Store : MemoryOp::Fence;
  }

  const Offer& offer(std::size_t frame, int p) const {
    return offers_[offer_of_[frame * static_cast<std::size_t>(processes_) + static_cast<std::size_t>(p)]];
  }

  // Whether process p's offer survives the step just taken from `frame`.
  bool survives(std::size_t frame, int p) const {
    const Frame& f = frames_[frame];
    if (!memory_only_ || p == f.process) return false;
    const Alternative& taken = alternatives_[f.alternative];
    const Offer& mine = offer(frame, p);
    for (std::size_t i = taken.accesses; i < taken.accesses_end; ++i) {
      if (!accesses_[i].writes()) continue;
      for (std::size_t k = mine.accesses; k < mine.accesses_end; ++k)
        if (accesses_[k].variable == accesses_[i].variable && accesses_[k].reads()) return false;
    }
    return true;
  }

  // A new frame for the state in `work_`.
  void enter(std::size_t number) {
    Frame frame;
    frame.mark = work_.mark();
    frame.alternatives = alternatives_.size();
    frame.effects = effects_.size();
    frame.accesses = accesses_.size();
    frame.overwritten = overwritten_.size();
    offers_begin_.resize(number + 1);
    offers_begin_[number] = offers_.size();
    Mask fresh = 0;
    bool committed = false;
    if (machine_.has_committed)
      for (int p = 0; p < processes_; ++p) committed |= is_committed(p);
    for (int p = 0; p < processes_; ++p) {
      if (number > 0 && survives(number - 1, p)) {
        offer_of_.push_back(offer_of_[(number - 1) * static_cast<std::size_t>(processes_) + static_cast<std::size_t>(p)]);
      } else {
        offer_of_.push_back(offers_.size());
        offers_.emplace_back();
        make_offer(p, committed, offers_.back());
        fresh |= bit(p);
      }
      const Offer& mine = offers_[offer_of_.back()];
      if (mine.first != mine.last) {
        frame.enabled |= bit(p);
        if (memory_only_ && !mine.touches && frame.process < 0) frame.process = p;
      } else if (!is_halted(p)) {
        frame.waiting |= bit(p);
      }
    }
    frames_.push_back(frame);
    if (reduce_) look_back(number, frame.waiting & fresh);
    start_frame(number);
  }

  // A process that the last step has blocked, or left blocked in another way: could it have gone on before that step? Asked
  // at once, not at the end: of several writes that block it, the first one alone may have taken its chance.
  void look_back(std::size_t number, Mask blocked) {
    for (; blocked; blocked &= blocked - 1) {
      const int p = __builtin_ctzll(blocked);
      const Offer& mine = offer(number, p);
      touches_of(mine, mine.blocked, mine.blocked);
      backtrack_for(p, false);
    }
  }

  bool is_halted(int p) const {
    return machine_.is_halted(p, work_[machine_.processes[static_cast<std::size_t>(p)].location_slot]);
  }

  // Inherit from the step that led here, and make the first choice.
  void start_frame(std::size_t number) {
    Frame& frame = frames_[number];
    frame.gap = !memory_only_;
    if (number > 0) {
      const Frame& parent = frames_[number - 1];
      frame.borderline = parent.borderline;
      frame.unfenced = parent.unfenced_after;
      frame.gap = parent.gap_after;
      frame.last = parent.forced ? parent.last : parent.process;
      frame.preemptions = parent.preemptions + is_preemption(parent, parent.process);
      frame.region = open_region(number);
      if (reduce_) frame.sleep = still_asleep(number - 1);
    }
    const bool failed = number > 0 && alternatives_[frames_[number - 1].alternative].failed;
    if (failed || frame.enabled == 0 || (frame.enabled & ~frame.sleep) == 0 || is_too_deep(number)) {
      frame.process = -1;
      end(number, failed);
      return;
    }
    if (frame.process >= 0) {  // a step without memory access
      frame.forced = true;
      frame.backtrack = bit(frame.process);
      frame.alternative = offer(number, frame.process).first;
      if (offer(number, frame.process).fails) unforce(frame);
      return;
    }
    frame.backtrack = reduce_ ? bit(preferred(frame)) : frame.enabled;
  }

  bool is_too_deep(std::size_t number) const { return options_.depth > 0 && number >= options_.depth; }

  int preferred(const Frame& frame) const {
    const Mask awake = frame.enabled & ~frame.sleep;
    if (frame.last >= 0 && (awake & bit(frame.last))) return frame.last;
    return __builtin_ctzll(awake);
  }

  static int is_preemption(const Frame& frame, int p) {
    return !frame.forced && frame.last >= 0 && frame.last != p && (frame.enabled & bit(frame.last)) ? 1 : 0;
  }

  // A failing step ends the execution: what the others could do has to be tried before it as well.
  static void unforce(Frame& frame) {
    frame.backtrack = frame.enabled;
  }

  Mask still_asleep(std::size_t number) const {
    const Frame& f = frames_[number];
    const Alternative& taken = alternatives_[f.alternative];
    Mask awake = 0;
    for (Mask rest = f.sleep & ~bit(f.process); rest; rest &= rest - 1) {
      const int q = __builtin_ctzll(rest);
      if (taken.failed || offer(number, q).fails || conflicts(number, taken, q)) awake |= bit(q);
    }
    return f.sleep & ~awake & ~bit(f.process);
  }

  bool conflicts(std::size_t number, const Alternative& taken, int q) const {
    const Offer& theirs = offer(number, q);
    const Offer& mine = offer(number, frames_[number].process);
    for (std::size_t k = theirs.accesses; k < theirs.accesses_end; ++k) {
      const Touch& a = accesses_[k];
      if (a.kind == TouchKind::Fence) continue;
      for (std::size_t i = taken.accesses; i < taken.accesses_end; ++i) {
        const Touch& b = accesses_[i];
        if (b.kind != TouchKind::Fence && a.variable == b.variable && (a.writes() || b.writes())) return true;
      }
      for (std::size_t i = mine.blocked; i < mine.accesses_end; ++i)
        if (a.writes() && a.variable == accesses_[i].variable) return true;
    }
    return false;
  }

  // --- Scheduling ------------------------------------------------------------------------------------------------------

  bool choose(Frame& frame) {
    const std::size_t number = frames_.size() - 1;
    while (true) {
      const Mask open = frame.backtrack & frame.enabled & ~frame.sleep;
      if (open == 0) return false;
      const int p = frame.last >= 0 && (open & bit(frame.last)) ? frame.last : __builtin_ctzll(open);
      frame.process = p;
      frame.alternative = offer(number, p).first;
      if (options_.preemptions < 0 || frame.preemptions + is_preemption(frame, p) <= options_.preemptions) return true;
      ++result_.cut;
      frame.sleep |= bit(p);
      frame.process = -1;
    }
  }

  void next_alternative(Frame& frame) {
    const std::size_t number = frames_.size() - 1;
    if (++frame.alternative < offer(number, frame.process).last) return;
    frame.sleep |= bit(frame.process);
    frame.process = -1;
  }

  void touches_of(const Offer& mine, std::size_t first, std::size_t last) {
    touches_.clear();
    const auto add = [&](const Touch& a) {
      if (a.kind == TouchKind::Fence) return;
      for (const Races::Use& t : touches_)
        if (t.variable == a.variable && t.writes == a.writes()) return;
      touches_.push_back({a.variable, a.writes()});
    };
    for (std::size_t i = first; i < last; ++i) add(accesses_[i]);
    for (std::size_t i = mine.blocked; i < mine.accesses_end; ++i) add(accesses_[i]);
  }

  void backtrack_for(int p, bool fails) {
    for (const int race : races_.races_of(p, touches_, fails)) {
      Frame& then = frames_[static_cast<std::size_t>(race)];
      bool starts = false;
      const Mask initials = races_.initials(race, p, starts);
      if (starts && !(then.enabled & bit(p))) continue;  // it was blocked there: the race cannot be reversed
      if (initials & (then.backtrack | then.sleep)) continue;
      then.backtrack |= starts ? bit(p) : bit(__builtin_ctzll(initials));
    }
  }

  void take(std::size_t number) {
    const int p = frames_[number].process;
    const Alternative taken = alternatives_[frames_[number].alternative];
    const Offer mine = offer(number, p);
    if (reduce_ && (mine.touches || taken.failed)) {
      touches_of(mine, taken.accesses, taken.accesses_end);
      backtrack_for(p, taken.failed);
      races_.push(static_cast<int>(number), p, touches_, taken.failed);
      frames_[number].raced = true;
      if (taken.failed) unforce(frames_[number]);
    }
    if (options_.monitor && !frames_[number].borderline) monitor(number, taken, mine);
    for (std::size_t i = taken.effects; i < taken.effects_end; ++i) work_.set(effects_[i].slot, effects_[i].value);
    frames_[number].stepped = true;
    if ((++result_.steps & 0xfff) == 0) {
      result_.stop = watch_.check(result_.executions, result_.steps, frames_.size(), 0);
      if (result_.stop != Stop::None) return;
    }
    enter(number + 1);
  }

  void undo(Frame& frame) {
    if (frame.raced) races_.pop();
    if (frame.monitored) unfeed(frame);
    if (fed_ >= frames_.size()) fed_ = frames_.size() - 1;
    for (; overwritten_.size() > frame.overwritten; overwritten_.pop_back())
      writer_[static_cast<std::size_t>(overwritten_.back().variable)] = overwritten_.back().before;
    work_.rollback(frame.mark);
    frame.raced = frame.monitored = frame.stepped = false;
  }

  void leave() {
    const std::size_t number = frames_.size() - 1;
    const Frame& frame = frames_.back();
    offers_.resize(offers_begin_[number]);
    offer_of_.resize(number * static_cast<std::size_t>(processes_));
    alternatives_.resize(frame.alternatives);
    effects_.resize(frame.effects);
    accesses_.resize(frame.accesses);
    frames_.pop_back();
  }

  // --- The monitor -----------------------------------------------------------------------------------------------------

  // Whether the clocks leave room for a stale value in the next step of process p. No, in most cases.
  bool could_be_stale(std::size_t number, int p) const {
    const Process& process = machine_.processes[static_cast<std::size_t>(p)];
    const Offer& mine = offer(number, p);
    const bool simple = simple_at_[static_cast<std::size_t>(p)][static_cast<std::size_t>(work_[process.location_slot])] != 0;
    if (!simple && !memory_only_) return true;
    int before = -1;
    for (std::size_t i = mine.accesses; i < mine.accesses_end; ++i) {
      const Touch& touch = accesses_[i];
      if (!touch.reads() || touch.variable == before) continue;
      before = touch.variable;
      const auto variable = static_cast<std::uint32_t>(before);
      if (simple ? monitor_.could_miss(static_cast<std::uint32_t>(p), variable) : !monitor_.history(variable).empty()) return true;
    }
    return false;
  }

  // How process p could go on with stale values, if it could.
  std::optional<StaleSearch::Found> find_stale(std::size_t number, int p) {
    if (!offer(number, p).reads) return std::nullopt;
    catch_up(number);
    if (!could_be_stale(number, p)) return std::nullopt;
    const Process& process = machine_.processes[static_cast<std::size_t>(p)];
    for (const int e : machine_.leaving[static_cast<std::size_t>(p)][static_cast<std::size_t>(work_[process.location_slot])])
      if (auto found = stale_.find(machine_.edges[static_cast<std::size_t>(e)], e, work_, monitor_)) return found;
    return std::nullopt;
  }

  // The monitor is lazy. As long as in no process a load follows a store without a fence between them (a load that sees
  // its own store aside: going through it leads nowhere that the store itself does not), relaxed happens-before is
  // happens-before and nothing can be stale. So the clocks are fed only when the first such gap has been found, with all
  // steps up to there, and before that a step costs a few bit operations.
  //
  // Nor can a load be stale whose variable was never written, or last by its own process.
  bool may_be_stale(std::size_t number, int p) const {
    const Frame& frame = frames_[number];
    const Process& process = machine_.processes[static_cast<std::size_t>(p)];
    if (!memory_only_ || !simple_at_[static_cast<std::size_t>(p)][static_cast<std::size_t>(work_[process.location_slot])]) return true;
    if (!frame.gap && !(frame.unfenced & bit(p))) return false;
    const Offer& mine = offer(number, p);
    for (std::size_t i = mine.accesses; i < mine.accesses_end; ++i) {
      if (!accesses_[i].reads()) continue;
      const int writer = writer_[static_cast<std::size_t>(accesses_[i].variable)].process;
      if (writer >= 0 && writer != p) return true;
    }
    return false;
  }

  // Before a step is taken: could it have been another one? Asked once, however many edges the process has.
  void monitor(std::size_t number, const Alternative& taken, const Offer& mine) {
    Frame& frame = frames_[number];
    if (mine.reads && taken.edge == alternatives_[mine.first].edge && frame.region < 0 && may_be_stale(number, frame.process)) {
      catch_up(number);
      if (could_be_stale(number, frame.process))
        if (const auto found = find_stale(number, frame.process)) {
          frame.borderline = true;
          note_borderline(number, *found);
          return;
        }
    }
    frame.gap_after = frame.gap;
    frame.unfenced_after = frame.unfenced;
    if (taken.accesses != taken.accesses_end) note_gap(frame, taken);
  }

  void note_gap(Frame& frame, const Alternative& taken) {
    if (!taken.single) {
      frame.gap_after = true;
      for (std::size_t i = taken.accesses; i < taken.accesses_end; ++i) overwrite(accesses_[i]);
      return;
    }
    const Touch& touch = accesses_[taken.accesses_end - 1];
    const Mask me = bit(touch.process);
    if (taken.op == MemoryOp::Load) {
      const Writer writer = writer_[static_cast<std::size_t>(touch.variable)];
      frame.gap_after |= (frame.unfenced & me) && !(writer.buffered && writer.process == touch.process);
      return;
    }
    frame.unfenced_after = taken.op == MemoryOp::Store ? frame.unfenced | me : frame.unfenced & ~me;
    overwrite(touch);
  }

  void overwrite(const Touch& touch) {
    if (!touch.writes()) return;
    Writer& writer = writer_[static_cast<std::size_t>(touch.variable)];
    overwritten_.push_back({touch.variable, writer});
    writer = {touch.process, touch.kind == TouchKind::Store};
  }

  // Tell the monitor about all steps before frame `number` that it does not know yet.
  void catch_up(std::size_t number) {
    for (; fed_ < number; ++fed_) feed(fed_);
  }

  void unfeed(const Frame& frame) {
    const Alternative& taken = alternatives_[frame.alternative];
    if (!taken.single) return monitor_.undo();
    const Touch& touch = accesses_[taken.accesses_end - 1];
    monitor_.undo_single(taken.op, static_cast<std::uint32_t>(touch.process), static_cast<std::uint32_t>(touch.variable));
  }

  void feed(std::size_t number) {
    Frame& frame = frames_[number];
    const Alternative& taken = alternatives_[frame.alternative];
    if (taken.failed) return;
    if (taken.single) {
      const Touch& touch = accesses_[taken.accesses_end - 1];
      monitor_.add_single(taken.op, static_cast<std::uint32_t>(touch.process), static_cast<std::uint32_t>(touch.variable), touch.value);
      frame.monitored = true;
      return;
    }
    if (memory_only_ && taken.accesses == taken.accesses_end) return;
    const Edge& edge = machine_.edges[static_cast<std::size_t>(taken.edge)];
    if (machine_.lock_slot >= 0 && (frame.region >= 0 || takes_lock(edge))) {
      if (!frees_lock(edge)) return;
      region_events(number);
    } else {
      events_.clear();
      make_events({accesses_.data() + taken.accesses, taken.accesses_end - taken.accesses}, edge, processes_, events_);
    }
    if (events_.empty()) return;
    monitor_.add(events_);
    frame.monitored = true;
  }

  static bool takes_lock(const Edge& edge) {
    return std::any_of(edge.ops.begin(), edge.ops.end(), [](const Op& op) { return op.kind == OpKind::Lock; });
  }
  static bool frees_lock(const Edge& edge) {
    for (std::size_t i = edge.ops.size(); i-- > 0;) {
      if (edge.ops[i].kind == OpKind::Unlock) return true;
      if (edge.ops[i].kind == OpKind::Lock) return false;
    }
    return false;
  }

  int open_region(std::size_t number) const {
    if (machine_.lock_slot < 0 || work_[machine_.lock_slot] == 0) return -1;
    const Frame& parent = frames_[number - 1];
    return parent.region >= 0 ? parent.region : static_cast<int>(number) - 1;
  }

  // Everything its owner did under the bus lock is one locked step; while it lasted nobody else touched memory.
  void region_events(std::size_t number) {
    const Frame& frame = frames_[number];
    const auto first = frame.region >= 0 ? static_cast<std::size_t>(frame.region) : number;
    region_.clear();
    for (std::size_t i = first; i <= number; ++i) {
      if (frames_[i].process != frame.process) continue;
      const Alternative& a = alternatives_[frames_[i].alternative];
      for (std::size_t k = a.accesses; k < a.accesses_end; ++k) {
        Touch access = accesses_[k];
        if (access.kind == TouchKind::Load) access.kind = TouchKind::LockedLoad;
        if (access.kind == TouchKind::Store) access.kind = TouchKind::LockedStore;
        region_.push_back(access);
      }
    }
    Edge locked{};
    locked.process = frame.process;
    locked.locked = true;
    locked.partner = -1;
    events_.clear();
    make_events(region_, locked, processes_, events_);
    for (MemoryEvent& e : events_) e.has_accepts = e.op == MemoryOp::Load;
  }

  // --- Ends of executions ----------------------------------------------------------------------------------------------

  void end(std::size_t number, bool failed) {
    Frame& frame = frames_[number];
    const bool truncated = !failed && (frame.enabled & ~frame.sleep) != 0;
    if (!failed && !truncated && frame.enabled != 0) {
      ++result_.redundant;
      return;
    }
    if (options_.monitor && !failed)
      for (Mask rest = truncated ? 0 : frame.waiting; rest && !frame.borderline; rest &= rest - 1) {
        if (!may_be_stale(number, __builtin_ctzll(rest))) continue;
        const auto found = find_stale(number, __builtin_ctzll(rest));
        if (!found) continue;
        frame.borderline = true;
        note_borderline(number, *found);
      }
    ++result_.executions;
    result_.truncated += truncated;
    result_.failed += failed;
    result_.borderline += frame.borderline;
    result_.deadlocked += !failed && !truncated && frame.waiting != 0;
    if (failed) note_failure(number);
    if (result_.kept.size() < options_.keep) {
      result_.kept.push_back(schedule(number));
      result_.kept.back().borderline = frame.borderline;
      result_.kept.back().failed = failed;
      result_.kept.back().truncated = truncated;
    }
    if (options_.stop_at_first && (failed || frame.borderline)) result_.stop = Stop::Found;
  }

  Schedule schedule(std::size_t number) const {
    Schedule s;
    s.start = start_;
    for (std::size_t i = 0; i < number; ++i) s.edges.push_back(alternatives_[frames_[i].alternative].edge);
    return s;
  }

  // Of all findings the shortest is kept.
  void note_borderline(std::size_t number, const StaleSearch::Found& found) {
    if (result_.first_borderline_seconds < 0) result_.first_borderline_seconds = watch_.seconds();
    if (result_.finding && result_.finding->schedule.edges.size() <= number) return;
    result_.finding = BorderlineFinding{schedule(number), found.edge, found.reads};
  }

  void note_failure(std::size_t number) {
    if (result_.first_failure_seconds < 0) result_.first_failure_seconds = watch_.seconds();
    if (!result_.failure || result_.failure->edges.size() > number) result_.failure = schedule(number);
  }

  const Machine& machine_;
  ExploreOptions options_;
  Limits limits_;
  Watch watch_;
  Sc sc_;
  Work work_;
  int processes_;
  bool memory_only_, reduce_;
  Races races_;
  Monitor monitor_;
  StaleSearch stale_;
  std::vector<std::vector<std::uint8_t>> simple_at_;  // a process and location: whether all edges are simple
  std::size_t start_ = 0;
  std::size_t fed_ = 0;      // frames whose steps the monitor knows
  struct Overwritten {
    int variable;
    Writer before;
  };
  std::vector<Writer> writer_;  // of the newest write to each variable
  std::vector<Overwritten> overwritten_;
  std::vector<Frame> frames_;
  std::vector<std::size_t> offer_of_, offers_begin_;
  std::vector<Offer> offers_;
  std::vector<Alternative> alternatives_;
  std::vector<Effect> effects_;
  std::vector<Touch> accesses_, blocked_, region_;
  std::vector<Races::Use> touches_;
  std::vector<MemoryEvent> events_;
  ExploreResult result_;
};

// Walks the schedule as the explorer would, and writes down what the monitor of a trace has to know to agree with it.
std::vector<TraceStep> Explorer::events_of(const Schedule& schedule) {
  std::vector<TraceStep> steps;
  begin(schedule.start);
  enter(0);
  frames_[0].forced = false;
  const auto wait = [&](const StaleSearch::Found& found) {
    MemoryEvent e;
    e.op = MemoryOp::Wait;
    e.thread = e.group = static_cast<std::uint32_t>(machine_.edges[static_cast<std::size_t>(found.edge)].process);
    e.address = static_cast<std::uint32_t>(found.reads[0].variable);
    e.has_accepts = true;
    e.accepts = {found.reads[0].value};
    steps.push_back({-1, {e}});
  };
  for (std::size_t number = 0; number < schedule.edges.size(); ++number) {
    const Edge& edge = machine_.edges[static_cast<std::size_t>(schedule.edges[number])];
    Frame& frame = frames_[number];
    const Offer mine = offer(number, edge.process);
    std::size_t alternative = mine.first;
    while (alternative < mine.last && alternatives_[alternative].edge != schedule.edges[number]) ++alternative;
    if (alternative == mine.last) return steps;  // not possible: the caller sees fewer steps than edges
    frame.process = edge.process;
    frame.alternative = alternative;
    const Alternative taken = alternatives_[alternative];
    const auto found = frame.region < 0 ? find_stale(number, edge.process) : std::nullopt;
    events_.clear();
    bool pending = false;
    if (machine_.lock_slot >= 0 && (frame.region >= 0 || takes_lock(edge))) {
      pending = !frees_lock(edge);
      if (!pending) region_events(number);
    } else {
      make_events({accesses_.data() + taken.accesses, taken.accesses_end - taken.accesses}, edge, processes_, events_);
    }
    const bool flagged = monitor_.check(events_).has_value();
    if (flagged && !found)
      for (MemoryEvent& e : events_) e.has_accepts = e.op == MemoryOp::Load;
    if (!flagged && found) wait(*found);
    steps.push_back({schedule.edges[number], events_});
    if (taken.failed) return steps;
    if (!events_.empty()) monitor_.add(events_);
    fed_ = number + 1;
    for (std::size_t i = taken.effects; i < taken.effects_end; ++i) work_.set(effects_[i].slot, effects_[i].value);
    frame.stepped = true;
    enter(number + 1);
  }
  const Frame& last = frames_.back();
  for (Mask rest = schedule.truncated || last.enabled ? 0 : last.waiting; rest; rest &= rest - 1)
    if (const auto found = find_stale(schedule.edges.size(), __builtin_ctzll(rest))) wait(*found);
  return steps;
}

}  // namespace

ExploreResult explore_stateless(std::shared_ptr<const Machine> machine, const ExploreOptions& options, const Limits& limits) {
  return Explorer(*machine, options, limits).run();
}

std::vector<TraceStep> schedule_events(std::shared_ptr<const Machine> machine, const Schedule& schedule) {
  ExploreOptions options;
  options.reduce = false;
  return Explorer(*machine, options, Limits{}).events_of(schedule);
}

}  // namespace memfence
