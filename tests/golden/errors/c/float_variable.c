float scale;
int main(void)
{
    return scale > 1.0f;
}
