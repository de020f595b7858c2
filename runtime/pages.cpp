#include "pages.hpp"

#include <link.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "complain.hpp"
#include "own_heap.hpp"

namespace memfence::running {

namespace {

constexpr std::uintptr_t kPage = 4096;

struct Page {
  char* at;
  const char* content;
  bool is_written;
};
struct Storage {
  char* at;
  std::size_t size;
  const char* image;  // what a new thread begins with
  std::size_t image_size;
};
struct Code {
  std::uintptr_t begin = 0, end = 0;
};

List<Page> pages_;    // by address
List<Page*> written_;
List<Storage> storage_;
std::size_t storage_size_ = 0;
char *storage_begin_ = nullptr, *storage_end_ = nullptr;
Code program_;
Destructors destructors_;
void* load_address_ = nullptr;

bool is_left_out(const char* name) {
  return std::strstr(name, "libmemfence_runtime") != nullptr || std::strstr(name, "/ld-linux") != nullptr ||
         std::strstr(name, "linux-vdso") != nullptr;
}

void add_pages(char* begin, char* end) {
  for (char* at = begin; at < end; at += kPage) pages_.push_back({at, nullptr, false});
}

void add_storage(const dl_phdr_info& info, const ElfW(Phdr) & header, bool is_program) {
  if (info.dlpi_tls_data == nullptr) return;
  auto* at = static_cast<char*>(info.dlpi_tls_data);
  const char* image = is_program ? reinterpret_cast<const char*>(info.dlpi_addr + header.p_vaddr) : nullptr;
  storage_.push_back({at, header.p_memsz, image, header.p_filesz});
  storage_size_ += header.p_memsz;
  if (storage_begin_ == nullptr || at < storage_begin_) storage_begin_ = at;
  if (at + header.p_memsz > storage_end_) storage_end_ = at + header.p_memsz;
}

void find_destructors(std::uintptr_t load_address, const ElfW(Dyn) * entry) {
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_FINI_ARRAY) destructors_.first = reinterpret_cast<void (**)()>(load_address + entry->d_un.d_ptr);
    if (entry->d_tag == DT_FINI_ARRAYSZ) destructors_.count = entry->d_un.d_val / sizeof(void*);
  }
}

int visit(dl_phdr_info* info, std::size_t, void*) {
  const bool is_program = info->dlpi_name[0] == '\0';
  if (!is_program && is_left_out(info->dlpi_name)) return 0;
  if (is_program) load_address_ = reinterpret_cast<void*>(info->dlpi_addr);
  std::uintptr_t relro_begin = 0, relro_end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info->dlpi_phdr[i];
    if (header.p_type != PT_GNU_RELRO) continue;
    relro_begin = info->dlpi_addr + header.p_vaddr;
    relro_end = (relro_begin + header.p_memsz) & ~(kPage - 1);
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info->dlpi_phdr[i];
    if (header.p_type == PT_TLS) add_storage(*info, header, is_program);
    if (is_program && header.p_type == PT_DYNAMIC)
      find_destructors(info->dlpi_addr, reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + header.p_vaddr));
    if (header.p_type != PT_LOAD) continue;
    std::uintptr_t begin = info->dlpi_addr + header.p_vaddr, end = begin + header.p_memsz;
    if (is_program && (header.p_flags & PF_X) != 0) program_ = {begin, end};
    if ((header.p_flags & PF_W) == 0) continue;
    begin &= ~(kPage - 1);
    if (begin < relro_end && relro_begin <= begin + kPage) begin = relro_end;
    add_pages(reinterpret_cast<char*>(begin), reinterpret_cast<char*>((end + kPage - 1) & ~(kPage - 1)));
  }
  return 0;
}

Page* find(const void* address) {
  std::size_t low = 0, high = pages_.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (pages_[middle].at + kPage <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low < pages_.size() && pages_[low].at <= address ? &pages_[low] : nullptr;
}

void sort_pages() {
  for (std::size_t i = 1; i < pages_.size(); ++i)
    for (std::size_t k = i; k > 0 && pages_[k].at < pages_[k - 1].at; --k) {
      const Page page = pages_[k];
      pages_[k] = pages_[k - 1];
      pages_[k - 1] = page;
    }
}

}  // namespace

void take_snapshot(char* more_begin, char* more_end) {
  pages_.reserve(1 << 14);
  dl_iterate_phdr(visit, nullptr);
  add_pages(more_begin, more_end);
  sort_pages();
  written_.reserve(pages_.size());
  auto* copies =
      static_cast<char*>(mmap(nullptr, pages_.size() * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (copies == MAP_FAILED) give_up("no room to remember the program's memory");
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    std::memcpy(copies + i * kPage, pages_[i].at, kPage);
    pages_[i].content = copies + i * kPage;
  }
  for (Storage& storage : storage_)
    if (storage.image == nullptr) {
      auto* image = static_cast<char*>(allocate_own(storage.size));
      std::memcpy(image, storage.at, storage.size);
      storage.image = image;
      storage.image_size = storage.size;
    }
  for (const Page& page : pages_) mprotect(page.at, kPage, PROT_READ);
}

bool admit_write(void* address) {
  Page* page = find(address);
  if (page == nullptr || page->is_written) return false;
  page->is_written = true;
  written_.push_back(page);
  mprotect(page->at, kPage, PROT_READ | PROT_WRITE);
  return true;
}

void restore_snapshot() {
  for (const Page* page : written_) std::memcpy(page->at, page->content, kPage);
}

void each_written_page(const std::function<void(const char*, std::size_t)>& visit) {
  for (const Page* page : written_) visit(page->at, kPage);
}

std::size_t local_storage_size() { return storage_size_; }

void save_local_storage(char* into) {
  for (const Storage& storage : storage_) {
    __builtin_memcpy(into, storage.at, storage.size);
    into += storage.size;
  }
}

void load_local_storage(const char* from) {
  for (const Storage& storage : storage_) {
    __builtin_memcpy(storage.at, from, storage.size);
    from += storage.size;
  }
}

void fill_local_storage(char* into) {
  for (const Storage& storage : storage_) {
    std::memcpy(into, storage.image, storage.image_size);
    std::memset(into + storage.image_size, 0, storage.size - storage.image_size);
    into += storage.size;
  }
}

bool is_local_storage(const void* address) { return address >= storage_begin_ && address < storage_end_; }

char* local_storage_begin() { return storage_begin_; }

void* load_address() { return load_address_; }

const Destructors& program_destructors() { return destructors_; }

bool is_program_code(const void* pc) {
  const auto at = reinterpret_cast<std::uintptr_t>(pc);
  return at >= program_.begin && at < program_.end;
}

}  // namespace memfence::running
