int main(void)
{
    return counter;
}
