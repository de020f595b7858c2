// The monitor of recorded executions.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include "bind.hpp"
#include "trace/trace_reader.hpp"

namespace memfence::bind {

namespace {

// (op, thread, address) a event: the two timestamps of each, loads counted as in the paper.
std::vector<std::pair<std::vector<Monitor::Count>, std::vector<Monitor::Count>>> timestamps(
    const std::vector<std::tuple<int, std::uint32_t, std::uint32_t>>& events) {
  Monitor monitor(false, false, true);
  for (const auto& [op, thread, address] : events) {
    monitor.ensure_threads(thread + 1);
    monitor.ensure_addresses(address + 1);
  }
  std::vector<std::pair<std::vector<Monitor::Count>, std::vector<Monitor::Count>>> out;
  for (const auto& [op, thread, address] : events) {
    MemoryEvent e;
    e.op = static_cast<MemoryOp>(op);
    e.thread = e.group = thread;
    e.address = address;
    monitor.add({&e, 1});
    out.emplace_back(monitor.last_relaxed(), monitor.last_happens());
  }
  return out;
}

// (op, thread, addr, value, loc, step, accepts): what a line of a trace says.
using LineTuple = std::tuple<std::string, std::optional<std::string>, std::optional<std::string>, std::optional<std::int64_t>,
                             std::optional<std::string>, std::optional<std::int64_t>, std::optional<std::vector<std::int64_t>>>;

TraceLine line_of(const LineTuple& event) {
  const auto& [op, thread, address, value, location, step, accepts] = event;
  TraceLine line;
  line.op = op;
  line.has_op = true;
  if ((line.has_thread = thread.has_value())) line.thread = *thread;
  if ((line.has_address = address.has_value())) line.address = *address;
  if ((line.has_location = location.has_value())) line.location = *location;
  if ((line.has_value = value.has_value())) line.value = *value;
  if ((line.has_step = step.has_value())) line.step = *step;
  if ((line.has_accepts = accepts.has_value())) line.accepts = *accepts;
  return line;
}

// Take the events, the n-th at position n, from 1, until one is refused or there is a finding.
std::unique_ptr<RecordedRun> monitor_events(const std::vector<LineTuple>& events) {
  auto run = std::make_unique<RecordedRun>();
  std::uint64_t position = 0;
  for (const LineTuple& event : events)
    if (!run->take(line_of(event), ++position)) return run;
  run->finish();
  return run;
}

}  // namespace

void bind_monitor(nb::module_& m) {
  def_record(m, "TraceError", Field{"kind", &TraceError::kind}, Field{"line", &TraceError::line},
             Field{"column", &TraceError::column}, Field{"length", &TraceError::length})
      .def_prop_ro("text", [](const TraceError& e) { return nb::bytes(e.text.data(), e.text.size()); })
      .def_prop_ro("message", [](const TraceError& e) { return nb::bytes(e.message.data(), e.message.size()); })
      .def_ro("hint", &TraceError::hint);

  def_record(m, "ShownEvent", Field{"line", &ShownEvent::line}, Field{"op", &ShownEvent::op},
             Field{"thread", &ShownEvent::thread}, Field{"address", &ShownEvent::address},
             Field{"location", &ShownEvent::location}, Field{"value", &ShownEvent::value});

  def_record(m, "TraceFinding", Field{"load", &TraceFinding::load}, Field{"missed", &TraceFinding::missed},
             Field{"stale", &TraceFinding::stale}, Field{"path", &TraceFinding::path}, Field{"gaps", &TraceFinding::gaps});

  def_record(m, "Complaint", Field{"kind", &Complaint::kind}, Field{"position", &Complaint::position},
             Field{"message", &Complaint::message}, Field{"hint", &Complaint::hint});

  nb::class_<RecordedRun>(m, "RecordedRun")
      .def_prop_ro("complaint", [](const RecordedRun& r) { return r.complaint(); })
      .def_prop_ro("finding", [](const RecordedRun& r) { return r.finding(); })
      .def_prop_ro("events", &RecordedRun::events)
      .def_prop_ro("threads", &RecordedRun::threads)
      .def_prop_ro("addresses", &RecordedRun::addresses);

  m.def("monitor_events", &monitor_events, "events"_a, nb::call_guard<Unlocked>(),
        "Monitor recorded events, up to the first that is refused or borderline.");

  nb::class_<TraceReader>(m, "TraceReader")
      .def(nb::init<>())
      .def(
          "feed",
          [](TraceReader& reader, nb::bytes data) {
            const std::string_view view(data.c_str(), data.size());
            const Unlocked unlocked;
            return reader.feed(view);
          },
          "data"_a, "Read on; False: there is an error or a finding.")
      .def("finish", &TraceReader::finish, nb::call_guard<Unlocked>())
      .def_prop_ro("error", [](const TraceReader& r) { return r.error(); })
      .def_prop_ro("finding", [](const TraceReader& r) { return r.run().finding(); })
      .def_prop_ro("events", [](const TraceReader& r) { return r.run().events(); })
      .def_prop_ro("threads", [](const TraceReader& r) { return r.run().threads(); })
      .def_prop_ro("addresses", [](const TraceReader& r) { return r.run().addresses(); })
      .def_prop_ro("held_bytes", [](const TraceReader& r) { return r.run().bytes(); });

  m.def("trace_timestamps", &timestamps, "events"_a, "Relaxed and ordinary happens-before timestamps of each event.");
}

}  // namespace memfence::bind
