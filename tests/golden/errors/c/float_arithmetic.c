double average(double a, double b)
{
    return (a + b) / 2;
}
int main(void)
{
    return average(1.0, 2.0) > 1.0;
}
