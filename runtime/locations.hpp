// Which memory threads share, where executions are explored as graphs: bytes as locations.
//
// An access is an event only if it is atomic, or its location is written by one thread and touched by another, once there are
// threads.
// Nobody knows beforehand: it is learned while the program runs, and whenever something new is seen, exploration begins
// again. Unlike cells (cells.hpp), locations are never larger than what is accessed as a whole: what is not atomic is cut
// where accesses differ, since accesses of parts that do not overlap do not race. Atomic accesses of one place have one size.
#pragma once

#include "cells.hpp"

namespace memfence::running {

// A part of an access that lies in one location. `number`: of the location, -1 where it is not shared. `cell`: the whole
// location, which is more than the part where a plain access meets a part of something atomic.
struct Part {
  char* at;
  std::size_t size;
  int number;
  Cell cell;
  bool is_whole() const { return cell.address == at && cell.size == size; }
};

class Locations {
 public:
  // Note an access of up to eight bytes that do not cross a multiple of eight. Its parts are added to `into`. False: it is
  // atomic, and overlaps something atomic of another size. `numbers`: where shared locations get their numbers.
  bool touch(char* address, std::size_t size, int thread, bool writes, bool is_atomic, Cells& numbers, List<Part>& into);
  // A thread frees the block, or ends with it: that writes all that others know of it.
  void lose(char* begin, std::size_t size, int thread, Cells& numbers, List<Part>& into);

 private:
  struct Location {
    Cell cell;
    std::uint64_t readers = 0, writers = 0;  // threads
    int number = -1;
    bool is_atomic = false;
    std::uint32_t accesses = 0;
  };
  struct Word {
    std::uintptr_t key = 0;  // 0: empty
    std::int32_t bytes[8];
  };
  Word* look(std::uintptr_t key);
  Word& make(std::uintptr_t key);
  void grow();
  std::int32_t cut_out(Word& word, unsigned first, unsigned last, Cells& numbers);
  void note(Location& location, int thread, bool writes, Cells& numbers);

  List<Word> table_;
  std::size_t used_ = 0;
  List<Location> locations_;
};

}  // namespace memfence::running
