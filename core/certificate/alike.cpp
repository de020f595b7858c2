#include "certificate/alike.hpp"

#include <algorithm>
#include <numeric>

namespace memfence::certificate {

namespace {

// In the order of the columns of a row.
std::vector<int> places_of(const Program& program, const Layout& layout, int number) {
  std::vector<int> places{number};
  const Process& process = program.processes.at(static_cast<std::size_t>(number));
  for (std::size_t n = 0; n < process.registers.size(); ++n)
    if (process.registers[n].kept) places.push_back(process.places[n]);
  for (const Buffer& buffer : layout.buffers(number)) {
    const std::size_t at = places.size();
    places.resize(at + 1 + static_cast<std::size_t>(buffer.capacity * buffer.places_of_an_entry()));
    std::iota(places.begin() + static_cast<std::ptrdiff_t>(at), places.end(), buffer.first);
  }
  return places;
}

}  // namespace

Alike::Alike(const Program& program, const Layout& layout, const std::vector<std::vector<int>>& classes)
    : lock_at_(program.has_lock ? program.lock_at : -1) {
  for (const std::vector<int>& processes : classes) {
    std::vector<Member>& members = classes_.emplace_back();
    for (const int p : processes) members.push_back({p, places_of(program, layout, p)});
    for (const Member& member : members)
      if (member.places.size() != members.front().places.size()) throw Unsupported("processes that are alike differ");
  }
}

// After a step all but one process are in order already: insertion is best.
void Alike::sort(Number* state) const {
  for (const std::vector<Member>& members : classes_)
    for (std::size_t n = 1; n < members.size(); ++n)
      for (std::size_t at = n; at > 0 && is_less(state, members[at], members[at - 1]); --at)
        exchange(state, members[at], members[at - 1]);
}

bool Alike::is_less(const Number* state, const Member& a, const Member& b) const {
  for (std::size_t n = 0; n < a.places.size(); ++n) {
    const Number mine = state[a.places[n]], theirs = state[b.places[n]];
    if (mine != theirs) return mine < theirs;
  }
  return lock_at_ >= 0 && state[lock_at_] == b.process + 1;
}

void Alike::exchange(Number* state, const Member& a, const Member& b) const {
  for (std::size_t n = 0; n < a.places.size(); ++n) std::swap(state[a.places[n]], state[b.places[n]]);
  if (lock_at_ < 0) return;
  Number& owner = state[lock_at_];
  if (owner == a.process + 1)
    owner = b.process + 1;
  else if (owner == b.process + 1)
    owner = a.process + 1;
}

}  // namespace memfence::certificate
