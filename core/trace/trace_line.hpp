// One line of a trace: a flat JSON object with known keys, parsed strictly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memfence {

// What one line says. Views live as long as the line and the scratch strings of its parser.
struct TraceLine {
  std::string_view op, thread, address, location;
  bool has_op = false, has_thread = false, has_address = false, has_location = false;
  bool has_value = false, has_step = false, has_accepts = false;
  std::int64_t value = 0, step = 0;
  std::vector<std::int64_t> accepts;
  std::size_t op_column = 0, value_column = 0;
};

// Parses lines; where one is refused, `column`, `length`, `message` and `hint` say where and why.
class LineParser {
 public:
  // Whether the line is an object of the known keys. A line of blanks is none: `blank` is set.
  bool parse(std::string_view line, TraceLine& out, bool& blank);
  std::size_t column = 0, length = 1;
  std::string message, hint;

 private:
  bool fail(std::size_t at, std::size_t size, std::string why, std::string advice = "");
  void skip_blanks();
  bool expect(char c, const char* what);
  bool key_and_value(TraceLine& out);
  bool string(std::string_view& out, std::size_t slot);
  bool escaped(std::string& out);
  bool hex(std::uint32_t& out);
  bool integer(std::int64_t& out);
  bool name(std::string_view& out, std::size_t slot, const char* key);
  bool nothing();
  bool numbers(std::vector<std::int64_t>& out);

  std::string_view line_;
  std::size_t at_ = 0;
  std::string scratch_[6];
  std::uint32_t seen_ = 0;
};

}  // namespace memfence
