typedef int four __attribute__((vector_size(16)));
static four a, b;
int main(void)
{
    a = a + b;
    return a[0];
}
