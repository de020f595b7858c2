// The memory of this process, as the system tells it: every system in its own way.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "search/limits.hpp"

#ifdef __APPLE__
#include <mach/mach.h>
#endif

namespace memfence {

std::uint64_t peak_bytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#ifdef __APPLE__
  constexpr std::uint64_t kUnit = 1;
#else
  constexpr std::uint64_t kUnit = 1024;
#endif
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kUnit;
}

#ifdef __APPLE__

std::uint64_t resident_bytes() {
  mach_task_basic_info info{};
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  const auto told = task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&info), &count);
  return told == KERN_SUCCESS ? info.resident_size : peak_bytes();
}

#else

std::uint64_t resident_bytes() {
  if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
    char pages[128] = "";  // all of them, those that are resident, and so on
    const bool is_told = std::fgets(pages, sizeof pages, f) != nullptr;
    std::fclose(f);
    char* rest = nullptr;
    std::strtoull(pages, &rest, 10);
    if (is_told) return std::strtoull(rest, nullptr, 10) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }
  return peak_bytes();
}

#endif

}  // namespace memfence
