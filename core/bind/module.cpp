// The whole Python/C++ seam: convert, release the GIL, call, convert back. No logic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace memfence;

namespace memfence::bind {

// Progress goes to Python about ten times a second; a pending Ctrl-C or a false answer cancels the search.
Limits make_limits(double timeout_seconds, std::uint64_t memory_bytes, std::shared_ptr<Cancel> cancel, nb::object progress) {
  Limits limits;
  limits.timeout_seconds = timeout_seconds;
  limits.memory_bytes = memory_bytes;
  if (cancel) limits.cancel = cancel->flag;
  PyObject* callback = progress.is_none() ? nullptr : progress.ptr();  // the caller's argument outlives the call
  limits.on_progress = [callback](const Progress& p) {
    const nb::gil_scoped_acquire gil;
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

}  // namespace memfence::bind

NB_MODULE(_core, m) {
  m.doc() = "Native exploration core of memfence; private, wrapped by memfence.engines.";
  bind::bind_machine(m);
  bind::bind_exploration(m);
  bind::bind_criteria(m);
  bind::bind_state_robustness(m);
  bind::bind_emptiness(m);
  bind::bind_symbolic(m);
  bind::bind_dual(m);
  bind::bind_monitor(m);
  bind::bind_stateless(m);
}
