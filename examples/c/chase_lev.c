/* A work-stealing deque (Chase and Lev, SPAA 2005) without its fence.
 *
 * The owner takes from the bottom: it lowers `bottom` and then reads `top`. A thief reads `top`, then `bottom`. If the
 * owner's read overtakes its store, both take the last element. One fence in take() is enough on x86.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int top, bottom;
static atomic_int taken[2];
static atomic_int elements[2];

static void take_element(int index)
{
    int before = atomic_fetch_add(&taken[index], 1);
    assert(before == 0);
}

static void *owner(void *unused)
{
    for (int index = 0; index < 2; index++) {
        atomic_store_explicit(&elements[index], index, memory_order_relaxed);
        atomic_store_explicit(&bottom, index + 1, memory_order_release);
    }
    for (int round = 0; round < 2; round++) {
        int index = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
        atomic_store_explicit(&bottom, index, memory_order_relaxed);
        int first = atomic_load_explicit(&top, memory_order_relaxed);
        if (first < index) {
            take_element(atomic_load_explicit(&elements[index], memory_order_relaxed));
            continue;
        }
        if (first == index && atomic_compare_exchange_strong(&top, &first, first + 1))
            take_element(atomic_load_explicit(&elements[index], memory_order_relaxed));
        atomic_store_explicit(&bottom, index + 1, memory_order_relaxed);
    }
    return 0;
}

static void *thief(void *unused)
{
    for (int round = 0; round < 2; round++) {
        int first = atomic_load_explicit(&top, memory_order_acquire);
        int last = atomic_load_explicit(&bottom, memory_order_acquire);
        if (first < last) {
            int index = atomic_load_explicit(&elements[first], memory_order_relaxed);
            if (atomic_compare_exchange_strong(&top, &first, first + 1))
                take_element(index);
        }
    }
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, owner, 0);
    pthread_create(&b, 0, thief, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
