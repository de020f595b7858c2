#include <signal.h>
int main(void)
{
    struct sigaction action = {0};
    return sigaction(SIGINT, &action, 0);
}
