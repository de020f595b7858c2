// Which memory threads share: learned while the program runs, and kept between executions.
//
// An access is a step of its own only if other threads may notice it: if its cell is written by one thread and touched by
// another while several are alive. Nobody knows beforehand, so the program first runs a few times; whenever something new
// is seen, exploration begins again. What is learned only grows, so that this ends.
#pragma once

#include <cstdint>

#include "fiber.hpp"

namespace memfence::running {

struct CellState {
  Cell cell;
  std::uint64_t readers = 0, writers = 0;  // threads
  int number = -1;                         // among the shared ones
};

class Cells {
 public:
  // Note an access. Returns the number of the cell if it is shared, else -1. `learned` is set if that is news.
  int touch(void* address, std::size_t size, int thread, bool writes);
  // Without noting anything: the number of the cell there, or -1.
  int find(const void* address, std::size_t size) const;
  // A thread frees a block: that writes all cells in it. The shared ones are added to `into`.
  void free_block(char* block, std::size_t size, int thread, List<NumberedAccess>& into);
  // A thread ends, and all in this range with it. The shared cells there are added to `into`.
  void lose(const char* begin, const char* end, int thread, List<NumberedAccess>& into);
  // The number of a synchronisation object or of another thing that has no memory of its own.
  int synchronisation(const void* object, int kind, int thread = -1);
  // Whether no other thread has synchronised by the object so far, in any execution. If one does, that is learned.
  bool is_own(const void* object, int kind, int thread);

  // A location of locations.hpp is shared: that is news. Returns its number.
  int add(const Cell& cell) {
    learned = true;
    shared_.push_back(cell);
    return numbered() - 1;
  }
  // Locks and the like that lie in this memory are added.
  void each_object(const char* begin, const char* end, List<NumberedAccess>& into) const;

  // What a saved schedule knows: the cell is shared, and has the next number.
  void expect(void* address, std::size_t size);
  int numbered() const { return static_cast<int>(shared_.size()); }
  const Cell& shared(int number) const { return shared_[static_cast<std::size_t>(number)]; }
  bool learned = false;
  bool learns = true;
  bool overlooked = false;  // nothing is learned any more, and threads share memory that is not known to be shared

 private:
  struct Granule {
    std::uintptr_t key = 0;  // 0: empty
    std::int32_t cells[8];
  };
  const Granule* look(std::uintptr_t key) const;
  Granule& make(std::uintptr_t key);
  void grow();
  int merge(Granule& granule, unsigned first, unsigned last);
  void watch(void* address, std::size_t size, int thread, bool writes);
  int share(CellState& state);
  int note(CellState& state, int thread, bool writes);

  List<Granule> table_;
  std::size_t used_ = 0;
  List<CellState> states_;
  List<Cell> shared_;
  struct Object {
    const void* object;
    int kind, number;
    int thread = -1;  // the first that used it
    bool is_taken_for_own = false, is_shared = false;
  };
  List<Object> objects_;
};

}  // namespace memfence::running
