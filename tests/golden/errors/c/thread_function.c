#include <pthread.h>
void *worker(void *);
int main(void)
{
    pthread_t t;
    return pthread_create(&t, 0, worker, 0);
}
