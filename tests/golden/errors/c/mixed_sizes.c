#include <pthread.h>
static volatile union { int whole; short half[2]; } cell;
static void *work(void *unused)
{
    cell.half[0] = 1;
    return 0;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    return cell.whole;
}
