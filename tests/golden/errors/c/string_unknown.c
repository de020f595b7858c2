#include <pthread.h>
#include <string.h>
static char *volatile name;
static void *work(void *unused)
{
    name = "b";
    return 0;
}
int main(void)
{
    pthread_t t;
    name = "a";
    pthread_create(&t, 0, work, 0);
    return (int)strlen(name);
}
