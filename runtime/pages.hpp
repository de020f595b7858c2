// The memory that an execution changes, and how it becomes again what it was.
//
// Everything that the program and its libraries can write (but for this runtime and the loader) is copied once, before
// `main`, and then write-protected. The first write to a page is noticed, and from then on the page is copied back at every
// reset. So libc's own state (stdio, random numbers, strtok) goes back as well, and costs nothing where it is not used.
#pragma once

#include <cstddef>
#include <functional>

namespace memfence::running {

// Remember what memory holds now. `more`: a range that was mapped by hand.
void take_snapshot(char* more_begin, char* more_end);
void restore_snapshot();
// A write to a page of the snapshot: let it happen from now on. False: the address is no part of it.
bool admit_write(void* address);

// Blocks of thread-local storage of the running thread, those of this runtime and of the loader left out.
std::size_t local_storage_size();
void save_local_storage(char* into);
void load_local_storage(const char* from);
// What a new thread begins with.
void fill_local_storage(char* into);
bool is_local_storage(const void* address);
char* local_storage_begin();
// Static memory that some execution has written.
void each_written_page(const std::function<void(const char*, std::size_t)>& visit);

// Thread-local variables of the program: each thread has its own, at addresses that others may be told.
char* make_variables(int thread);
void fill_variables(char* variables, bool is_main);
void use_variables(char* variables);
char* variables_begin(char* variables);
// Where the program has the variable that the runtime has there.
void* as_program_sees(void* variable);

// Where the executable was loaded, and whether an address is code of it or of a library that was built with it.
void* load_address();
bool is_program_code(const void* pc);

// Functions that the executable calls destructors: the last one runs first.
struct Destructors {
  void (**first)() = nullptr;
  std::size_t count = 0;
};
const Destructors& program_destructors();

}  // namespace memfence::running
