int main(void)
{
    unsigned a;
    __asm__ volatile("cpuid" : "=a"(a) : "a"(0) : "ebx", "ecx", "edx");
    return (int)a;
}
