_Static_assert(sizeof(int) == 8, "int must have 64 bits");
int main(void) { return 0; }
