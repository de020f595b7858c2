#include <stdlib.h>
int main(void)
{
    char *p = malloc(4);
    p = realloc(p, 0);
    return p == 0;
}
