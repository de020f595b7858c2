#include <pthread.h>
union word { unsigned long whole; unsigned char part[8]; };
static volatile union word shared;
static void *work(void *u) { shared.whole = 1; return 0; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    shared.part[3] = 1;
    return shared.part[2];
}
