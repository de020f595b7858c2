/* Two threads update one atomic variable of TYPE; every update counts, also where the number wraps. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static _Atomic TYPE cell = START;

static void *work(void *unused)
{
    UPDATE;
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&cell) == (TYPE)(END));
    return 0;
}
