/* Lets Spin read models with fences: it checks sequential consistency, where a fence does nothing. memfence ignores this. */
#ifndef MEMFENCE
#define mfence() skip
#define sfence() skip
#define lock() atomic { skip
#define unlock() skip }
#endif
