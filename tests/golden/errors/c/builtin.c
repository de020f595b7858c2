int main(void)
{
    return __builtin_ia32_rdtsc() > 5;
}
