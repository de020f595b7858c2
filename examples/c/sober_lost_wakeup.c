/* The lost wake-up of the Sober paper (Burckhardt and Musuvathi, CAV 2008, Fig. 4b), in C.
 *
 * A consumer says that it idles and checks for an element; a producer adds an element and checks for an idling
 * consumer. On paper one of them sees the other; with store buffers both may look too early. Two fences.
 */
#include <pthread.h>
#include <semaphore.h>

static volatile int is_idling;
static volatile int has_element;
static sem_t wake;

static void *consumer(void *unused)
{
    is_idling = 1;
    if (!has_element)
        sem_wait(&wake);
    return 0;
}

static void *producer(void *unused)
{
    has_element = 1;
    if (is_idling)
        sem_post(&wake);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&wake, 0, 0);
    pthread_create(&a, 0, consumer, 0);
    pthread_create(&b, 0, producer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
