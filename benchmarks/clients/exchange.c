/* PRODUCERS threads hand one item each to a consumer, through PUT(item) and TAKE(item), which says whether it got one. The
 * rest is taken at the end: every item once, with the content that its producer gave it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include HEADER

#ifndef PRODUCERS
#define PRODUCERS 1
#endif
#ifndef EACH
#define EACH 1
#endif
struct item {
    NODE
    int content;
};
static struct item items[PRODUCERS * EACH];
static int taken[PRODUCERS * EACH], last = -1;
SHARED

static void *produce(void *argument)
{
    for (int i = 0; i < EACH; i++) {
        struct item *item = &items[(long)argument * EACH + i];
        item->content = 10 + (int)(item - items);
        PUT(item);
    }
    return 0;
}

static void *consume(void *argument)
{
    struct item *item = 0;
    if (TAKE(item)) {
        long which = item - items;
        assert(item->content == 10 + which);
        taken[which]++;
#ifdef IN_ORDER
        assert(which == last + 1);
        last = (int)which;
#endif
    }
    return argument;
}

int main(void)
{
    pthread_t producers[PRODUCERS], consumer;
    START;
    for (long i = 0; i < PRODUCERS; i++) pthread_create(&producers[i], 0, produce, (void *)i);
    pthread_create(&consumer, 0, consume, 0);
    for (int i = 0; i < PRODUCERS; i++) pthread_join(producers[i], 0);
    pthread_join(consumer, 0);
    for (int i = 0; i < PRODUCERS * EACH; i++) consume(0);
    for (int i = 0; i < PRODUCERS * EACH; i++) assert(taken[i] == 1);
    return 0;
}
