/* Lengths that are known only at run time, blocks that grow, and functions that compare or copy by the byte. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int length;
static char shared[8];
static int *grown;

static void *chooser(void *unused)
{
    atomic_store(&length, LENGTH);
#if KIND == 4
    grown[0] = 1;
#endif
    return unused;
}

int main(void)
{
    pthread_t a;
#if KIND == 4
    grown = malloc(sizeof *grown);
#endif
    pthread_create(&a, 0, chooser, 0);
#if KIND == 1
    char mine[8] = "abcdefg";
    int n = atomic_load(&length);
    memcpy(shared, mine, n);
    assert(shared[0] == (n ? 'a' : 0) && (n >= 8 || shared[n] == 0));
#elif KIND == 2
    char mine[8];
    memset(mine, 0, atomic_load(&length));
#elif KIND == 3
    int n = atomic_load(&length);
    char *bytes = malloc(n + 1);
    int *zeros = calloc(n + 1, sizeof *zeros);
    bytes[n] = 1;
    assert(zeros[n] == 0);
    bytes[8] = 1;
    free(bytes);
    free(zeros);
#elif KIND == 4 /* always wrong: the block moves while it is used */
    grown = realloc(grown, 8);
#elif KIND == 5
    char first[3] = {1, 2, (char)atomic_load(&length)}, second[3] = {1, 2, 8};
    int order = memcmp(first, second, 3);
    assert(memcmp(first, second, 2) == 0 && memcmp("a", "b", 1) < 0);
    assert(order < 0);
#elif KIND == 6
    int *block = calloc(1, sizeof *block);
    block[0] = 7;
    block = realloc(block, 3 * sizeof *block);
    assert(block[0] == 7);
    block[atomic_load(&length) / 3] = 1;
    free(block);
#elif KIND == 7
    char text[6];
    strncpy(text, "abcdefgh", 6);
    assert(text[5] == 'f');
    strncpy(text, "x", 6);
    assert(text[0] == 'x' && text[1] == 0 && text[5] == 0);
    int *block = malloc(sizeof *block);
    if (atomic_load(&length) > 8)
        free(block);
    block = realloc(block, 8);
    free(block);
#endif
    pthread_join(a, 0);
    return 0;
}
