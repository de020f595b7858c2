// Texts and their numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace memfence {

class Names {
 public:
  std::uint32_t number(std::string_view text) {
    if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
    const auto fresh = static_cast<std::uint32_t>(texts_.size());
    numbers_.emplace(std::string(text), fresh);
    texts_.emplace_back(text);
    bytes_ += 2 * text.size() + 128;
    return fresh;
  }
  const std::string& text(std::uint32_t number) const { return texts_[number]; }
  std::size_t size() const { return texts_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<std::string> texts_;
  std::size_t bytes_ = 0;
};

}  // namespace memfence
