#include "certificate/initial.hpp"

namespace memfence::certificate {

void for_each_initial(const Program& program, std::size_t places, const std::function<bool(const Number*)>& visit) {
  std::vector<std::pair<int, const std::vector<Number>*>> choices;
  for (std::size_t v = 0; v < program.variables.size(); ++v)
    choices.emplace_back(program.memory_at + static_cast<int>(v), &program.variables[v].init);
  for (const Process& p : program.processes)
    for (std::size_t n = 0; n < p.registers.size(); ++n)
      if (p.registers[n].kept) choices.emplace_back(p.places[n], &p.registers[n].init);
  std::vector<std::size_t> chosen(choices.size(), 0);
  while (true) {
    std::vector<Number> state(places, 0);
    for (std::size_t p = 0; p < program.processes.size(); ++p) state[p] = program.processes[p].initial;
    for (std::size_t n = 0; n < choices.size(); ++n)
      state[static_cast<std::size_t>(choices[n].first)] = choices[n].second->at(chosen[n]);
    if (!visit(state.data())) return;
    std::size_t n = choices.size();
    while (n > 0 && ++chosen[n - 1] == choices[n - 1].second->size()) chosen[--n] = 0;
    if (n == 0) return;
  }
}

}  // namespace memfence::certificate
