#include "dual/search.hpp"

#include <algorithm>
#include <array>
#include <queue>

#include "machine/index.hpp"

namespace memfence::dual {

namespace {

class Search {
 public:
  Search(const Machine& m, const Question& question, Watch& watch) : machine_(m), question_(question), watch_(watch) {}

  Outcome run(std::size_t most_values) {
    if (prepare(most_values)) search();
    finish();
    return outcome_;
  }

  bool is_truncated() const { return model_.local.truncated; }

 private:
  bool prepare(std::size_t most_values) {
    model_.instances = question_.instances;
    model_.local = build_local_graphs(machine_, model_.instances, watch_, most_values);
    outcome_.stop = model_.local.stop;
    bytes_ = model_.local.bytes;
    for (const LocalGraph& local : model_.local.of) {
      if (outcome_.stop != Stop::None) return false;
      model_.graphs.push_back(build_process_graph(local, model_.messages, watch_, bytes_, outcome_.stop));
    }
    for (std::size_t p = 0; p < model_.graphs.size(); ++p)
      model_.sets.emplace_back(model_.local.of[p], model_.graphs[p], static_cast<std::size_t>(machine_.processes[p].registers),
                               model_.local.roles.exclusive[p].size());
    return outcome_.stop == Stop::None;
  }

  // Which constraint to take next: in turn the one with the fewest messages, which rules out most others, and two guesses
  // at which is nearest to the start, which find errors soon. Every constraint waits in all three queues; whichever
  // offers it first, the others then skip it.
  struct Waiting {
    std::uint64_t cost;
    int number;
    bool operator<(const Waiting& o) const { return std::tie(cost, number) > std::tie(o.cost, o.number); }
  };
  using Queue = std::priority_queue<Waiting>;

  void wait(int number, std::uint64_t messages, std::uint64_t distance) {
    queues_[0].push({messages << 32 | distance, number});
    queues_[1].push({messages + distance, number});
    queues_[2].push({messages + 2 * distance, number});
    ++waiting_;
  }

  int next() {
    while (waiting_ > 0) {
      Queue& queue = queues_[turn_++ % queues_.size()];
      while (!queue.empty() && !is_waiting_[at(queue.top().number)]) queue.pop();
      if (queue.empty()) continue;
      const int number = queue.top().number;
      queue.pop();
      is_waiting_[at(number)] = false;
      --waiting_;
      if (frontier_->is_alive(number)) return number;
    }
    return -1;
  }

  void search() {
    frontier_.emplace(model_.sets, at(model_.instances.fixed), model_.local.roles.shared.size());
    Predecessors predecessors(model_, question_.reduce);
    std::vector<Start> starts;
    if (!find_starts(machine_, model_, question_, watch_, starts)) {
      outcome_.stop = watch_.check(0, 0, 0, bytes_);
      if (outcome_.stop == Stop::None) outcome_.stop = Stop::Memory;
      return;
    }
    outcome_.stats.starts = starts.size();
    for (std::size_t n = 0; n < starts.size() && outcome_.stop == Stop::None; ++n) {
      Constraint c = starts[n].constraint;
      if (predecessors.normalise(c)) add(std::move(c), -1, static_cast<int>(n), predecessors);
    }
    for (int number = next(); number >= 0 && outcome_.stop == Stop::None; number = next()) {
      const int start = origins_[at(number)];
      ++outcome_.stats.expanded;
      predecessors.of(frontier_->constraint(number), [&](Constraint&& c) {
        if (outcome_.stop == Stop::None) add(std::move(c), number, start, predecessors);
      });
    }
    if (outcome_.stop == Stop::Found) explain(starts);
  }

  // Follow the parents from what was found to what was asked for.
  void explain(const std::vector<Start>& starts) {
    int number = found_;
    const Start& start = starts[at(origins_[at(number)])];
    outcome_.finding = start.kind;
    std::vector<Link> links;
    for (; frontier_->parent(number) >= 0; number = frontier_->parent(number))
      links.push_back({frontier_->constraint(number), made_[at(number)]});
    outcome_.witness = make_witness(machine_, model_, links, frontier_->constraint(number), start, made_[at(number)].dropped);
  }

  void add(Constraint&& c, int parent, int start, Predecessors& predecessors) {
    if ((++outcome_.stats.predecessors & 63) == 0) check();
    if (outcome_.stop != Stop::None) return predecessors.stop();
    const int number = frontier_->add(c, parent);
    if (number < 0) return;
    origins_.push_back(start);
    made_.push_back(predecessors.made());
    is_waiting_.push_back(true);
    std::uint64_t distance = 0;
    for (int p = 0; p < c.parts(); ++p)
      distance += static_cast<std::uint64_t>(model_.sets[at(c.kinds[at(p)])].distance(c.sets[at(p)]));
    outcome_.stats.longest = std::max<std::uint64_t>(outcome_.stats.longest, c.messages());
    outcome_.stats.most_parts = std::max<std::uint64_t>(outcome_.stats.most_parts, c.sets.size());
    wait(number, c.messages() + c.sets.size(), distance);
    if (outcome_.stop == Stop::None && predecessors.is_initial(c)) {
      found_ = number;
      outcome_.stop = Stop::Found;
    }
  }

  void check() {
    std::uint64_t bytes = bytes_ + frontier_->bytes() + is_waiting_.size() * (3 * sizeof(Waiting) + sizeof(Made) + 8);
    for (const Sets& s : model_.sets) bytes += s.bytes();
    const Stats& s = outcome_.stats;
    if (outcome_.stop == Stop::None) outcome_.stop = watch_.check(s.expanded, s.predecessors, waiting_, bytes);
    if (outcome_.stop == Stop::None) outcome_.stop = watch_.check_states(s.expanded);
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
  Watch& watch_;
  Outcome outcome_;
  Model model_;
  std::optional<Frontier> frontier_;
  std::vector<int> origins_;  // of each stored constraint: the start it leads to
  std::vector<Made> made_;    // and how
  std::array<Queue, 3> queues_;
  std::size_t turn_ = 0;
  std::uint64_t waiting_ = 0;
  std::vector<bool> is_waiting_;
  std::uint64_t bytes_ = 0;
  int found_ = -1;
};

}  // namespace

// Programs that count up to a thousand have errors that only a few values show. So few values are tried first, which
// costs nothing where there are no more, and little where there are.
Outcome explore(const Machine& machine, const Question& question, const Limits& limits) {
  Watch watch(limits);
  for (const std::size_t most_values : {std::size_t{4}, std::size_t{16}}) {
    Search search(machine, question, watch);
    const Outcome outcome = search.run(most_values);
    if (outcome.stop != Stop::None || !search.is_truncated()) return outcome;
  }
  return Search(machine, question, watch).run(SIZE_MAX);
}

}  // namespace memfence::dual
