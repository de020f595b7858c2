#include "certificate/overtaking.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace memfence::certificate {

namespace {

// Room for the newest store to each variable, and for one more.
int room_for_pending(const Program& program) {
  std::size_t most = 0;
  for (const Process& process : program.processes) most = std::max(most, process.stored.size());
  return static_cast<int>(std::min<std::size_t>(most + 1, kMostPending));
}

// Whether some step writes one variable and reads another one, or holds the bus: what others have pending may decide what it
// writes.
bool writes_by_others(const Program& program) {
  for (const Process& process : program.processes)
    for (const Transition& t : process.transitions) {
      std::set<int> read, written;
      for (const Op& op : t.ops) {
        if (op.kind == OpKind::Lock || op.kind == OpKind::Unlock) return true;
        for (int v = op.base; v < op.base + op.size; ++v) {
          if (op.kind == OpKind::Load || op.kind == OpKind::Modify) read.insert(v);
          if (op.kind == OpKind::Store || op.kind == OpKind::Modify) written.insert(v);
        }
      }
      for (const int v : written)
        if (read.size() > read.count(v)) return true;
    }
  return std::any_of(program.nodes.begin(), program.nodes.end(),
                     [](const Node& node) { return node.kind == Node::Kind::Memory; });
}

}  // namespace

Overtaking::Overtaking(const std::string& program)
    : program_(read_program(program, model_)),
      layout_(program_, model_, room_for_pending(program_)),
      steps_(program_, model_, layout_),
      keeps_all_(writes_by_others(program_)),
      known_(program_.processes.size()) {
  if (program_.processes.size() > 64) throw Unsupported("there are more than 64 processes");
}

bool Overtaking::starts_attack(const Number* state, const std::vector<std::uint64_t>& changing, Step& step) {
  for (int p = 0; p < static_cast<int>(program_.processes.size()); ++p) {
    const std::uint64_t others = ~(std::uint64_t{1} << p);
    std::uint64_t any = 0;
    for (const std::uint64_t who : changing) any |= who & others;
    if (any == 0) continue;
    for (const Read& read : reads(state, p)) {
      if ((changing[static_cast<std::size_t>(read.variable)] & others) == 0) continue;
      step = {Step::Kind::Run, p, read.transition};
      return true;
    }
  }
  return false;
}

const std::vector<Overtaking::Read>& Overtaking::reads(const Number* state, int process) {
  std::vector<Number> seen{state[process]};
  seen.insert(seen.end(), state + program_.memory_at, state + program_.memory_at + program_.variables.size());
  for (const int place : program_.processes[static_cast<std::size_t>(process)].places) seen.push_back(state[place]);
  const std::string key(reinterpret_cast<const char*>(seen.data()), seen.size() * sizeof(Number));
  auto& known = known_[static_cast<std::size_t>(process)];
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, walk(state, process)).first->second;
}

// Every read in memory with a store pending, or in the step that makes the first one. An event that holds the bus ends a walk, as
// a locked step does. Where no write depends on other variables, the store before the read is enough: those before it might as well
// be in memory already (Theorem 6), and a walk ends with the next store.
std::vector<Overtaking::Read> Overtaking::walk(const Number* state, int process) {
  std::vector<Number> first(static_cast<std::size_t>(layout_.places()), 0);
  std::copy_n(state, static_cast<std::size_t>(program_.buffers_at), first.begin());
  std::vector<std::vector<Number>> waiting{first};
  std::set<std::vector<Number>> seen{first};
  std::vector<Read> found;
  std::vector<Access> made;
  const auto length = static_cast<std::size_t>(layout_.buffers(process).at(0).first);
  const std::vector<Transition>& transitions = program_.processes[static_cast<std::size_t>(process)].transitions;
  while (!waiting.empty()) {
    const std::vector<Number> here = std::move(waiting.back());
    waiting.pop_back();
    steps_.for_each_of(here.data(), process, &made, [&](const Step& step, Outcome outcome, const Number* after) {
      if (transitions[static_cast<std::size_t>(step.number)].takes_bus) return true;
      if (outcome == Outcome::Overflow) throw Unsupported("a walk has too many pending stores");
      const bool fails = outcome == Outcome::Failed && here[length] > 0;  // it has made its reads
      if (!fails && (outcome != Outcome::Done || after[length] == 0 || (after[length] > 1 && !keeps_all_))) return true;
      for (const Access& access : made)
        if (!access.writes) found.push_back({access.variable, step.number});
      if (fails) return true;
      std::vector<Number> next(after, after + here.size());
      keep_newest_stores(next, process);
      if (seen.insert(next).second) waiting.push_back(std::move(next));
      return true;
    });
  }
  return found;
}

// That is all that the process sees of its pending stores; so walks are finitely many.
void Overtaking::keep_newest_stores(std::vector<Number>& state, int process) const {
  Number* const buffer = state.data() + layout_.buffers(process).at(0).first;
  std::map<Number, Number> newest;
  for (Number n = 0; n < buffer[0]; ++n) newest[buffer[1 + 2 * n]] = buffer[2 + 2 * n];
  std::fill_n(buffer + 1, 2 * buffer[0], 0);
  buffer[0] = 0;
  for (const auto& [variable, value] : newest) {
    buffer[1 + 2 * buffer[0]] = variable;
    buffer[2 + 2 * buffer[0]] = value;
    ++buffer[0];
  }
}

}  // namespace memfence::certificate
