#include <pthread.h>
static volatile int cells[1000000000];
static void *work(void *u) { cells[5] = 1; return 0; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    return cells[999999999];
}
