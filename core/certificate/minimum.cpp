#include "certificate/minimum.hpp"

#include <algorithm>

#include "certificate/choices.hpp"
#include "certificate/sc_states.hpp"
#include "certificate/sc_trace.hpp"
#include "certificate/triangular.hpp"

namespace memfence::certificate {

namespace {

// What is asked of single states, of those that a run ends in.
struct StateChecker {
  const Program& program;
  Steps& steps;
  const Layout& layout;
  int bad;
  bool deadlock;
  const std::vector<std::pair<int, bool>>& finals;

  int processes() const { return static_cast<int>(program.processes.size()); }

  bool is_drained(const Number* state) const {
    for (int p = 0; p < processes(); ++p)
      if (!steps.is_drained(state, p)) return false;
    return true;
  }
  // Whether the predicate is true; one that cannot be evaluated is not.
  bool is_true(int expression, const Number* state) const {
    Wide value = 0;
    return steps.evaluate(expression, state, value) && value != 0;
  }
  bool is_bad(const Number* state) const { return is_stuck(state) || is_excluded(state) || refutes_final(state); }

 private:
  // Who holds the bus may keep others from moving who could move without a fence: such a state is none that counts.
  bool is_stuck(const Number* state) const {
    if (!deadlock || (program.lock_at >= 0 && state[program.lock_at] != 0)) return false;
    bool has_step = false, may_end = true;
    steps.for_each(state, [&](const Step&, Outcome, const Number*) {
      has_step = true;
      return false;
    });
    for (int p = 0; p < processes(); ++p) {
      const Process& process = program.processes[static_cast<std::size_t>(p)];
      may_end &= steps.is_halted(state, p) || process.locations[static_cast<std::size_t>(state[p])].may_end;
    }
    return !has_step && !may_end;
  }
  bool is_excluded(const Number* state) const {
    if (bad < 0 || !is_true(bad, state)) return false;
    for (int p = 0; p < processes(); ++p)
      if (has_only_separators(state, p)) return false;  // which are not there without the fences
    return true;
  }
  bool has_only_separators(const Number* state, int process) const {
    bool has_any = false;
    for (const Buffer& buffer : layout.buffers(process))
      for (Number n = 0; n < state[buffer.first]; ++n) {
        has_any = true;
        if (!buffer.is_separator(buffer.entry(state, n))) return false;
      }
    return has_any;
  }
  bool refutes_final(const Number* state) const {
    if (finals.empty() || !is_drained(state)) return false;
    for (int p = 0; p < processes(); ++p)
      if (!steps.is_halted(state, p)) return false;
    return std::any_of(finals.begin(), finals.end(), [&](const auto& one) { return is_true(one.first, state) != one.second; });
  }
};

// Every state that this one is without some of the fences that processes stand before: they are where these lead to. `visit` returns
// whether to go on. False: there are too many.
template <class Visit>
bool for_each_end(const Variant& fenced, const std::vector<Number>& state, const Visit& visit) {
  std::vector<std::vector<int>> places;
  std::vector<std::size_t> sizes;
  std::size_t ends = 1;
  for (std::size_t p = 0; p < fenced.program.processes.size(); ++p) {
    std::vector<int>& passed = places.emplace_back(1, static_cast<int>(state[p]));
    while (true) {
      const auto next = fenced.passing.find({static_cast<int>(p), passed.back()});
      if (next == fenced.passing.end() || std::find(passed.begin(), passed.end(), next->second) != passed.end()) break;
      passed.push_back(next->second);
      if (passed.size() > kMostEnds) return false;
    }
    sizes.push_back(passed.size());
    ends *= passed.size();
    if (ends > kMostEnds) return false;
  }
  std::vector<Number> end = state;
  for_each_choice(sizes, [&](const std::vector<std::size_t>& chosen) {
    for (std::size_t p = 0; p < chosen.size(); ++p) end[p] = places[p][chosen[p]];
    return visit(end.data());
  });
  return true;
}

void require_places(const Program& program, const std::vector<Site>& sites) {
  for (const Site& site : sites)
    for (const auto& [p, number] : site.places)
      if (p < 0 || static_cast<std::size_t>(p) >= program.processes.size() || number < 0 ||
          static_cast<std::size_t>(number) >= program.processes[static_cast<std::size_t>(p)].transitions.size())
        throw Unsupported("a site has a place that does not exist");
}

}  // namespace

MinimumChecker::MinimumChecker(const std::string& program, const Model& model, std::vector<Site> sites,
                               const MinimumAsked& asked)
    : text_(program),
      model_(model),
      program_(read_program(text_, model_)),
      sites_(std::move(sites)),
      criterion_(asked.criterion),
      deadlock_(asked.deadlock),
      most_bytes_(asked.most_bytes) {
  require_places(program_, sites_);
  if (!asked.bad.empty()) bad_ = program_.expression(asked.bad);
  for (const auto& [text, expected] : asked.finals) finals_.emplace_back(program_.expression(text), expected);
}

MinimumChecker::Found MinimumChecker::check(const std::vector<int>& clause, std::uint64_t start,
                                            const std::vector<Step>& steps) const {
  std::vector<char> made(sites_.size(), 1);
  for (const int site : clause) made.at(static_cast<std::size_t>(site)) = 0;
  if (criterion_ == BadRun::Trf) return check_race(made, start, steps);
  const std::optional<Variant> fenced = variant(program_, sites_, made);
  if (!fenced) return {ClauseFault::Sites};
  Replay run(fenced->program, model_);
  if (!run.begin(start)) return {ClauseFault::Start};
  const std::vector<Number> first = run.state();
  for (std::size_t n = 0; n < steps.size(); ++n)
    if (!run.take(steps[n])) return {ClauseFault::Step, n};
  return {check_run(run, *fenced, first, made)};
}

ClauseFault MinimumChecker::check_run(Replay& run, const Variant& fenced, const std::vector<Number>& start,
                                      const std::vector<char>& made) const {
  const StateChecker states{fenced.program, run.steps(), run.layout(), bad_, deadlock_, finals_};
  const bool is_safety = criterion_ == BadRun::Safety;
  if (run.has_failed()) return is_safety ? ClauseFault::None : ClauseFault::NotBad;
  if (criterion_ == BadRun::Never) return ClauseFault::NotBad;
  if (!is_safety && !states.is_drained(run.state().data()))
    return criterion_ == BadRun::StateRobust ? ClauseFault::NotBad : ClauseFault::Pending;
  if (criterion_ == BadRun::Persistent || criterion_ == BadRun::Robust) return check_trace(run, fenced, start);

  bool all_bad = true;
  bool few = false;
  if (is_safety) {
    few = for_each_end(fenced, run.state(), [&](const Number* end) { return all_bad = states.is_bad(end); });
  } else {
    const std::optional<Variant> under_sc = variant(read_program(text_, Model{}), sites_, made);
    if (!under_sc) return ClauseFault::Sites;
    ScStates reached(under_sc->program, most_bytes_);
    few = for_each_end(fenced, run.state(), [&](const Number* end) { return all_bad = !reached.contains(end); });
  }
  return !few ? ClauseFault::TooManyEnds : all_bad ? ClauseFault::None : ClauseFault::NotBad;
}

// Triangular races are those of SC: its run, and the newest unfenced store of each process at its end.
MinimumChecker::Found MinimumChecker::check_race(const std::vector<char>& made, std::uint64_t start,
                                                 const std::vector<Step>& steps) const {
  const Model sc{}, tso{Buffers::PerProcess, 0, false};
  const std::optional<Variant> fenced = variant(read_program(text_, sc), sites_, made);
  const std::optional<Variant> under_tso = variant(read_program(text_, tso), sites_, made);
  if (!fenced || !under_tso) return {ClauseFault::Sites};
  Triangular races(fenced->program, under_tso->program);
  Replay run(fenced->program, sc);
  if (!run.begin(start)) return {ClauseFault::Start};
  std::vector<Number> marks(fenced->program.processes.size(), 0);
  std::size_t seen = 0;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    const std::vector<Number> before = run.state();
    if (!run.take(steps[n])) return {ClauseFault::Step, n};
    if (run.has_failed() || steps[n].kind != Step::Kind::Run) return {ClauseFault::NotBad};
    Number& mark = marks[static_cast<std::size_t>(steps[n].process)];
    for (const std::vector<Event>& events = run.history().events; seen < events.size(); ++seen)
      if (events[seen].kind == Event::Kind::Store) mark = events[seen].variable + 1;
    if (races.is_fence(steps[n], before)) mark = 0;
  }
  Triangular::Pair pair = run.state();
  pair.insert(pair.end(), marks.begin(), marks.end());
  return {races.is_race(pair) ? ClauseFault::None : ClauseFault::NotBad};
}

ClauseFault MinimumChecker::check_trace(const Replay& run, const Variant& fenced, const std::vector<Number>& start) const {
  const bool by_values = criterion_ == BadRun::Persistent;
  switch (find_sc_trace(fenced.program, run.history(), start, by_values, most_bytes_)) {
    case ScTrace::None: return ClauseFault::None;
    case ScTrace::Found: return ClauseFault::NotBad;
    case ScTrace::TooLong: return ClauseFault::TooLong;
  }
  return ClauseFault::NotBad;
}

}  // namespace memfence::certificate
