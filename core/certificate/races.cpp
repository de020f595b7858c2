#include "certificate/races.hpp"

namespace memfence::certificate {

Races::Races(const std::string& program)
    : program_(read_program(program, sc_)),
      layout_(program_, sc_, 0),
      events_(program_, sc_, layout_),
      about_(program_.variables.size()) {
  if (program_.processes.size() > 64) throw Unsupported("there are more than 64 processes");
  const Model tso{Buffers::PerProcess, 0, false};
  for (const Process& process : read_program(program, tso).processes) {
    std::vector<char>& locked = locked_.emplace_back();
    for (const Transition& t : process.transitions) locked.push_back(t.locked || t.takes_bus);
  }
}

bool Races::Accessing::is_race() const {
  const std::uint64_t any = plain | locked;
  const auto has_other = [](std::uint64_t writers, std::uint64_t others) {
    for (std::uint64_t rest = writers; rest != 0; rest &= rest - 1)
      if ((others & ~(rest & -rest)) != 0) return true;
    return false;
  };
  return has_other(writes_plain, any) || has_other(writes_locked, plain);
}

bool Races::refuses(const Number* state, std::optional<Step>&) {
  for (const int variable : touched_) about_[static_cast<std::size_t>(variable)] = {};
  touched_.clear();
  if (Events::is_held(program_, state)) return false;
  for (int p = 0; p < static_cast<int>(program_.processes.size()); ++p) {
    const Process& process = program_.processes[static_cast<std::size_t>(p)];
    for (const int number : process.leaving[static_cast<std::size_t>(state[p])]) {
      const bool is_locked = locked_[static_cast<std::size_t>(p)][static_cast<std::size_t>(number)];
      events_.for_each(state, p, number, [&](const Events::Event& event) {
        note(p, event.made, is_locked);
        return true;
      });
    }
  }
  for (const int variable : touched_)
    if (about_[static_cast<std::size_t>(variable)].is_race()) return true;
  return false;
}

void Races::note(int process, const std::vector<Access>& made, bool is_locked) {
  const std::uint64_t bit = std::uint64_t{1} << process;
  for (const Access& access : made) {
    Accessing& about = about_[static_cast<std::size_t>(access.variable)];
    if ((about.plain | about.locked) == 0) touched_.push_back(access.variable);
    (is_locked ? about.locked : about.plain) |= bit;
    if (access.writes) (is_locked ? about.writes_locked : about.writes_plain) |= bit;
  }
}

}  // namespace memfence::certificate
