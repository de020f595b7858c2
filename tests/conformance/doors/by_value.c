/* Structs that are passed, returned and assigned by value, in one register, in two, or by memory. */
#include <assert.h>
#include <pthread.h>

#if SHAPE == 1
struct pair { int first, second; };
#elif SHAPE == 2
struct pair { char first; int second; };
#elif SHAPE == 3
struct pair { short first, second; };
#elif SHAPE == 4
struct pair { long first; char second; };
#elif SHAPE == 5
struct pair { int first, second, third; };
#elif SHAPE == 6
struct pair { long first, second; };
#elif SHAPE == 7
struct pair { long first, second, third; };
#elif SHAPE == 8
struct pair { unsigned char first, second, third; };
#elif SHAPE == 9
struct pair { int *where; int first, second; };
#endif

static struct pair shared;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct pair swapped(struct pair p)
{
    struct pair q = p;
    q.first = p.second;
    q.second = p.first;
    return q;
}

static void *work(void *unused)
{
    struct pair mine;
    pthread_mutex_lock(&mutex);
    mine = swapped(shared);
    shared = mine;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    shared.first = 3;
    shared.second = 5;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(shared.first == FIRST && shared.second == 8 - FIRST);
    return 0;
}
