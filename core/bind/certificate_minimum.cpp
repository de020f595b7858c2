// The fast checker of minimum sets of fences. It shares nothing with the engines but this module.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "certificate/fence_bound.hpp"
#include "certificate/minimum.hpp"

namespace memfence::bind {

namespace {

using SiteTuple = std::tuple<int, std::vector<std::pair<int, int>>, bool>;
using RunStep = std::tuple<int, int, int, int, int>;

std::vector<certificate::Site> sites_from(const std::vector<SiteTuple>& listed) {
  std::vector<certificate::Site> sites;
  for (const auto& [kind, places, is_chosen] : listed)
    sites.push_back({static_cast<certificate::Site::Kind>(kind), places, is_chosen});
  return sites;
}

// Number of what is wrong with the clause, 0 for nothing, and the step that is not possible.
std::pair<int, std::size_t> check_clause(const certificate::MinimumChecker& self, const std::vector<int>& clause,
                                         std::uint64_t start, const std::vector<RunStep>& listed) {
  std::vector<certificate::Step> steps;
  for (const auto& [kind, process, number, other, other_number] : listed)
    steps.push_back({static_cast<certificate::Step::Kind>(kind), process, number, other, other_number});
  const Unlocked unlocked;
  const auto found = self.check(clause, start, steps);
  return {static_cast<int>(found.fault), found.step};
}

int check_bound(const std::vector<std::vector<int>>& clauses, const std::vector<std::int64_t>& prices, std::int64_t money) {
  const Unlocked unlocked;
  return static_cast<int>(certificate::check_fence_bound(clauses, prices, money));
}

}  // namespace

void bind_certificate_minimum(nb::module_& m) {
  using certificate::MinimumChecker;
  nb::class_<MinimumChecker>(m, "MinimumChecker")
      .def(
          "__init__",
          [](MinimumChecker* self, const std::string& program, int buffers, int bound, bool per_variable,
             const std::vector<SiteTuple>& sites, int criterion, const std::string& bad, bool deadlock,
             const std::vector<std::pair<std::string, bool>>& finals, std::size_t most_bytes) {
            const certificate::Model model{static_cast<certificate::Buffers>(buffers), bound, per_variable};
            const certificate::MinimumAsked asked{bad, deadlock, finals, static_cast<certificate::BadRun>(criterion),
                                                  most_bytes};
            new (self) MinimumChecker(program, model, sites_from(sites), asked);
          },
          "program"_a, "buffers"_a, "bound"_a, "per_variable"_a, "sites"_a, "criterion"_a, "bad"_a, "deadlock"_a, "finals"_a,
          "most_bytes"_a)
      .def("check", &check_clause, "clause"_a, "start"_a, "steps"_a);
  m.def("check_fence_bound", &check_bound, "clauses"_a, "prices"_a, "money"_a);
}

}  // namespace memfence::bind
