// A schedule as a trace: follow it as the explorer would, and write down what the monitor of a trace has to know to agree.
#include "stateless/model_executor.hpp"
#include "stateless/path.hpp"

namespace memfence {

namespace {

class ScheduleWalk {
 public:
  explicit ScheduleWalk(const Machine& m) : path_(m) {}

  std::vector<TraceStep> follow(const Machine& m, const Schedule& schedule) {
    path_.begin(schedule.start);
    path_.enter();
    for (const int label : schedule.edges)
      if (!step(label, m.edges[static_cast<std::size_t>(label)].process)) return std::move(steps_);
    const Frame& last = path_.frames.back();
    for (Mask rest = schedule.truncated || last.enabled ? 0 : last.waiting; rest; rest &= rest - 1)
      if (const auto found = path_.monitor.find_stale(path_.top(), __builtin_ctzll(rest))) add_question(*found);
    return std::move(steps_);
  }

 private:
  // False: the execution ends here. A step that is not possible is left out: the caller sees fewer steps than edges.
  bool step(int label, int process) {
    const std::size_t number = path_.top();
    Frame& frame = path_.frames.back();
    const Offer& mine = path_.offer(number, process);
    std::size_t alternative = mine.first;
    while (alternative < mine.last && path_.offers.alternative(alternative).label != label) ++alternative;
    if (alternative == mine.last) return false;
    frame.process = process;
    frame.alternative = alternative;
    add_step(number);
    if (path_.executor.execute(path_.taken(number), path_.offers) == Executed::Failed) return false;
    path_.enter();
    return true;
  }

  // The explorer's answer and that of the clocks may differ where a step waits for what it loads: then the loads say that
  // no other value would have done, or the step is preceded by what could have been done in its place.
  void add_step(std::size_t number) {
    const Frame& frame = path_.frames[number];
    const auto found = frame.region < 0 ? path_.monitor.find_stale(number, frame.process) : std::nullopt;
    std::vector<MemoryEvent> events = path_.monitor.events_of(number);
    const bool flagged = path_.monitor.is_borderline(events);
    if (flagged && !found)
      for (MemoryEvent& e : events) e.has_accepts = e.op == MemoryOp::Load;
    if (!flagged && found) add_question(*found);
    if (!path_.taken(number).fails) path_.monitor.feed(events, number);
    steps_.push_back({path_.taken(number).label, std::move(events)});
  }

  // The step that could have been taken with stale values, as a question: its stale loads, and what it would have written
  // with them.
  void add_question(const StaleStep& found) {
    TraceStep& question = steps_.emplace_back();
    for (const StaleRead& read : found.reads) {
      MemoryEvent& e = question.events.emplace_back();
      e.op = MemoryOp::Wait;
      for (const MemoryEvent& load : found.events)
        if (load.op == MemoryOp::Load && load.address == static_cast<std::uint32_t>(read.variable)) e.thread = load.thread;
      e.group = e.thread;
      e.address = static_cast<std::uint32_t>(read.variable);
      e.has_accepts = true;
      e.accepts = {read.value};
    }
    for (const MemoryEvent& e : found.events)
      if (e.op != MemoryOp::Load) question.events.push_back(e);
  }

  Path<ModelExecutor> path_;
  std::vector<TraceStep> steps_;
};

}  // namespace

std::vector<TraceStep> schedule_events(const Machine& machine, const Schedule& schedule) {
  return ScheduleWalk(machine).follow(machine, schedule);
}

}  // namespace memfence
