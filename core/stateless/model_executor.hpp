// The machine of a model as an executor: one working state, changed in place, with a log that undoes the changes.
//
// Making an offer runs every edge of the process once and remembers what it changed, so that executing a step is setting a
// few slots, however often the step is taken.
#pragma once

#include "models/semantics.hpp"
#include "stateless/executor.hpp"
#include "stateless/stale_search.hpp"

namespace memfence {

class ModelExecutor {
 public:
  explicit ModelExecutor(const Machine& m);
  ModelExecutor(const ModelExecutor&) = delete;

  int threads() const { return static_cast<int>(machine_.processes.size()); }
  int addresses() const { return machine_.variables; }
  std::int64_t initial(int address) const { return machine_.initial[start_][static_cast<std::size_t>(address)]; }
  std::size_t starts() const { return machine_.initial.size(); }
  void reset(std::size_t start);

  void offer(int process, Offers& offers);
  bool is_done(int process) const { return machine_.is_halted(process, location_of(process)); }
  bool meets_in_memory_only() const { return memory_only_; }

  std::size_t mark() const { return work_.mark(); }
  void go_back(std::size_t mark) { work_.rollback(mark); }
  Executed execute(const Alternative& step, Offers&) {
    for (std::size_t i = step.notes; i < step.notes_end; ++i) work_.set(effects_[i].slot, effects_[i].value);
    return step.fails ? Executed::Failed : Executed::Done;
  }
  std::size_t notes() const { return effects_.size(); }
  void drop_notes(std::size_t size) { effects_.resize(size); }

  Monitor make_monitor() const;
  StepShape shape(const Alternative& step) const { return shape_of(edge_of(step)); }
  bool has_simple_loads(int process) const {
    return simple_at_[static_cast<std::size_t>(process)][static_cast<std::size_t>(location_of(process))] != 0;
  }
  std::optional<StaleStep> find_stale(int process, std::span<const Access> offered, Monitor& monitor);

  bool is_bus_held() const { return machine_.lock_slot >= 0 && work_[machine_.lock_slot] != 0; }
  bool takes_bus(const Alternative& step) const;
  bool frees_bus(const Alternative& step) const;

 private:
  struct Effect {
    int slot;
    Value value;
  };

  Value location_of(int process) const { return work_[machine_.processes[static_cast<std::size_t>(process)].location_slot]; }
  const std::vector<int>& leaving(int process) const {
    return machine_.leaving[static_cast<std::size_t>(process)][static_cast<std::size_t>(location_of(process))];
  }
  const Edge& edge_of(const Alternative& step) const { return machine_.edges[static_cast<std::size_t>(step.label)]; }
  bool is_committed(int process) const {
    return machine_.processes[static_cast<std::size_t>(process)].committed[static_cast<std::size_t>(location_of(process))] != 0;
  }
  bool is_kept_waiting(const Edge& edge) const;
  void note_effects(std::size_t mark, std::size_t first_access, const Offers& offers);

  const Machine& machine_;
  Sc sc_;
  Work work_;
  StaleSearch stale_;
  bool memory_only_;
  std::size_t start_ = 0;
  std::vector<std::vector<std::uint8_t>> simple_at_;  // a process and location: whether all edges have simple loads
  std::vector<Effect> effects_;
};

static_assert(Executor<ModelExecutor>);

}  // namespace memfence
