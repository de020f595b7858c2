#include <unistd.h>
int main(void)
{
    return fork() ? 1 : 0;
}
