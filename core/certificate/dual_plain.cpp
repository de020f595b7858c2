#include "certificate/dual_plain.hpp"

namespace memfence::certificate {

std::optional<Configuration> PlainForm::read(const PlainConfiguration& plain) {
  Configuration c;
  c.memory = plain.memory;
  for (const int kind : plain.kinds) c.parts.push_back({kind, 0, {}});
  if (!rules_.is_one(c) || plain.sets.size() != c.parts.size() || plain.fifos.size() != c.parts.size()) return std::nullopt;
  if (c.memory.size() != rules_.program().variables.size()) return std::nullopt;
  for (std::size_t p = 0; p < c.parts.size(); ++p) {
    Part& part = c.parts[p];
    LocalProcess& local = rules_.local(part.kind);
    const auto [place, is_new] = read_.emplace(std::pair(part.kind, plain.sets[p]), 0);
    if (is_new) {
      ControlSets::Bits bits;
      for (const Control& control : sets_.at(static_cast<std::size_t>(plain.sets[p])))
        ControlSets::insert(bits, local.control(control));
      place->second = local.sets.number(bits);
    }
    part.set = place->second;
    for (const auto& [facts, own] : plain.fifos[p]) {
      if (facts.empty()) return std::nullopt;
      part.fifo.push_back(rules_.messages().number({facts, own}));
    }
  }
  return c;
}

PlainConfiguration PlainForm::write(const Configuration& c) {
  PlainConfiguration plain;
  plain.memory = c.memory;
  for (const Part& part : c.parts) {
    LocalProcess& local = rules_.local(part.kind);
    const auto [place, is_new] = written_.emplace(std::pair(part.kind, part.set), static_cast<int>(sets_.size()));
    if (is_new) {
      std::vector<Control>& all = sets_.emplace_back();
      for (const int control : local.sets.members(part.set)) all.push_back(local.control(control));
    }
    plain.kinds.push_back(part.kind);
    plain.sets.push_back(place->second);
    auto& fifo = plain.fifos.emplace_back();
    for (const int message : part.fifo) fifo.emplace_back(rules_.messages()[message].facts, rules_.messages()[message].own);
  }
  return plain;
}

}  // namespace memfence::certificate
