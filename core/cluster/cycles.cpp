#include "cluster/cycles.hpp"

#include <unordered_map>

#include "cluster/owners.hpp"
#include "models/semantics.hpp"
#include "search/product.hpp"

namespace memfence {

namespace {

template <MemoryModel Semantics>
class CyclePartOf : public CyclePart {
 public:
  CyclePartOf(std::shared_ptr<const Machine> machine, Semantics semantics, bool reduce, BuchiQuery query,
              const PartitionSize& size, std::uint64_t memory_bytes)
      : machine_(std::move(machine)),
        query_(std::move(query)),
        product_(*machine_, std::move(semantics), query_, reduce),
        size_(size),
        watch_(limits_),
        mail_(static_cast<std::size_t>(size.count), Outgoing<std::uint64_t>(product_.words())) {
    limits_.memory_bytes = memory_bytes;
    progress_.state_bits = product_.state_bits();
  }

  void start(CyclePhase phase) override {
    if (phase_ == CyclePhase::Mark) give_up_unmarked();
    phase_ = phase;
    is_fresh_ = true;
    is_counting_ = phase == CyclePhase::Trim;
    now_.clear();
    later_.clear();
    next_ = 0;
    if (phase == CyclePhase::Reach) {
      find_initial();
    } else {
      if (alive_.empty()) alive_.assign(product_.count(), 1);
      incoming_.assign(phase == CyclePhase::Trim ? product_.count() : 0, 0);
      marks_.assign(phase == CyclePhase::Mark ? product_.count() : 0, 0);
      is_queued_.assign(phase == CyclePhase::Mark ? product_.count() : 0, 0);
      for (Index index = 0; index < product_.count(); ++index)
        if (alive_[index]) now_.push_back(index);
    }
    progress_.size = now_.size();
    stand();
  }

  void receive(int sender, std::string_view message) override {
    sender_ = sender;
    const MessageHead head =
        each_of<std::uint64_t>(message, product_.words(), [&](const Word* state, std::uint64_t note) { take(state, note); });
    left_elsewhere_ += head.left;
  }

  bool turn() override {
    const bool all_done = !is_fresh_ && next_ == now_.size() && left_elsewhere_ == 0;
    left_elsewhere_ = 0;
    is_fresh_ = false;
    sender_ = size_.number;
    if (!all_done) return false;
    if (is_counting_) {
      is_counting_ = false;
      for (Index index = 0; index < product_.count(); ++index)
        if (alive_[index] && incoming_[index] == 0) give_up(index);
    }
    now_.swap(later_);
    later_.clear();
    next_ = 0;
    ++progress_.level;
    progress_.size = now_.size();
    return true;
  }

  void expand() override {
    const std::size_t until = static_cast<std::size_t>(std::min<std::uint64_t>(now_.size(), next_ + size_.round_states));
    for (; next_ < until && progress_.stop == Stop::None; ++next_) {
      const Index from = now_[next_];
      if (phase_ == CyclePhase::Mark) is_queued_[from] = 0;
      product_.arcs_from(from, [&](const Word* to, std::uint64_t marks, const auto&) { send(from, to, marks); });
      if (next_ % kLook == 0 && watch_.would_exceed(bytes(), 0)) progress_.stop = Stop::Memory;
    }
    stand();
  }

  std::size_t message_size(int owner) const override { return mail_[static_cast<std::size_t>(owner)].size(); }
  void write_message(int owner, char* out) override { mail_[static_cast<std::size_t>(owner)].write(progress_.left, out); }
  const CycleProgress& progress() const override { return progress_; }

  Index first_alive() const override {
    for (Index index = 0; index < alive_.size(); ++index)
      if (alive_[index]) return index;
    return kNoIndex;
  }
  const std::vector<ArcFrom>& arcs_into(Index index) const override {
    static const std::vector<ArcFrom> none;
    const auto found = links_.find(index);
    return found == links_.end() ? none : found->second;
  }
  std::string_view state(Index index) const override {
    return {reinterpret_cast<const char*>(product_.state(index)), product_.words() * sizeof(Word)};
  }
  Origin parent(Index index) const override { return {senders_[index], product_.parent(index)}; }
  std::size_t words() const override { return product_.words(); }

  std::size_t start_of(const Word* state) override {
    std::size_t number = 0;
    while (!are_equal_words(product_.initial(number).data(), state, product_.words())) ++number;
    return number;
  }
  LassoStep step_between(const Word* from, const Word* to, std::uint64_t wanted) override {
    std::optional<LassoStep> found;
    product_.arcs_from(from, [&](const Word* reached, std::uint64_t marks, const auto& move) {
      if (!found && (wanted & ~marks) == 0 && are_equal_words(reached, to, product_.words()))
        found = LassoStep{move.stutters, move.step};
    });
    return found.value();
  }

 private:
  static constexpr std::size_t kLook = 1024;  // states between two looks at the memory

  void find_initial() {
    sender_ = size_.number;
    for (std::size_t i = 0; i < machine_->initial.size(); ++i) {
      const std::vector<Word> state = product_.initial(i);
      if (owner_of(hash_words(state.data(), state.size()), size_.count) == size_.number) take(state.data(), kNoIndex);
    }
    now_.swap(later_);
  }

