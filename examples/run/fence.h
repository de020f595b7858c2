/* A fence where FENCED is defined, nothing elsewhere. */
#ifdef FENCED
#define FENCE __atomic_thread_fence(__ATOMIC_SEQ_CST)
#else
#define FENCE (void)0
#endif
