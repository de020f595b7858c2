// The fast checker of backward searches, and the search that writes what it reads.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "certificate/dual.hpp"
#include "certificate/dual_plain.hpp"
#include "certify/dual_search.hpp"

namespace memfence::bind {

namespace {

using certificate::Configuration, certificate::DualAsked, certificate::Facts, certificate::PlainConfiguration;
using Listed =
    std::tuple<std::vector<int>, certificate::Memory, std::vector<std::vector<std::pair<Facts, bool>>>, std::vector<int>>;
using Sets = std::vector<std::vector<certificate::Control>>;

Listed listed(PlainConfiguration plain) {
  return {std::move(plain.sets), std::move(plain.memory), std::move(plain.fifos), std::move(plain.kinds)};
}

// A checker, and how configurations are written for it.
struct DualHandle {
  explicit DualHandle(const DualAsked& asked) : checker(asked), form(checker.rules()) {}
  certificate::DualChecker checker;
  certificate::PlainForm form;

  // The number of the set: writing configurations gives numbers, too.
  std::size_t add_set(const std::vector<certificate::Control>& controls) {
    form.add_set(controls);
    return form.sets().size() - 1;
  }
  bool add(const Listed& one, const std::vector<int>& below) {
    const auto& [sets, memory, fifos, kinds] = one;
    std::optional<Configuration> c = form.read({sets, memory, fifos, kinds});
    return c && checker.add(std::move(*c), below);
  }
  // What the rules say leads to the configuration, and what the numbers of sets stand for; None where it is none.
  std::optional<std::pair<std::vector<Listed>, Sets>> before(const Listed& one) {
    const auto& [sets, memory, fifos, kinds] = one;
    const std::optional<Configuration> c = form.read({sets, memory, fifos, kinds});
    if (!c) return std::nullopt;
    std::vector<Listed> all;
    checker.rules().before(*c, [&](const Configuration& d) {
      all.push_back(listed(form.write(d)));
      return true;
    });
    return std::pair(std::move(all), form.sets());
  }
  // Number of the condition, and the configuration that shows it with its sets; None where nothing is wrong.
  std::optional<std::tuple<int, Listed, Sets>> check() {
    std::pair<certificate::Condition, Configuration> found;
    {
      const Unlocked unlocked;
      found = checker.check();
    }
    if (found.first == certificate::Condition::None) return std::nullopt;
    Listed shown = listed(form.write(found.second));
    return std::tuple(static_cast<int>(found.first), std::move(shown), form.sets());
  }
};

struct Search {
  explicit Search(const DualAsked& asked) : search(asked) {}
  certificate::DualSearch search;

  int run(std::size_t steps) {
    const Unlocked unlocked;
    return static_cast<int>(search.run(steps));
  }
  // The configurations, which of them stand for what leads to each, and what the numbers of sets stand for.
  std::tuple<std::vector<Listed>, std::vector<std::vector<int>>, Sets> found() {
    certificate::PlainForm form(search.rules());
    std::vector<Listed> all;
    std::vector<std::vector<int>> below;
    for (const certificate::DualSearch::Found& one : search.found()) {
      all.push_back(listed(form.write(*one.c)));
      below.push_back(one.below);
    }
    return {std::move(all), std::move(below), form.sets()};
  }
};

template <class Class>
auto bind_asked(nb::module_& m, const char* name) {
  return nb::class_<Class>(m, name).def(
      "__init__",
      [](Class* self, const std::string& program, const std::string& bad, const std::vector<int>& fixed,
         const std::vector<std::vector<int>>& instances, const std::vector<int>& named, bool everything_locked,
         const std::vector<std::vector<int>>& passing, const std::vector<std::vector<std::vector<int>>>& dead) {
        const certificate::LeftOut left_out{passing, dead, {}, {}, {}};
        new (self) Class(DualAsked{program, bad, fixed, instances, named, everything_locked, left_out});
      },
      "program"_a, "bad"_a, "fixed"_a, "instances"_a, "named"_a, "everything_locked"_a, "passing"_a, "dead"_a);
}

}  // namespace

void bind_dual_certificate(nb::module_& m) {
  bind_asked<DualHandle>(m, "DualChecker")
      .def("add_set", &DualHandle::add_set, "controls"_a)
      .def("add", &DualHandle::add, "configuration"_a, "below"_a)
      .def("before", &DualHandle::before, "configuration"_a)
      .def("check", &DualHandle::check);
  bind_asked<Search>(m, "DualSearch")
      .def("run", &Search::run, "steps"_a)
      .def("found", &Search::found)
      .def_prop_ro("size", [](const Search& self) { return self.search.size(); });
}

}  // namespace memfence::bind
