// The whole Python/C++ seam: convert, release the GIL, call, convert back. No logic here.
#include "bind.hpp"

#include <unistd.h>

namespace memfence::bind {

namespace {

// What `take` returns; not at all, if Python shuts down.
template <class Take>
auto taken(Take&& take) noexcept {
  try {
    return take();
  } catch (...) {  // the C API throws nothing: this is pthread_exit, and leaving the handler would be the end of all threads
    nb::set_leak_warnings(false);  // of what this thread was given
    for (;;) pause();
  }
}

}  // namespace

Unlocked::~Unlocked() {
  taken([this] {
    PyEval_RestoreThread(state_);
    return 0;
  });
}

Locked::Locked() : state_(taken(PyGILState_Ensure)) {}

// Progress goes to Python about ten times per second; a pending Ctrl-C or a false answer cancels the search.
Limits make_limits(double timeout_seconds, std::uint64_t memory_bytes, std::uint64_t compact_from,
                   std::shared_ptr<Cancel> cancel, nb::object progress) {
  Limits limits;
  limits.timeout_seconds = timeout_seconds;
  limits.memory_bytes = memory_bytes;
  limits.compact_from = compact_from;
  if (cancel) limits.cancel = cancel->flag;
  PyObject* callback = progress.is_none() ? nullptr : progress.ptr();  // the caller's argument outlives the call
  limits.on_progress = [callback](const Progress& p) {
    const Locked gil;
    if (PyErr_CheckSignals() != 0) {
      PyErr_Clear();
      return false;
    }
    if (!callback) return true;
    try {
      return nb::cast<bool>(nb::handle(callback)(p.states, p.transitions, p.queue, p.seconds, p.megabytes));
    } catch (const nb::python_error&) {
      return false;
    }
  };
  return limits;
}

StepTuple tuple_of(const Step& step) { return {static_cast<int>(step.kind), step.process, step.number}; }

PathTuple tuple_of(const Path& path) {
  std::vector<StepTuple> steps;
  for (const Step& step : path.steps) steps.push_back(tuple_of(step));
  return {path.start, std::move(steps), path.who};
}

std::vector<Step> steps_from(const std::vector<StepTuple>& tuples) {
  std::vector<Step> steps;
  for (const auto& [kind, process, number] : tuples) steps.push_back({static_cast<StepKind>(kind), process, number});
  return steps;
}

std::optional<FindingTuple> tuple_of(const std::optional<Finding>& finding) {
  if (!finding) return std::nullopt;
  const std::optional<StepTuple> step = finding->has_step ? std::optional(tuple_of(finding->step)) : std::nullopt;
  return FindingTuple(static_cast<int>(finding->kind), finding->parent, step);
}

}  // namespace memfence::bind

NB_MODULE(_core, m) {
  m.doc() = "Native exploration core of memfence; private, wrapped by memfence.engines.";
  memfence::bind::bind_machine(m);
  memfence::bind::bind_exploration(m);
  memfence::bind::bind_criteria(m);
  memfence::bind::bind_state_robustness(m);
  memfence::bind::bind_emptiness(m);
  memfence::bind::bind_symbolic(m);
  memfence::bind::bind_dual(m);
  memfence::bind::bind_monitor(m);
  memfence::bind::bind_stateless(m);
  memfence::bind::bind_certificate(m);
  memfence::bind::bind_unbounded(m);
  memfence::bind::bind_dual_certificate(m);
  memfence::bind::bind_certificate_ranks(m);
  memfence::bind::bind_certificate_minimum(m);
  memfence::bind::bind_cluster(m);
  memfence::bind::bind_graphs(m);
}
