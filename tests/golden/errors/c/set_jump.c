#include <setjmp.h>
static jmp_buf place;
int main(void)
{
    return setjmp(place);
}