  // An arc, as the present phase needs it. With Link, two messages: who it comes from, and its marks.
  void send(Index from, const Word* to, std::uint64_t marks) {
    if (phase_ == CyclePhase::Reach) ++progress_.transitions;
    const std::uint64_t hash = hash_words(to, product_.words());
    const int owner = owner_of(hash, size_.count);
    const auto hand_over = [&](std::uint64_t note) {
      if (owner == size_.number)
        take(to, note);
      else if (phase_ == CyclePhase::Reach)
        mail_[static_cast<std::size_t>(owner)].add_once(to, hash, note);
      else
        mail_[static_cast<std::size_t>(owner)].add(to, note);
    };
    switch (phase_) {
      case CyclePhase::Reach: return hand_over(from);
      case CyclePhase::Trim: return hand_over(0);
      case CyclePhase::Mark: return hand_over(marks | marks_[from]);
      case CyclePhase::Link: hand_over(from); return hand_over(marks);
    }
  }

  void take(const Word* state, std::uint64_t note) {
    if (phase_ == CyclePhase::Reach) return reach(state, static_cast<Index>(note));
    const Index index = product_.find(state);
    if (!alive_[index]) {
      linked_from_.reset();
      return;
    }
    switch (phase_) {
      case CyclePhase::Reach: return;
      case CyclePhase::Trim:
        if (is_counting_)
          ++incoming_[index];
        else if (--incoming_[index] == 0)
          give_up(index);
        return;
      case CyclePhase::Mark:
        if ((note & ~marks_[index]) == 0) return;
        marks_[index] |= note;
        if (!is_queued_[index]) later_.push_back(index);
        is_queued_[index] = 1;
        return;
      case CyclePhase::Link:
        if (!linked_from_)
          linked_from_ = static_cast<Index>(note);
        else {
          links_[index].push_back({sender_, *linked_from_, note});
          linked_from_.reset();
        }
        return;
    }
  }
  void reach(const Word* state, Index parent) {
    const auto inserted = product_.insert(state, parent);
    if (!inserted.is_new) return;
    later_.push_back(inserted.index);
    senders_.push_back(static_cast<std::uint16_t>(sender_));
  }

  // Once counting is over, its successors are to hear of it.
  void give_up(Index index) {
    alive_[index] = 0;
    later_.push_back(index);
  }
  void give_up_unmarked() {
    for (Index index = 0; index < product_.count(); ++index)
      if (alive_[index] && marks_[index] != query_.all_marks()) alive_[index] = 0;
  }

  std::uint64_t bytes() const {
    return product_.bytes() + (now_.capacity() + later_.capacity() + incoming_.capacity()) * sizeof(Index) +
           marks_.capacity() * sizeof(std::uint64_t) + alive_.capacity() + is_queued_.capacity() + 2 * senders_.capacity() +
           links_.size() * sizeof(ArcFrom) * 4;
  }

  void stand() {
    progress_.left = now_.size() - next_;
    progress_.states = product_.count();
    progress_.bytes = bytes();
    if (phase_ == CyclePhase::Reach) progress_.refused = product_.refused();
    progress_.alive = static_cast<std::uint64_t>(std::count(alive_.begin(), alive_.end(), 1));
    if (progress_.stop == Stop::None) progress_.stop = watch_.check(0, 0, 0, progress_.bytes);
  }

  std::shared_ptr<const Machine> machine_;
  BuchiQuery query_;
  Product<Semantics> product_;
  const PartitionSize size_;
  Limits limits_;
  Watch watch_;
  std::vector<Outgoing<std::uint64_t>> mail_;
  CyclePhase phase_ = CyclePhase::Reach;
  bool is_fresh_ = true;      // this level is to be expanded first
  bool is_counting_ = false;  // trimming: predecessors are counted, before any state is given up
  int sender_ = 0;            // of what is taken in
  std::vector<Index> now_, later_;
  std::size_t next_ = 0;
  std::uint64_t left_elsewhere_ = 0;
  std::vector<std::uint8_t> alive_, is_queued_;
  std::vector<std::uint32_t> incoming_;
  std::vector<std::uint64_t> marks_;
  std::vector<std::uint16_t> senders_;
  std::optional<Index> linked_from_;
  std::unordered_map<Index, std::vector<ArcFrom>> links_;
  CycleProgress progress_;
};

}  // namespace

std::unique_ptr<CyclePart> part_for_cycles(std::shared_ptr<const Machine> machine, const Model& model, bool reduce,
                                           BuchiQuery query, const PartitionSize& size, std::uint64_t memory_bytes) {
  const Machine& m = *machine;
  return with_semantics(m, model, [&]<MemoryModel Semantics>(Semantics semantics) -> std::unique_ptr<CyclePart> {
    return std::make_unique<CyclePartOf<Semantics>>(std::move(machine), std::move(semantics), reduce, std::move(query), size,
                                                    memory_bytes);
  });
}

}  // namespace memfence
