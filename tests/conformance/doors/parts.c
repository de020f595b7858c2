/* Parts of words: unions, bit-fields, bytes of an integer, copies; WRONG says the opposite. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#ifdef WRONG
#define CLAIM(x) assert(!(x))
#else
#define CLAIM(x) assert(x)
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int rounds;

#if PART == 1
static union { uint32_t word; uint16_t half[2]; uint8_t byte[4]; } u;
static void change(void) { u.word = 0x01020304; u.byte[1] = 9; }
static int is_right(void) { return u.word == 0x01020904 && u.half[0] == 0x0904; }
#elif PART == 2
static struct { unsigned a : 20; unsigned char tail; } s;
static void change(void) { s.tail = 7; s.a = 1; }
static int is_right(void) { return s.tail == 7 && s.a == 1; }
#elif PART == 3
static struct { unsigned a : 3, b : 5, c : 24; } s;
static void change(void) { s.a = 5; s.b = 17; s.c = 0xABCDEF; }
static int is_right(void) { return s.a == 5 && s.b == 17 && s.c == 0xABCDEF; }
#elif PART == 4
static struct { long a : 40; long b : 24; } s;
static void change(void) { s.a = -1; s.b = 3; }
static int is_right(void) { return s.a == -1 && s.b == 3; }
#elif PART == 5
static uint64_t word;
static void change(void) { struct { int32_t low, high; } two = {-1, 1}; memcpy(&word, &two, sizeof word); }
static int is_right(void) { return word == 0x1FFFFFFFFu; }
#elif PART == 6
static uint64_t word;
static void change(void) { word = 0; ((uint8_t *)&word)[7] = 0x80; }
static int is_right(void) { return word == 0x8000000000000000u; }
#elif PART == 7
static union { int64_t wide; int32_t narrow[2]; } u;
static void change(void) { u.narrow[0] = 1; u.narrow[1] = 1; }
static int is_right(void) { return u.wide == 0x100000001; }
#elif PART == 8
static struct { signed a : 1; unsigned b : 1; signed c : 7; } s;
static void change(void) { s.a = -1; s.b = 1; s.c = -64; }
static int is_right(void) { return s.a == -1 && s.b == 1 && s.c == -64; }
#elif PART == 9
static struct { uint8_t bytes[8]; } s;
static void change(void) { memset(&s, 0x11, sizeof s); s.bytes[3] = 0; }
static int is_right(void) { uint64_t w; memcpy(&w, &s, 8); return w == 0x1111111100111111u; }
#elif PART == 10
static struct { unsigned long a : 48; unsigned char tail[2]; } s;
static void change(void) { s.tail[0] = 1; s.tail[1] = 2; s.a = 0xFFFFFFFFFFFFu; }
static int is_right(void) { return s.tail[0] == 1 && s.tail[1] == 2 && s.a == 0xFFFFFFFFFFFFu; }
#endif

static void *work(void *unused)
{
    pthread_mutex_lock(&mutex);
    change();
    rounds++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    CLAIM(is_right() && rounds == 2);
    return 0;
}
