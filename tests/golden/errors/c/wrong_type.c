struct point { int x; };
int main(void)
{
    struct point p = {1};
    return p + 1;
}
