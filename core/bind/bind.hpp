// What the parts of the binding share.
#pragma once

#include <nanobind/nanobind.h>

#include "search/limits.hpp"

namespace memfence::bind {

// A cancel flag that Python can hold and set.
struct Cancel {
  CancelFlag flag = std::make_shared<std::atomic<bool>>(false);
};

Limits make_limits(double timeout_seconds, std::uint64_t memory_bytes, std::shared_ptr<Cancel> cancel,
                   nanobind::object progress);

void bind_machine(nanobind::module_& m);
void bind_exploration(nanobind::module_& m);
void bind_criteria(nanobind::module_& m);
void bind_state_robustness(nanobind::module_& m);
void bind_emptiness(nanobind::module_& m);
void bind_symbolic(nanobind::module_& m);
void bind_dual(nanobind::module_& m);
void bind_monitor(nanobind::module_& m);
void bind_stateless(nanobind::module_& m);

}  // namespace memfence::bind
