// Arithmetic and indices that C leaves undefined. gcc tests for them (binary/build.py) and calls these where a test fails; a
// program that just runs goes on as it always does.
#include "real.hpp"
#include "world.hpp"

using namespace memfence::running;

namespace {

void undefined(Finding kind, const char* message, void* pc) {
  if (!world.in_program) return;
  world.settle();
  world.fail(kind, message, pc);
}

}  // namespace

#define MEMFENCE_UNDEFINED(test, kind, message) \
  MEMFENCE_EXPORT void __ubsan_handle_##test(void*) { undefined(Finding::kind, message, __builtin_return_address(0)); }

MEMFENCE_UNDEFINED(add_overflow, Arithmetic, "signed integer overflow")
MEMFENCE_UNDEFINED(sub_overflow, Arithmetic, "signed integer overflow")
MEMFENCE_UNDEFINED(mul_overflow, Arithmetic, "signed integer overflow")
MEMFENCE_UNDEFINED(negate_overflow, Arithmetic, "signed integer overflow")
MEMFENCE_UNDEFINED(divrem_overflow, Arithmetic, "division by zero, or of the least integer by -1")
MEMFENCE_UNDEFINED(shift_out_of_bounds, Arithmetic,
                   "shift of a negative number to the left, of bits out of the type, or beyond its width")
MEMFENCE_UNDEFINED(out_of_bounds, OutOfBounds, "an index outside of its array")
