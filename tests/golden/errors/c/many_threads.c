#include <pthread.h>
#include <stdatomic.h>
static atomic_int total;
static void *work(void *u) { atomic_fetch_add(&total, 1); return 0; }
int main(void)
{
    pthread_t t[1000];
    for (int n = 0; n < 1000; n++)
        pthread_create(&t[n], 0, work, 0);
    return 0;
}
