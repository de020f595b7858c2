#include <stdexcept>
int main()
{
    try {
        throw std::runtime_error("no");
    } catch (const std::exception &) {
    }
}
