#include "certificate/initial.hpp"

namespace memfence::certificate {

namespace {

using Choice = std::pair<int, const std::vector<Number>*>;  // a place, and the values that it may start with

std::vector<Choice> choices_of(const Program& program) {
  std::vector<Choice> choices;
  for (std::size_t v = 0; v < program.variables.size(); ++v)
    choices.emplace_back(program.memory_at + static_cast<int>(v), &program.variables[v].init);
  for (const Process& p : program.processes)
    for (std::size_t n = 0; n < p.registers.size(); ++n)
      if (p.registers[n].kept) choices.emplace_back(p.places[n], &p.registers[n].init);
  return choices;
}

std::vector<Number> without_choices(const Program& program, std::size_t places) {
  std::vector<Number> state(places, 0);
  for (std::size_t p = 0; p < program.processes.size(); ++p) state[p] = program.processes[p].initial;
  return state;
}

}  // namespace

void for_each_initial(const Program& program, std::size_t places, const std::function<bool(const Number*)>& visit) {
  const std::vector<Choice> choices = choices_of(program);
  std::vector<std::size_t> chosen(choices.size(), 0);
  while (true) {
    std::vector<Number> state = without_choices(program, places);
    for (std::size_t n = 0; n < choices.size(); ++n)
      state[static_cast<std::size_t>(choices[n].first)] = choices[n].second->at(chosen[n]);
    if (!visit(state.data())) return;
    std::size_t n = choices.size();
    while (n > 0 && ++chosen[n - 1] == choices[n - 1].second->size()) chosen[--n] = 0;
    if (n == 0) return;
  }
}

std::optional<std::vector<Number>> nth_initial(const Program& program, std::size_t places, std::uint64_t number) {
  const std::vector<Choice> choices = choices_of(program);
  std::vector<Number> state = without_choices(program, places);
  for (auto choice = choices.rbegin(); choice != choices.rend(); ++choice) {  // the last one changes fastest
    const std::vector<Number>& values = *choice->second;
    if (values.empty()) return std::nullopt;
    state[static_cast<std::size_t>(choice->first)] = values[number % values.size()];
    number /= values.size();
  }
  return number == 0 ? std::optional(std::move(state)) : std::nullopt;
}

}  // namespace memfence::certificate
