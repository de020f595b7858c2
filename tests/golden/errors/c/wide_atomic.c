#include <stdatomic.h>
#include <pthread.h>
struct wide { long a, b; };
static _Atomic(struct wide) shared;
static void *work(void *unused)
{
    struct wide w = {1, 2};
    atomic_store(&shared, w);
    return 0;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    struct wide w = atomic_load(&shared);
    return (int)w.a;
}
