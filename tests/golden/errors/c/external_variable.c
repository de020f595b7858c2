#include <pthread.h>
extern void start(void *(*)(void *));
static void *work(void *unused) { return 0; }
int main(void)
{
    start(work);
    return 0;
}
