/* Stand-in for the header of the same name: what verifiers give a meaning to. */
#ifndef MEMFENCE_GENMC_H
#define MEMFENCE_GENMC_H
#include <stdbool.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
void __VERIFIER_assume(int);
void __VERIFIER_spin_start(void);
void __VERIFIER_spin_end(int);
void __VERIFIER_loop_begin(void);
int __VERIFIER_nondet_int(void);
#ifdef __cplusplus
}
#endif
#define __VERIFIER_optional(body) body
#define __VERIFIER_local_write(statement) statement
#define __VERIFIER_final_write(statement) statement
#define __VERIFIER_speculative_read(expression) expression
#define __VERIFIER_confirming_CAS(expression) expression
#define __VERIFIER_helping_CAS(statement) statement
#define __VERIFIER_helped_CAS(expression) expression
#endif
