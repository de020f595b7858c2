/* Stand-in for the header of the same name: what verifiers give a meaning to. */
#ifndef MEMFENCE_DAT3M_H
#define MEMFENCE_DAT3M_H
#include <stdbool.h>
#ifdef __cplusplus
extern "C" {
#endif
void __VERIFIER_assume(int);
void __VERIFIER_loop_bound(int);
void __VERIFIER_loop_begin(void);
void __VERIFIER_spin_start(void);
void __VERIFIER_spin_end(int);
int __VERIFIER_nondet_int(void);
unsigned int __VERIFIER_nondet_uint(void);
bool __VERIFIER_nondet_bool(void);
#ifdef __cplusplus
}
#endif
#define await_while(condition) while (condition)
#endif
