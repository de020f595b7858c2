// The fast checkers of certificates about buffers of any length.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "certificate/automata.hpp"

namespace memfence::bind {

namespace {

using certificate::AutomataChecker, certificate::SymbolicFinding;
using ShownStep = std::tuple<int, int, int, int, int>;

// Number of the condition, the row of the control part, the automata, and the step; None where nothing is wrong.
std::optional<std::tuple<int, nb::bytes, std::vector<std::uint32_t>, std::optional<ShownStep>>> plain(
    const SymbolicFinding& finding) {
  if (finding.condition == certificate::Condition::None) return std::nullopt;
  const auto& s = finding.step;
  const ShownStep step(static_cast<int>(s.kind), s.process, s.number, s.other, s.other_number);
  return std::tuple(static_cast<int>(finding.condition), nb::bytes(finding.row.data(), finding.row.size()), finding.numbers,
                    finding.has_step ? std::optional(step) : std::nullopt);
}

void add_automaton(AutomataChecker& self,
                   const std::vector<std::vector<std::tuple<bool, std::int64_t, std::int64_t, int>>>& moves,
                   const std::vector<int>& accepting) {
  std::vector<std::vector<AutomataChecker::Move>> read;
  for (const auto& leaving : moves) {
    auto& all = read.emplace_back();
    for (const auto& [is_store, variable, value, target] : leaving) all.push_back({is_store, variable, value, target});
  }
  self.add_automaton(read, accepting);
}

}  // namespace

void bind_unbounded(nb::module_& m) {
  nb::class_<AutomataChecker>(m, "AutomataChecker")
      .def(
          "__init__",
          [](AutomataChecker* self, const std::string& program, int buffers, const std::string& bad, bool deadlock) {
            new (self) AutomataChecker(program, {static_cast<certificate::Buffers>(buffers)}, bad, deadlock);
          },
          "program"_a, "buffers"_a, "bad"_a, "deadlock"_a)
      .def_prop_ro("width", &AutomataChecker::width)
      .def_prop_ro("states", &AutomataChecker::states)
      .def_prop_ro("memory", &AutomataChecker::bytes)
      .def("add_automaton", &add_automaton, "moves"_a, "accepting"_a)
      .def(
          "add",
          [](AutomataChecker& self, nb::bytes block) {
            return plain(self.add(reinterpret_cast<const unsigned char*>(block.data()), block.size()));
          },
          "block"_a)
      .def("check", [](AutomataChecker& self) {
        SymbolicFinding finding;
        {
          const Unlocked unlocked;
          finding = self.check();
        }
        return plain(finding);
      });
}

}  // namespace memfence::bind
