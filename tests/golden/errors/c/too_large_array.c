static char cells[1ull << 62];
int main(void)
{
    return cells[1];
}
