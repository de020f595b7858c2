#include "memfence/dual.hpp"

#include <algorithm>
#include <queue>

namespace memfence::dual {

namespace {

class Search {
 public:
  Search(const Machine& m, const Question& question, const Limits& limits)
      : machine_(m), question_(question), watch_(limits) {}

  Outcome run() {
    if (prepare()) search();
    finish();
    return outcome_;
  }

 private:
  bool prepare() {
    model_.local = build_local_graphs(machine_, watch_);
    outcome_.stop = model_.local.stop;
    bytes_ = model_.local.bytes;
    for (const LocalGraph& local : model_.local.of) {
      if (outcome_.stop != Stop::None) return false;
      model_.graphs.push_back(build_process_graph(local, model_.messages, watch_, bytes_, outcome_.stop));
    }
    for (std::size_t p = 0; p < model_.graphs.size(); ++p)
      model_.sets.emplace_back(model_.local.of[p], model_.graphs[p],
                               static_cast<std::size_t>(machine_.processes[p].registers),
                               model_.local.roles.exclusive[p].size());
    return outcome_.stop == Stop::None;
  }

  // The constraint with the fewest messages first, and of these the one nearest to the start of its processes: small
  // constraints rule out most others, and runs to errors are found soon.
  struct Waiting {
    std::size_t size;
    int distance;
    int number;
    bool operator<(const Waiting& o) const {
      return std::tie(size, distance, number) > std::tie(o.size, o.distance, o.number);
    }
  };

  void search() {
    frontier_.emplace(model_.sets, model_.local.roles.shared.size());
    Predecessors predecessors(model_);
    std::vector<Start> starts;
    if (!find_starts(machine_, model_, question_, watch_, starts)) {
      outcome_.stop = watch_.check(0, 0, 0, bytes_);
      if (outcome_.stop == Stop::None) outcome_.stop = Stop::Memory;
      return;
    }
    outcome_.stats.starts = starts.size();
    for (Start& start : starts) {
      if (!predecessors.normalise(start.constraint)) continue;
      add(std::move(start.constraint), -1, start.kind, predecessors);
    }
    while (!waiting_.empty() && outcome_.stop == Stop::None) {
      const int number = waiting_.top().number;
      waiting_.pop();
      if (!frontier_->is_alive(number)) continue;
      const Kind kind = kinds_[static_cast<std::size_t>(number)];
      ++outcome_.stats.expanded;
      predecessors.of(frontier_->constraint(number), [&](Constraint&& c) {
        if (outcome_.stop == Stop::None) add(std::move(c), number, kind, predecessors);
      });
    }
  }

  void add(Constraint&& c, int parent, Kind kind, Predecessors& predecessors) {
    if ((++outcome_.stats.predecessors & 63) == 0) check();
    const int number = frontier_->add(c, parent);
    if (number < 0) return;
    kinds_.push_back(kind);
    int distance = 0;
    for (std::size_t p = 0; p < c.sets.size(); ++p) distance += model_.sets[p].distance(c.sets[p]);
    outcome_.stats.longest = std::max<std::uint64_t>(outcome_.stats.longest, c.messages());
    waiting_.push({c.messages(), distance, number});
    if (outcome_.stop == Stop::None && predecessors.is_initial(c)) {
      outcome_.finding = kind;
      outcome_.stop = Stop::Found;
    }
  }

  void check() {
    std::uint64_t bytes = bytes_ + frontier_->bytes();
    for (const Sets& s : model_.sets) bytes += s.bytes();
    const Stats& s = outcome_.stats;
    const Stop stop = watch_.check(s.expanded, s.predecessors, waiting_.size(), bytes);
    if (outcome_.stop == Stop::None) outcome_.stop = stop;
  }

  void finish() {
    Stats& s = outcome_.stats;
    s.bytes = bytes_;
    for (const LocalGraph& g : model_.local.of) s.local_states += g.states.size();
    for (const ProcessGraph& g : model_.graphs) s.process_states += g.size();
    for (const Sets& sets : model_.sets) {
      s.sets += sets.count();
      s.bytes += sets.bytes();
    }
    if (frontier_) {
      s.stored = frontier_->count();
      s.minimal = frontier_->alive();
      s.bytes += frontier_->bytes();
    }
    s.seconds = watch_.seconds();
  }

  const Machine& machine_;
  const Question& question_;
  Watch watch_;
  Outcome outcome_;
  Model model_;
  std::optional<Frontier> frontier_;
  std::vector<Kind> kinds_;  // of each stored constraint: what it leads to
  std::priority_queue<Waiting> waiting_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Outcome explore(const Machine& machine, const Question& question, const Limits& limits) {
  return Search(machine, question, limits).run();
}

}  // namespace memfence::dual
