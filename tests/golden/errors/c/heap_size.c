#include <pthread.h>
#include <stdlib.h>
volatile int length = 3;
static void *other(void *unused)
{
    for (int n = 0; n < 100; n++)
        length = n;
    return unused;
}
static void *work(void *unused)
{
    return malloc(length);
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_create(&t, 0, other, 0);
    return 0;
}
