/* A seqlock: `main` writes two words, any number of readers see both of one write, or look again.
 *
 * The sequence number does not wrap: there are WRITES writes. x86 needs no fence, since it keeps the order of stores and of
 * loads. With BROKEN, readers do not look at the number again.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define WRITES 2

extern int __VERIFIER_nondet_int(void);

static atomic_int sequence, first, second;

static void *reader(void *unused)
{
    int before, one, two, after;
    do {
        before = atomic_load_explicit(&sequence, memory_order_acquire);
        one = atomic_load_explicit(&first, memory_order_acquire);
        two = atomic_load_explicit(&second, memory_order_acquire);
#ifdef BROKEN
        after = before;
#else
        after = atomic_load_explicit(&sequence, memory_order_relaxed);
#endif
    } while (before != after || before % 2);
    assert(one == two);
    return 0;
}

int main(void)
{
    while (__VERIFIER_nondet_int()) {
        pthread_t thread;
        pthread_create(&thread, 0, reader, 0);
    }
    for (int number = 1; number <= WRITES; number++) {
        atomic_store_explicit(&sequence, 2 * number - 1, memory_order_release);
        atomic_store_explicit(&first, number, memory_order_release);
        atomic_store_explicit(&second, number, memory_order_release);
        atomic_store_explicit(&sequence, 2 * number, memory_order_release);
    }
    return 0;
}
