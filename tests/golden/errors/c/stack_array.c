#include <pthread.h>
volatile int length = 3;
static void *work(void *unused)
{
    int items[length];
    items[0] = 1;
    return (void *)(long)items[0];
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    length = 4;
    return 0;
}
