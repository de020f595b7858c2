#include <pthread.h>
#include <stdlib.h>
volatile int length = 3;
static void *work(void *unused)
{
    return malloc(length);
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    length = 4;
    return 0;
}
