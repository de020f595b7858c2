// Thread-local variables of the program.
//
// Its code asks for `%fs:0` and finds them below that address; `with_visible_fences` (binary/assembler.py) adds
// `memfence_variables`, which is 0 in a program that just runs. Explored, each thread has a copy of that whole area.
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "complain.hpp"
#include "own_heap.hpp"
#include "pages.hpp"
#include "real.hpp"

extern "C" __attribute__((visibility("default"))) std::ptrdiff_t memfence_variables = 0;

namespace memfence::running {

namespace {

constexpr std::uintptr_t kVariables = 0x310000000000;  // where a schedule that was saved finds them again
constexpr std::size_t kPageSize = 4096;

List<char> main_area_, thread_area_;

char* thread_base() {
  char* base = nullptr;
  asm("movq %%fs:0, %0" : "=r"(base));
  return base;
}

std::size_t area_size() { return static_cast<std::size_t>(thread_base() - local_storage_begin()); }

// As main has it now, and as a new thread has it.
void remember() {
  const std::size_t size = area_size();
  main_area_.resize(size);
  std::memcpy(main_area_.data(), local_storage_begin(), size);
  List<char> now(local_storage_size()), fresh(local_storage_size());
  save_local_storage(now.data());
  fill_local_storage(fresh.data());
  load_local_storage(fresh.data());
  thread_area_.resize(size);
  std::memcpy(thread_area_.data(), local_storage_begin(), size);
  load_local_storage(now.data());
}

}  // namespace

char* make_variables(int thread) {
  if (local_storage_begin() == nullptr) return nullptr;
  if (main_area_.empty()) remember();
  const auto base = reinterpret_cast<std::uintptr_t>(thread_base());
  const std::size_t room = (area_size() / kPageSize + 3) * kPageSize;
  auto* wanted = reinterpret_cast<void*>(kVariables + static_cast<std::size_t>(thread) * room);
  void* block = MEMFENCE_REAL(mmap, wanted, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) give_up("no room for thread-local variables");
  return static_cast<char*>(block) + room - kPageSize + base % kPageSize;  // aligned as the real ones are
}

void fill_variables(char* variables, bool is_main) {
  if (variables == nullptr) return;
  const List<char>& area = is_main ? main_area_ : thread_area_;
  __builtin_memcpy(variables - area.size(), area.data(), area.size());
}

char* variables_begin(char* variables) { return variables - area_size(); }

void use_variables(char* variables) { memfence_variables = variables == nullptr ? 0 : variables - thread_base(); }

void* as_program_sees(void* variable) { return static_cast<char*>(variable) + memfence_variables; }

}  // namespace memfence::running
