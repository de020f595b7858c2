#include "options.hpp"

#include <cstdlib>

namespace memfence::running {

namespace {

void set(Options& options, const std::string& name, const std::string& value) {
  const auto number = std::strtoll(value.c_str(), nullptr, 10);
  if (name == "preemptions") options.preemptions = static_cast<int>(number);
  if (name == "random") options.random = static_cast<std::uint64_t>(number);
  if (name == "seed") options.seed = static_cast<std::uint64_t>(number);
  if (name == "depth") options.depth = static_cast<std::uint64_t>(number);
  if (name == "timeout") options.timeout = std::strtod(value.c_str(), nullptr);
  if (name == "hang") options.hang = std::strtod(value.c_str(), nullptr);
  if (name == "reduce") options.reduce = number != 0;
  if (name == "monitor") options.monitor = number != 0;
  if (name == "first") options.first = number != 0;
  if (name == "confirm") options.confirm = number != 0;
  if (name == "reorder") options.pso = number != 0;
  if (name == "buffers") options.buffers = number != 0;
  if (name == "changes") options.changes = static_cast<int>(number);
  if (name == "normal_abort") options.abort_is_normal = number != 0;
  if (name == "normal_exit") options.exit_is_normal = number != 0;
  if (name == "normal_signal") options.signal_is_normal = number != 0;
  if (name == "prune") options.prune = number != 0;
  if (name == "spurious") options.spurious = static_cast<int>(number);
  if (name == "parts") options.parts = static_cast<int>(number);
  if (name == "part") options.part = static_cast<int>(number);
  if (name == "keep") options.keep = static_cast<std::uint64_t>(number);
  if (name == "graphs") options.graphs = value;
  if (name == "output") options.shows_output = number != 0;
}

}  // namespace

Options read_options(const char* text) {
  Options options;
  std::string name, value;
  bool in_value = false;
  for (const char* at = text;; ++at) {
    if (*at == ';' || *at == '\0') {
      set(options, name, value);
      name.clear();
      value.clear();
      in_value = false;
      if (*at == '\0') return options;
    } else if (*at == '=' && !in_value) {
      in_value = true;
    } else {
      (in_value ? value : name).push_back(*at);
    }
  }
}

}  // namespace memfence::running
