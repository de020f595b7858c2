// The fast checker of ranks, and who finds them. They share nothing with the engines but this module.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "certificate/ranks.hpp"
#include "certify/ranking.hpp"

namespace memfence::bind {

namespace {

using RefutingMove = std::tuple<int, std::vector<int>, std::vector<int>, std::vector<int>>;
using RankStep = std::tuple<int, int, int, int, int>;

// The automaton as Python writes it: the model's numbers come first.
struct PosedRanks {
  certificate::Model model;
  certificate::Refuting refuting;
};

PosedRanks posed_ranks(int buffers, int bound, bool per_variable, const std::vector<std::vector<RefutingMove>>& nodes,
                       int initial, int marks, const std::vector<std::string>& atoms, bool fair) {
  PosedRanks all{{static_cast<certificate::Buffers>(buffers), bound, per_variable}, {{}, initial, marks, atoms, fair}};
  for (const auto& leaving : nodes) {
    auto& moves = all.refuting.nodes.emplace_back();
    for (const auto& [target, positive, negative, visited] : leaving) moves.push_back({target, positive, negative, visited});
  }
  return all;
}

// Number of the condition, the row, and the step; None where nothing is wrong.
std::optional<std::tuple<int, nb::bytes, std::optional<RankStep>>> plain_rank_finding(const certificate::RankFinding& finding) {
  if (finding.condition == certificate::RankCondition::None) return std::nullopt;
  std::optional<RankStep> step;
  if (finding.step)
    step = RankStep(static_cast<int>(finding.step->kind), finding.step->process, finding.step->number, finding.step->other,
                    finding.step->other_number);
  return std::tuple(static_cast<int>(finding.condition), nb::bytes(finding.row.data(), finding.row.size()), step);
}

void bind_rank_checker(nb::module_& m) {
  using certificate::RankChecker;
  nb::class_<RankChecker>(m, "RankChecker")
      .def(
          "__init__",
          [](RankChecker* self, const std::string& program, int buffers, int bound, bool per_variable, int capacity,
             const std::vector<std::vector<RefutingMove>>& nodes, int initial, int marks, const std::vector<std::string>& atoms,
             bool fair, std::vector<int> mark_of_rank) {
            PosedRanks all = posed_ranks(buffers, bound, per_variable, nodes, initial, marks, atoms, fair);
            new (self) RankChecker(program, all.model, capacity, std::move(all.refuting), std::move(mark_of_rank));
          },
          "program"_a, "buffers"_a, "bound"_a, "per_variable"_a, "capacity"_a, "nodes"_a, "initial"_a, "marks"_a, "atoms"_a,
          "fair"_a, "mark_of_rank"_a)
      .def_prop_ro("width", &RankChecker::width)
      .def_prop_ro("marks", &RankChecker::marks)
      .def_prop_ro("pairs", &RankChecker::pairs)
      .def_prop_ro("memory", &RankChecker::bytes)
      .def(
          "add",
          [](RankChecker& self, nb::bytes block) {
            return plain_rank_finding(self.add(reinterpret_cast<const unsigned char*>(block.data()), block.size()));
          },
          "block"_a)
      .def("check", [](RankChecker& self) {
        certificate::RankFinding finding;
        {
          const Unlocked unlocked;
          finding = self.check();
        }
        return plain_rank_finding(finding);
      });
}

void bind_ranking(nb::module_& m) {
  using certificate::Ranking;
  nb::class_<Ranking>(m, "Ranking")
      .def(
          "__init__",
          [](Ranking* self, const std::string& program, int buffers, int bound, bool per_variable, int capacity,
             const std::vector<std::vector<RefutingMove>>& nodes, int initial, int marks, const std::vector<std::string>& atoms,
             bool fair) {
            PosedRanks all = posed_ranks(buffers, bound, per_variable, nodes, initial, marks, atoms, fair);
            new (self) Ranking(program, all.model, capacity, std::move(all.refuting));
          },
          "program"_a, "buffers"_a, "bound"_a, "per_variable"_a, "capacity"_a, "nodes"_a, "initial"_a, "marks"_a, "atoms"_a,
          "fair"_a)
      .def_prop_ro("pairs", &Ranking::pairs)
      .def_prop_ro("memory", &Ranking::bytes)
      .def_prop_ro("marks", &Ranking::marks)
      .def("explore", &Ranking::explore, "count"_a, nb::call_guard<Unlocked>())
      .def("rank", &Ranking::rank, nb::call_guard<Unlocked>())
      .def(
          "block",
          [](const Ranking& self, std::size_t first, std::size_t count) {
            const std::string planes = self.block(first, count);
            return nb::bytes(planes.data(), planes.size());
          },
          "first"_a, "count"_a);
}

}  // namespace

void bind_certificate_ranks(nb::module_& m) {
  bind_rank_checker(m);
  bind_ranking(m);
}

}  // namespace memfence::bind
