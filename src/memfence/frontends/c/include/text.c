/* Text and memory byte by byte, for what other threads use as well; `library/text.py` does the rest at once. */
#include <stddef.h>

int memfence_memcmp(const void *first, const void *second, size_t size)
{
    const unsigned char *a = first, *b = second;
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

void *memfence_memchr(const void *begin, int wanted, size_t size)
{
    const unsigned char *a = begin;
    for (size_t i = 0; i < size; i++)
        if (a[i] == (unsigned char)wanted) return (void *)(a + i);
    return 0;
}

size_t memfence_strlen(const char *text)
{
    size_t length = 0;
    while (text[length]) length++;
    return length;
}

int memfence_strcmp(const char *first, const char *second)
{
    const unsigned char *a = (const unsigned char *)first, *b = (const unsigned char *)second;
    while (*a && *a == *b) a++, b++;
    return *a < *b ? -1 : *a > *b;
}
