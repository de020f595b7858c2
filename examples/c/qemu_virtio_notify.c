/* A missing interrupt: QEMU, commit a281ebc11a ("virtio: add missing mb() on notification").
 *
 * The device publishes the index of a used buffer and then reads a flag with which the driver may suppress interrupts.
 * The driver enables interrupts, executes a barrier, and looks at the index again before it sleeps. Without a barrier
 * of its own the device may read the old flag while its index is still in the store buffer: the driver sleeps, and no
 * interrupt comes.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static atomic_int used_index;
static atomic_int no_interrupt = 1;
static sem_t interrupt;

static void *device(void *unused)
{
    atomic_store_explicit(&used_index, 1, memory_order_release);
    if (!atomic_load_explicit(&no_interrupt, memory_order_relaxed))
        sem_post(&interrupt);
    return 0;
}

static void *driver(void *unused)
{
    atomic_store_explicit(&no_interrupt, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&used_index, memory_order_acquire) == 0)
        sem_wait(&interrupt);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&interrupt, 0, 0);
    pthread_create(&a, 0, device, 0);
    pthread_create(&b, 0, driver, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
