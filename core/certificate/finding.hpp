// What the checker says of a certificate.
#pragma once

#include <string>

#include "certificate/steps.hpp"

namespace memfence::certificate {

enum class Condition : std::uint8_t {
  None,
  Shape,
  Order,
  Initial,
  Closed,
  Failure,
  Bad,
  Final,
  Deadlock,
  Attack,
  Race,
  NonScState,
  Cycle,
};

// What was found: nothing wrong, or the first violated condition, the row of the state and the step that show it.
struct Finding {
  Condition condition = Condition::None;
  std::string row;
  bool has_step = false;
  Step step;
};

// What a criterion asks of each state of a closed set, by itself.
class CriterionChecker {
 public:
  CriterionChecker() = default;
  CriterionChecker(const CriterionChecker&) = delete;
  CriterionChecker& operator=(const CriterionChecker&) = delete;
  virtual ~CriterionChecker() = default;

  // Whether the state violates the condition; `step`, where it is set, shows it.
  virtual bool refuses(const Number* state, std::optional<Step>& step) = 0;
};

}  // namespace memfence::certificate
