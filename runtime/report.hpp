// Records for whoever started the process: one JSON object a line.
#pragma once

#include <string>

#include "confirming.hpp"
#include "findings.hpp"
#include "stateless/stateless.hpp"

namespace memfence::running {

class Record {
 public:
  explicit Record(const char* kind) { text_ = std::string("{\"record\": \"") + kind + "\""; }
  Record& add(const char* name, const char* value);
  Record& add(const char* name, std::uint64_t value) { return raw(name, std::to_string(value)); }
  Record& add(const char* name, int value) { return raw(name, std::to_string(value)); }
  Record& add(const char* name, bool value) { return raw(name, value ? "true" : "false"); }
  Record& add(const char* name, double value) { return raw(name, std::to_string(value)); }
  Record& add(const char* name, const void* value) { return add(name, reinterpret_cast<std::uint64_t>(value)); }
  Record& raw(const char* name, const std::string& value);
  std::string text() const { return text_ + "}"; }
  void send() const;

 private:
  std::string text_;
};

void send_text(const std::string& text);
void add_failure(Record& record, const Failure& failure);
std::string step_text(const Logged& line);
std::string steps_text(const std::vector<int>& steps);
// The steps as they were written down, and the waiting threads at the end.
std::string events_text();
std::string waiting_text();

// What a schedule needs to be run again elsewhere: threads, shared cells, loops.
void send_layout();

}  // namespace memfence::running
