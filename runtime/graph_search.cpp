#include "graph_search.hpp"

#include <time.h>

#include <algorithm>

#include "complain.hpp"
#include "report.hpp"
#include "scouting.hpp"

namespace memfence::running {

using graphs::Event;
using graphs::EventId;
using graphs::ExecutionGraph;

namespace {

constexpr std::size_t kMostFindings = 64;

bool is_same(const WrongGraph& a, const WrongGraph& b) {
  const bool crossed = a.first_pc == b.second_pc && a.second_pc == b.first_pc;
  return a.kind == b.kind && a.failure.kind == b.failure.kind && a.failure.status == b.failure.status &&
         ((a.first_pc == b.first_pc && a.second_pc == b.second_pc) || crossed);
}

std::string row(const ExecutionGraph& graph, EventId id) {
  const Event& event = graph.event(id);
  const bool has_source = event.reads() && event.source >= 0;
  const long long fields[] = {graphs::thread_of(id),
                              graphs::number_of(id),
                              static_cast<int>(event.kind),
                              event.order,
                              event.is_update,
                              event.location,
                              event.value,
                              has_source      ? graphs::thread_of(event.source)
                              : event.waits() ? -2
                                              : -1,
                              has_source ? graphs::number_of(event.source) : -1,
                              event.writes() ? event.place : 0};
  std::string out = "[";
  for (const long long field : fields) out += (out.size() > 1 ? ", " : "") + std::to_string(field);
  return out + "]";
}

std::string text_of(const ExecutionGraph& graph) {
  std::vector<EventId> order;
  graph.replay_order(order);
  for (const EventId id : graph.events())
    if (graph.event(id).waits()) order.push_back(id);
  std::string out = "[";
  for (const EventId id : order) out += (out.size() > 1 ? ", " : "") + row(graph, id);
  return out + "]";
}

}  // namespace

void GraphFindings::begin() {
  all.clear();
  leaks = Leaks{};
  kept.clear();
  executions = blocked = failing = deadlocked = racing = cut = dropped = 0;
  has_undecided = false;
}

void* GraphFindings::place_of(EventId id) const {
  const List<void*>& trail = world.fiber(graphs::thread_of(id)).trail;
  const auto n = static_cast<std::size_t>(graphs::number_of(id));
  return trail.empty() ? nullptr : trail[std::min(n, trail.size() - 1)];
}

void GraphFindings::find(WrongGraph found, const ExecutionGraph& graph) {
  found.size = graph.size();
  for (WrongGraph& known : all) {
    if (!is_same(known, found)) continue;
    ++known.executions;
    if (known.size <= found.size) return;
    found.executions = known.executions;
    found.turns = executor_.turns();
    found.given = executor_.given();
    found.graph = text_of(graph);
    known = std::move(found);
    return;
  }
  if (all.size() >= kMostFindings) return;
  found.turns = executor_.turns();
  found.given = executor_.given();
  found.graph = text_of(graph);
  all.push_back(std::move(found));
}

// The process ends with its first thread, whatever the others wait for.
bool GraphFindings::is_deadlock(const ExecutionGraph& graph) {
  if (world.has_ended || world.fiber(0).state == Fiber::State::Done) return false;
  // A round that ended by such a failure has not been compared with one that did not: whether it waits is open.
  for (int id = 0; id < graph.threads(); ++id)
    if (graph.waits(id) && world.fiber(id).has_failed_for_no_reason) {
      has_undecided = true;
      return false;
    }
  for (int id = 0; id < graph.threads(); ++id)
    if (graph.waits(id) && !executor_.waits_for_ever(id, graph)) {
      has_undecided |= world.spins_roughly;
      return false;
    }
  return true;
}

bool GraphFindings::ended(const ExecutionGraph& graph, const graphs::Ending& ending) {
  if (executor_.has_learned()) return true;
  if (kept.size() < options_.keep)
    kept.push_back(Record("execution")
                       .add("failed", ending.failed)
                       .add("races", ending.races())
                       .add("waits", ending.waits)
                       .add("is_void", ending.is_void)
                       .add("is_cut", ending.is_cut)
                       .raw("graph", text_of(graph))
                       .text());
  if (ending.failed) {
    ++executions;
    ++failing;
    WrongGraph found;
    found.failure = world.failure;
    found.first_pc = world.failure.pc;
    has_endless_loop |= world.failure.kind == Finding::EndlessLoop;
    find(std::move(found), graph);
    return !options_.first && !has_endless_loop;
  }
  if (ending.races()) {
    ++executions;
    ++racing;
    WrongGraph found;
    found.kind = WrongGraph::Kind::Race;
    found.race[0] = ending.race[0];
    found.race[1] = ending.race[1];
    found.first_pc = place_of(ending.race[0]);
    found.second_pc = place_of(ending.race[1]);
    find(std::move(found), graph);
    return !options_.first;
  }
  if (ending.is_void || ending.is_cut) {
    ++(ending.is_void ? blocked : cut);
    return true;
  }
  if (!ending.waits) {
    ++executions;
    look_for_leaks(graph);
    return true;
  }
  if (!is_deadlock(graph)) {
    ++(world.has_ended || world.fiber(0).state == Fiber::State::Done ? executions : blocked);
    return true;
  }
  ++executions;
  ++deadlocked;
  WrongGraph found;
  found.kind = WrongGraph::Kind::Deadlock;
  for (int id = 0; id < graph.threads(); ++id)
    if (graph.waits(id)) found.first_pc = place_of(graph.last(id));
  find(std::move(found), graph);
  return !options_.first;
}

void GraphFindings::look_for_leaks(const ExecutionGraph& graph) {
  if (world.has_ended || !world.is_done(0)) return;
  for (int x = 0; x < graph.locations(); ++x) {
    const auto& writes = graph.writes(x);
    const Cell& cell = world.cells.shared(x);
    if (!writes.empty() && cell.size != 0) cell.write(static_cast<std::uint64_t>(graph.event(writes.back()).value));
  }
  leaks.look(executor_.turns());
}

namespace {

double cpu_now() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void send_finding(const WrongGraph& found) {
  world.logs = true;
  world.reset();
  for (int id = 0; id < world.known_threads(); ++id) {
    const graphs::Value none = 0;
    if (world.fiber(id).quiet_birth && world.fiber(id).state == Fiber::State::Running) world.run(&id, &none, 1);
  }
  world.run(found.turns.data(), found.given.data(), found.turns.size());
  world.logs = false;
  Record record("graph");
  switch (found.kind) {
    case WrongGraph::Kind::Failure: add_failure(record, found.failure); break;
    case WrongGraph::Kind::Deadlock: record.add("kind", "deadlock"); break;
    case WrongGraph::Kind::Race: {
      const auto pair = [](EventId id) {
        return "[" + std::to_string(graphs::thread_of(id)) + ", " + std::to_string(graphs::number_of(id)) + "]";
      };
      record.add("kind", "race").raw("race", "[" + pair(found.race[0]) + ", " + pair(found.race[1]) + "]");
      break;
    }
  }
  std::string given = "[";
  for (const graphs::Value value : found.given) given += (given.size() > 1 ? ", " : "") + std::to_string(value);
  record.add("executions", found.executions)
      .raw("steps", steps_text(found.turns))
      .raw("given", given + "]")
      .raw("graph", found.graph)
      .raw("events", events_text())
      .raw("waiting", waiting_text())
      .send();
}

}  // namespace

void explore_graphs(const Options& options) {
  world.makes_graphs = true;
  GraphExecutor executor(options.depth);
  GraphFindings findings(executor, options);
  Limits limits;
  limits.timeout_seconds = options.timeout;
  limits.on_progress = [&](const Progress& progress) {
    Record("progress")
        .add("executions", findings.executions)
        .add("steps", progress.transitions)
        .add("depth", progress.queue)
        .add("seconds", progress.seconds)
        .send();
    return true;
  };
  const double begin = seconds_now(), cpu_begin = cpu_now();
  const graphs::Manner manner{graphs::Races::End, false};
  graphs::Explored explored;
  if (options.graphs == "rc11")
    explored = graphs::Explorer<graphs::Rc11, GraphExecutor, GraphFindings>(executor, findings, limits, manner).run();
  else
    give_up("no such model");
  const double seconds = seconds_now() - begin, cpu = cpu_now() - cpu_begin;
  world.cells.learns = false;
  send_layout();
  for (const std::string& text : findings.kept) send_text(text);
  for (const WrongGraph& found : findings.all) send_finding(found);
  for (const Leak& leak : findings.leaks.all)
    Record("leak")
        .add("pc", leak.pc)
        .add("bytes", static_cast<std::uint64_t>(leak.bytes))
        .raw("steps", steps_text(leak.steps))
        .send();
  Record("counts")
      .add("executions", findings.executions)
      .add("failing", findings.failing + findings.racing)
      .add("deadlocked", findings.deadlocked)
      .add("truncated", findings.cut)
      .add("dropped", findings.dropped)
      .add("redundant", findings.blocked)
      .add("steps", explored.events)
      .add("reduced", true)
      .add("out_of_time", explored.stop == Stop::Timeout)
      .add("spins_roughly", world.spins_roughly)
      .add("more_wake_ups", world.has_more_wake_ups)
      .add("more_failures", world.has_more_failures)
      .add("seconds", seconds)
      .add("cpu_seconds", cpu)
      .add("threads", world.known_threads())
      .add("acquires", !world.has_weak_reads)
      .send();
}

}  // namespace memfence::running
