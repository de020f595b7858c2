// The fast checker of certificates. It shares nothing with the engines but this module.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "certificate/checker.hpp"
#include "certificate/triangular.hpp"

namespace memfence::bind {

namespace {

using CheckedStep = std::tuple<int, int, int, int, int>;

// Number of the condition, the row, and the step; None where nothing is wrong.
std::optional<std::tuple<int, nb::bytes, std::optional<CheckedStep>>> plain_finding(const certificate::Finding& finding) {
  if (finding.condition == certificate::Condition::None) return std::nullopt;
  const auto& s = finding.step;
  const CheckedStep step(static_cast<int>(s.kind), s.process, s.number, s.other, s.other_number);
  return std::tuple(static_cast<int>(finding.condition), nb::bytes(finding.row.data(), finding.row.size()),
                    finding.has_step ? std::optional(step) : std::nullopt);
}

// Every step that is possible in the state of a row: the step, its outcome, and the row after it, empty where there is none.
std::vector<std::tuple<CheckedStep, int, nb::bytes>> steps_of(certificate::Checker& self, nb::bytes row) {
  std::vector<std::tuple<CheckedStep, int, nb::bytes>> out;
  for (const auto& [s, outcome, after] : self.steps(reinterpret_cast<const unsigned char*>(row.data())))
    out.emplace_back(CheckedStep(static_cast<int>(s.kind), s.process, s.number, s.other, s.other_number),
                     static_cast<int>(outcome), nb::bytes(after.data(), after.size()));
  return out;
}

// What all checkers of rows have: the width of a row, adding blocks, and the judgement.
template <class Checker>
void bind_rows(nb::class_<Checker>& bound) {
  bound.def_prop_ro("width", &Checker::width)
      .def_prop_ro("states", &Checker::states)
      .def_prop_ro("memory", &Checker::bytes)
      .def(
          "add",
          [](Checker& self, nb::bytes block) {
            return plain_finding(self.add(reinterpret_cast<const unsigned char*>(block.data()), block.size()));
          },
          "block"_a)
      .def(
          "reachable",
          [](Checker& self, std::size_t most_bytes) {
            std::vector<nb::bytes> rows;
            for (const std::string& row : self.reachable(most_bytes)) rows.emplace_back(row.data(), row.size());
            return rows;
          },
          "most_bytes"_a)
      .def("check", [](Checker& self) {
        certificate::Finding finding;
        {
          const Unlocked unlocked;
          finding = self.check();
        }
        return plain_finding(finding);
      });
}

}  // namespace

void bind_certificate(nb::module_& m) {
  nb::class_<certificate::Checker> invariant(m, "InvariantChecker");
  invariant
      .def(
          "__init__",
          [](certificate::Checker* self, const std::string& program, int buffers, int bound, bool per_variable, int capacity,
             const std::string& bad, bool deadlock, const std::vector<std::string>& final, int expected,
             const std::vector<std::vector<std::int64_t>>& outcomes, int criterion, bool may_fail,
             const std::vector<std::vector<int>>& passing, const std::vector<std::vector<std::vector<int>>>& dead,
             const std::vector<std::vector<int>>& quiet, const std::vector<std::vector<int>>& forgotten,
             const std::vector<std::vector<int>>& alike, std::size_t most_bytes) {
            const certificate::Model model{static_cast<certificate::Buffers>(buffers), bound, per_variable};
            new (self) certificate::Checker(program, model, capacity,
                                            certificate::Asked{bad,
                                                               deadlock,
                                                               final,
                                                               expected,
                                                               outcomes,
                                                               static_cast<certificate::Criterion>(criterion),
                                                               may_fail,
                                                               {passing, dead, quiet, forgotten, alike},
                                                               most_bytes});
          },
          "program"_a, "buffers"_a, "bound"_a, "per_variable"_a, "capacity"_a, "bad"_a, "deadlock"_a, "final"_a, "expected"_a,
          "outcomes"_a, "criterion"_a = 0, "may_fail"_a = false, "passing"_a = std::vector<std::vector<int>>(),
          "dead"_a = std::vector<std::vector<std::vector<int>>>(), "quiet"_a = std::vector<std::vector<int>>(),
          "forgotten"_a = std::vector<std::vector<int>>(), "alike"_a = std::vector<std::vector<int>>(),
          "most_bytes"_a = SIZE_MAX)
      .def("steps", &steps_of, "row"_a);
  bind_rows(invariant);
  nb::class_<certificate::Triangular> triangular(m, "TriangularChecker");
  triangular.def(nb::init<const std::string&>(), "program"_a);
  bind_rows(triangular);
}

}  // namespace memfence::bind
