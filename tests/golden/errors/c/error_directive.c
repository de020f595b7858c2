#error this file needs a newer compiler
int main(void) { return 0; }
