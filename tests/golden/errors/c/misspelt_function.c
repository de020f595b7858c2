int pthread_mutex_lok(void *);
int main(void)
{
    int m = 0;
    return pthread_mutex_lok(&m);
}
