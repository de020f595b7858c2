/* A bottom half that is not run again: QEMU, commit e8d3b1a25f ("aio: strengthen memory barriers for bottom half
 * scheduling").
 *
 * Whoever has new work for a bottom half writes it and schedules the bottom half, unless it is scheduled already. The
 * event loop clears `scheduled` and then does the work it finds. If the clearing store, or the store of the work, is
 * still in a store buffer when the other side looks, the work is left undone for ever. Both sides need a barrier.
 */
#include <assert.h>
#include <pthread.h>

static volatile int scheduled = 1;
static volatile int work;
static int done, again;

static void *scheduler(void *unused)
{
    work = 1;
    if (!scheduled)
        again = 1;
    return 0;
}

static void *event_loop(void *unused)
{
    scheduled = 0;
    done = work;
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, scheduler, 0);
    pthread_create(&b, 0, event_loop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(done || again);
    return 0;
}
