/* Indices of arrays that lie beside other members. INDEX 4 is one too many, but where only the address is computed, and
   -1 is one too few. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct between { int array[4]; int next; };
struct one_at_the_end { int count; int array[1]; };
struct open_at_the_end { int count; int array[]; };
struct rows { int row[2][4]; int next; };
struct link { struct link *next; };
struct item { int key; struct link link; int value; };

static struct between shared;
static struct rows matrix;
static struct item item;
static struct one_after { int count; int array[4]; } after;
static atomic_int index_of;

static void *chooser(void *unused)
{
    atomic_store(&index_of, INDEX);
    return unused;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, chooser, 0);
#if KIND == 1
    shared.array[atomic_load(&index_of)] = 1;
#elif KIND == 2
    shared.array[INDEX] = 1;
#elif KIND == 3
    struct between mine;
    memset(&mine, 0, sizeof mine);
    mine.array[INDEX] = 1;
    memcpy(&shared, &mine, sizeof shared);
#elif KIND == 4 /* always right */
    for (int *p = shared.array, *end = &shared.array[4]; p != end; p++)
        *p = 1;
#elif KIND == 5
    struct one_at_the_end *p = malloc(sizeof *p + 3 * sizeof(int));
    p->array[INDEX] = 1;
    free(p);
#elif KIND == 6
    struct open_at_the_end *p = malloc(sizeof *p + 4 * sizeof(int));
    p->array[INDEX] = 1;
    free(p);
#elif KIND == 7
    matrix.row[0][INDEX] = 1;
#elif KIND == 8 /* always right */
    struct link *link = &item.link;
    struct item *whole = (struct item *)((char *)link - offsetof(struct item, link));
    whole->key = whole->value = INDEX;
#elif KIND == 9
    struct between *p = calloc(1, sizeof *p);
    p->array[(unsigned char)atomic_load(&index_of)] = 1;
    free(p);
#elif KIND == 10 /* right up to 4 */
    int *p = &shared.array[INDEX];
    assert(p);
#elif KIND == 11 /* always right */
    int i = atomic_load(&index_of);
    if (i >= 0 && i < 4)
        shared.array[i] = 2;
#elif KIND == 12 /* the last member may be longer, but begins where it begins */
    after.array[INDEX] = 1;
#elif KIND == 13
    for (int i = 3; i >= INDEX; i--)
        after.array[i] = 1;
#elif KIND == 14
    struct one_after mine = {0};
    for (int i = 3; i >= INDEX; i--)
        mine.array[i] = 1;
    assert(mine.array[0] == 1);
#elif KIND == 15
    int i = 3;
    while (i > INDEX && after.array[i] == 0)
        i--;
    assert(after.array[i] == 0);
#elif KIND == 16
    struct one_after *p = calloc(1, sizeof *p);
    int i = INDEX;
    p->array[i] = 1;
    free(p);
#endif
    pthread_join(a, 0);
    return 0;
}
