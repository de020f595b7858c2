#include <stdarg.h>
static int sum(int count, ...)
{
    va_list list;
    va_start(list, count);
    int total = va_arg(list, int);
    va_end(list);
    return total;
}
int main(void)
{
    return sum(1, 2);
}
