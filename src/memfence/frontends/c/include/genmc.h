#ifndef MEMFENCE_GENMC_H
#define MEMFENCE_GENMC_H
void __VERIFIER_assume(int);
#endif
