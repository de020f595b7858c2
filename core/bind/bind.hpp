// What the parts of the binding share: the limits that every search takes, and classes that are nothing but fields.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <type_traits>

#include "search/emptiness.hpp"
#include "search/limits.hpp"
#include "search/outcome.hpp"

namespace memfence::bind {

namespace nb = nanobind;
using namespace nb::literals;

// While this lives, the thread runs without the GIL.
//
// Nanobind's guard of that kind would do, but for threads that want the GIL back while Python shuts down: up to 3.13, Python
// ends them by pthread_exit, which unwinds the stack; a destructor may not be left that way, so C++ ends the whole process
// by SIGABRT. Such a thread waits for the end of the process instead, as it does from Python 3.14 on.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// While this lives, the thread, which has given the GIL back, has it again.
class Locked {
 public:
  Locked();
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

// A cancel flag that Python can hold and set.
struct Cancel {
  CancelFlag flag = std::make_shared<std::atomic<bool>>(false);
};

Limits make_limits(double timeout_seconds, std::uint64_t memory_bytes, std::uint64_t compact_from,
                   std::shared_ptr<Cancel> cancel, nb::object progress);

// Bind a search: a function of `Limits` and of arguments that C++ understands. Python passes the arguments, which `names`
// describe, and behind them the limits; the search runs without the GIL.
template <class Result, class... Arguments, class... Names>
void def_search(nb::module_& m, const char* name, Result (*search)(Limits, Arguments...), const char* doc,
                const Names&... names) {
  m.def(
      name,
      [search](Arguments... arguments, double timeout_seconds, std::uint64_t memory_bytes, std::uint64_t compact_from,
               std::shared_ptr<Cancel> cancel, nb::object progress) {
        Limits limits = make_limits(timeout_seconds, memory_bytes, compact_from, std::move(cancel), progress);
        const Unlocked unlocked;
        return search(std::move(limits), std::forward<Arguments>(arguments)...);
      },
      names..., "timeout_seconds"_a, "memory_bytes"_a, "compact_from"_a, "cancel"_a.none(), "progress"_a.none(), doc);
}

// Steps and paths as Python sees them.
using StepTuple = std::tuple<int, int, int>;
using PathTuple = std::tuple<std::size_t, std::vector<StepTuple>, std::vector<int>>;
StepTuple tuple_of(const Step& step);
PathTuple tuple_of(const Path& path);
std::vector<Step> steps_from(const std::vector<StepTuple>& tuples);
using FindingTuple = std::tuple<int, Index, std::optional<StepTuple>>;
std::optional<FindingTuple> tuple_of(const std::optional<Finding>& finding);

// An automaton and what it is asked about, as Python writes them.
using EdgeTuple = std::tuple<int, std::uint64_t, std::uint64_t, std::uint64_t>;
using ConditionTuple = std::tuple<int, int, int>;
BuchiQuery query_of(int initial, const std::vector<std::vector<EdgeTuple>>& edges, int marks, std::vector<int> atoms,
                    const std::vector<ConditionTuple>& conditions);

template <class Class, class Value>
struct Field {
  const char* name;
  Value Class::* member;
};

template <class Value>
inline constexpr bool is_optional_enum = false;
template <class Value>
inline constexpr bool is_optional_enum<std::optional<Value>> = std::is_enum_v<Value>;

// Fields that Python can read. An enumeration becomes its number.
template <class Class, class Bound, class... Values>
Bound& def_fields(Bound& bound, const Field<Class, Values>&... fields) {
  const auto def = [&]<class Value>(const Field<Class, Value>& field) {
    const auto member = field.member;
    if constexpr (std::is_enum_v<Value>)
      bound.def_prop_ro(field.name, [member](const Class& c) { return static_cast<int>(c.*member); });
    else if constexpr (is_optional_enum<Value>)
      bound.def_prop_ro(field.name, [member](const Class& c) {
        return c.*member ? std::optional(static_cast<int>(*(c.*member))) : std::nullopt;
      });
    else
      bound.def_ro(field.name, member);
  };
  (def(fields), ...);
  return bound;
}
template <class Class, class... Values>
nb::class_<Class> def_record(nb::module_& m, const char* name, const Field<Class, Values>&... fields) {
  nb::class_<Class> bound(m, name);
  return def_fields(bound, fields...);
}

void bind_machine(nb::module_& m);
void bind_exploration(nb::module_& m);
void bind_criteria(nb::module_& m);
void bind_state_robustness(nb::module_& m);
void bind_emptiness(nb::module_& m);
void bind_symbolic(nb::module_& m);
void bind_dual(nb::module_& m);
void bind_monitor(nb::module_& m);
void bind_stateless(nb::module_& m);
void bind_certificate(nb::module_& m);
void bind_unbounded(nb::module_& m);
void bind_dual_certificate(nb::module_& m);
void bind_certificate_ranks(nb::module_& m);
void bind_certificate_minimum(nb::module_& m);
void bind_cluster(nb::module_& m);
void bind_graphs(nb::module_& m);

}  // namespace memfence::bind
