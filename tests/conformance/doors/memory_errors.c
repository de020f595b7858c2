/* What memory forbids, where one thread was quicker than the other; RIGHT waits for it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node { int value; struct node *next; };
static struct node *shared;
static atomic_int done;

static void *user(void *unused)
{
#if ERROR == 1 || ERROR == 2 || ERROR == 3
    shared->value = 1;
#elif ERROR == 4
    shared->value = 1;
    free(shared);
#endif
    atomic_store(&done, 1);
    return unused;
}

static void *owner(void *unused)
{
#ifdef RIGHT
    while (!atomic_load(&done))
        ;
#endif
#if ERROR == 1 /* use after free */
    free(shared);
#elif ERROR == 2 /* null */
    struct node *kept = shared;
    *(struct node *volatile *)&shared = 0;
    free(kept);
#elif ERROR == 3 /* out of bounds */
    int *few = malloc(2 * sizeof *few);
    few[atomic_load(&done) ? 1 : 2] = 1;
    free(few);
#elif ERROR == 4 && !defined RIGHT /* freed twice */
    free(shared);
#elif ERROR == 5 /* never written */
    int *word = malloc(sizeof *word);
    if (atomic_load(&done))
        *word = 1;
    if (*word)
        done = 2;
    free(word);
#endif
    return unused;
}

int main(void)
{
    pthread_t a, b;
    shared = calloc(1, sizeof *shared);
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, owner, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
