/* Variables that are used after their block was left, their function has returned or their thread has ended. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct node { int value; };
static int *kept;
static _Atomic(int *) published;
static atomic_int done;
static _Thread_local int own = 3;
static _Thread_local struct node own_node;
static _Atomic(struct node *) published_node;

static void keep(int *where) { kept = where; }

static void *worker(void *unused)
{
#if KIND == 1 || KIND == 2 /* 1 uses it inside alone */
    for (int i = 0; i < 2; i++) {
        int x = i;
        keep(&x);
        *kept = 5;
        assert(x == 5);
    }
#if KIND == 2
    *kept = 1;
#endif
#elif KIND == 3
    if (done) {
        int x = 1;
        keep(&x);
    } else {
        int y = 2;
        keep(&y);
    }
    return (void *)(long)*kept;
#elif KIND == 4 || KIND == 5 /* 4 waits for the user */
    {
        int x = 0;
        atomic_store(&published, &x);
#if KIND == 4
        while (!atomic_load(&done))
            ;
#endif
    }
#elif KIND == 6
    char *bytes;
    {
        char buffer[8];
        memset(buffer, 1, 8);
        bytes = buffer;
    }
    memset(bytes, 0, 8);
#elif KIND == 7 /* out of the block and into it again: right */
    int rounds = 0;
again:;
    {
        int x = rounds;
        keep(&x);
        rounds++;
        if (rounds < 3)
            goto again;
        assert(*kept == 2);
    }
#elif KIND == 8
    switch (atomic_load(&done)) {
    case 0: {
        int x = 1;
        keep(&x);
        break;
    }
    default: {
        int y = 2;
        keep(&y);
    }
    }
    return (void *)(long)*kept;
#elif KIND == 9 /* right */
    {
        int x = 1;
        keep(&x);
        {
            int y = 2;
            keep(&y);
            if (done)
                return unused;
        }
        kept = &x;
        *kept = 3;
    }
#elif KIND == 10
    for (int i = 0; i < 3; i++) {
        int x = i;
        keep(&x);
        if (i == 1)
            break;
    }
    *kept = 2;
#elif KIND == 11
    {
        int x = 1;
        atomic_store(&published, &x);
        pthread_exit(unused);
    }
#elif KIND == 12 || KIND == 13 /* 13 waits for the user */
    own = 4;
    atomic_store(&published, &own);
#if KIND == 13
    while (!atomic_load(&done))
        ;
#endif
#elif KIND == 14
    own_node.value = 1;
    atomic_store(&published_node, &own_node);
#endif
    return unused;
}

static void *user(void *given)
{
#if KIND == 14
    struct node *p = atomic_load(&published_node);
    if (p) {
        struct node copy = *p;
        assert(copy.value == 1);
    }
#elif KIND >= 15
    int *p = given;
    assert(*p == 3);
    *p = 4;
#else
    int *p = atomic_load(&published);
    if (p)
        *p = 9;
    atomic_store(&done, 1);
#endif
    return given;
}

int main(void)
{
    pthread_t a, b;
#if KIND == 15 /* right: main lives */
    pthread_create(&b, 0, user, &own);
    pthread_join(b, 0);
    assert(own == 4);
#elif KIND == 16
    int mine = 3;
    pthread_create(&b, 0, user, &mine);
    pthread_exit(0);
#elif KIND == 17
    pthread_create(&b, 0, user, &own);
    pthread_exit(0);
#elif KIND == 18
    {
        int mine = 3;
        pthread_create(&b, 0, user, &mine);
    }
    pthread_join(b, 0);
#elif KIND == 19 /* right */
    {
        int mine = 3;
        pthread_create(&b, 0, user, &mine);
        pthread_join(b, 0);
    }
#else
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
#endif
    return 0;
}
