// The bad configurations of the backward search.
#include <algorithm>

#include "certificate/choices.hpp"
#include "certificate/dual_rules.hpp"

namespace memfence::certificate {

// Who may be bad together: the fixed processes, with those that the question names, or with one of the others that has failed.
bool DualRules::bad(const Emit& emit) {
  std::vector<int> members = asked_.fixed;
  members.insert(members.end(), asked_.named.begin(), asked_.named.end());
  if (!bad_among(members, true, emit)) return false;
  for (const std::vector<int>& instances : asked_.instances) {
    members = asked_.fixed;
    members.push_back(instances[0]);
    if (!bad_among(members, false, emit)) return false;
  }
  return true;
}

bool DualRules::bad_among(const std::vector<int>& members, bool named, const Emit& emit) {
  std::vector<std::vector<std::vector<int>>> choices;
  std::vector<std::size_t> sizes;
  for (const int process : members) {
    choices.push_back(groups(process));
    sizes.push_back(choices.back().size());
  }
  const std::vector<int> seen = seen_variables();
  for (const int x : seen) sizes.push_back(program_.variables[static_cast<std::size_t>(x)].domain.size());
  if (ways_to_choose(sizes, kMostBad) > kMostBad) throw TooLarge("there are too many bad configurations");
  return for_each_choice(sizes, [&](const std::vector<std::size_t>& chosen) {
    Configuration c;
    c.memory.resize(program_.variables.size());
    std::vector<Number> state(static_cast<std::size_t>(program_.buffers_at), 0);
    for (std::size_t p = 0; p < program_.processes.size(); ++p) state[p] = program_.processes[p].initial;
    bool failed = false;
    for (std::size_t n = 0; n < members.size(); ++n) {
      const auto process = static_cast<std::size_t>(members[n]);
      const Control& control = local(kind_of(members[n])).control(choices[n][chosen[n]].at(0));
      if (control[0] == kFailed) {
        failed = true;
        continue;
      }
      state[process] = control[0];
      for (std::size_t r = 0; r + 1 < control.size(); ++r)
        state[static_cast<std::size_t>(program_.processes[process].places[r])] = control[r + 1];
    }
    for (std::size_t n = 0; n < seen.size(); ++n) {
      const auto x = static_cast<std::size_t>(seen[n]);
      const Number value = program_.variables[x].domain.lo + static_cast<Number>(chosen[members.size() + n]);
      c.memory[x] = state[static_cast<std::size_t>(program_.memory_at) + x] = value;
    }
    Wide value = 0;
    const bool is_bad = failed || (named && bad_ >= 0 && steps_.evaluate(bad_, state.data(), value) && value != 0);
    if (!is_bad) return true;
    for (std::size_t n = 0; n < members.size(); ++n) {  // only now: a set takes room for all places
      const int kind = kind_of(members[n]);
      ControlSets::Bits bits;
      for (const int control : choices[n][chosen[n]]) ControlSets::insert(bits, control);
      c.parts.push_back({kind, local(kind).sets.number(std::move(bits)), {}});
    }
    return emit(c);
  });
}

void DualRules::looked_at(int expression, std::vector<const Node*>& found) const {
  if (expression < 0) return;
  const Node& node = program_.nodes[static_cast<std::size_t>(expression)];
  found.push_back(&node);
  for (const int operand : {node.a, node.b, node.c}) looked_at(operand, found);
}

std::vector<int> DualRules::seen_variables() const {
  std::vector<const Node*> nodes;
  looked_at(bad_, nodes);
  std::set<int> found;
  for (const Node* node : nodes)
    if (node->kind == Node::Kind::Memory)
      for (int n = 0; n < node->value; ++n) found.insert(node->place - program_.memory_at + n);
  return {found.begin(), found.end()};
}

// Where the process may be, by what the question sees of it.
std::vector<std::vector<int>> DualRules::groups(int process) {
  std::vector<const Node*> nodes;
  looked_at(bad_, nodes);
  LocalProcess& own = local(kind_of(process));
  const std::vector<int>& places = program_.processes[static_cast<std::size_t>(process)].places;
  std::map<std::vector<Number>, std::vector<int>> found;
  for (int number = 0; number < own.reached(); ++number) {
    const Control& control = own.control(number);
    std::vector<Number> seen{control[0] == kFailed ? 1 : 0};
    if (control[0] != kFailed)
      for (const Node* node : nodes) {
        if (node->kind == Node::Kind::At && node->place == process)
          seen.push_back(node->locations[static_cast<std::size_t>(control[0])]);
        const auto place = std::find(places.begin(), places.end(), node->place);
        if (node->kind == Node::Kind::Place && place != places.end())
          seen.push_back(control[1 + static_cast<std::size_t>(place - places.begin())]);
      }
    found[seen].push_back(number);
  }
  std::vector<std::vector<int>> groups;
  for (auto& [_, numbers] : found) groups.push_back(std::move(numbers));
  return groups;
}

}  // namespace memfence::certificate
