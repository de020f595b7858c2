#include "certificate/program.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace memfence::certificate {

StoreReading Model::reading_of_store(const std::string& order) const {
  if (buffers == Buffers::None) return StoreReading::Plain;
  if (order == "seq_cst") return StoreReading::Locked;
  const bool releases = order == "release" || order == "acq_rel";
  return buffers == Buffers::PerVariable && releases ? StoreReading::Separated : StoreReading::Plain;
}

std::string Model::reading_of_fence(const std::string& kind, const std::string& order) const {
  if (kind != "thread_fence") return kind;
  if (order == "seq_cst") return "mfence";
  const bool releases = order == "release" || order == "acq_rel";
  return buffers == Buffers::PerVariable && releases ? "sfence" : "";
}

std::size_t Domain::size() const {
  const auto span = static_cast<WideBits>(Wide{hi} - lo);
  return static_cast<std::size_t>(std::min<WideBits>(span, std::numeric_limits<std::size_t>::max() - 1) + 1);
}

// Of two remainders: the difference of the numbers themselves may need more bits than there are.
bool Domain::fit(Wide value, Number& out) const {
  out = static_cast<Number>(value);
  if (out == value && out >= lo && out <= hi) return true;
  if (!wraps) return false;
  const Wide size = Wide{hi} - lo + 1;
  Wide offset = (value % size - lo % size) % size;
  if (offset < 0) offset += size;
  out = static_cast<Number>(lo + offset);
  return true;
}

namespace {

using Kind = Node::Kind;

const std::map<std::string, Kind, std::less<>>& binary_kinds() {
  static const std::map<std::string, Kind, std::less<>> known = {
      {"+", Kind::Add},       {"-", Kind::Subtract},   {"*", Kind::Multiply},    {"/", Kind::Divide},
      {"%", Kind::Remainder}, {"<<", Kind::ShiftLeft}, {">>", Kind::ShiftRight}, {"&", Kind::BitAnd},
      {"|", Kind::BitOr},     {"^", Kind::BitXor},     {"==", Kind::Equal},      {"!=", Kind::Unequal},
      {"<", Kind::Less},      {"<=", Kind::LessEqual}, {">", Kind::Greater},     {">=", Kind::GreaterEqual},
      {"&&", Kind::And},      {"||", Kind::Or},
  };
  return known;
}

const std::map<std::string, Kind, std::less<>>& unary_kinds() {
  static const std::map<std::string, Kind, std::less<>> known = {
      {"-", Kind::Negate}, {"!", Kind::Not}, {"~", Kind::Complement}};
  return known;
}

const std::map<std::string, Modification, std::less<>>& modifications() {
  static const std::map<std::string, Modification, std::less<>> known = {
      {"exchange", Modification::Exchange}, {"compare_exchange", Modification::Exchange},
      {"add", Modification::Add},           {"sub", Modification::Subtract},
      {"and", Modification::And},           {"or", Modification::Or},
      {"xor", Modification::Xor},           {"nand", Modification::Nand},
      {"max", Modification::Max},           {"min", Modification::Min},
  };
  return known;
}

template <class Value>
Value known(const std::map<std::string, Value, std::less<>>& table, const std::string& word) {
  const auto found = table.find(word);
  if (found == table.end()) throw Unsupported("`" + word + "` is not known");
  return found->second;
}

Domain domain_of(const List& line, std::size_t first) {
  const Domain domain{line.at(first).number(), line.at(first + 1).number(), line.at(first + 2).is("wrap")};
  if (domain.lo > domain.hi) throw Unsupported("a domain is empty");
  return domain;
}

// Reads steps and expressions once all places are known.
class Reader {
 public:
  Reader(Program& program, const Model& model) : program_(program), model_(model) {}

  int expression(const List& list, int process) { return list.is_list ? add(node(list, process)) : constant(list.wide()); }
  Transition transition(const List& line, int process) {
    Transition t;
    t.source = location(line.at(1), process);
    t.target = location(line.at(2), process);
    t.locked = t.is_marked = line.at(3).is("locked");
    if (!line.at(4).is_absent()) t.meeting = meeting(line.at(4), process);
    for (std::size_t n = 5; n < line.parts.size(); ++n) {
      t.ops.push_back(op(line.parts[n], process));
      const Op& last = t.ops.back();
      t.takes_bus |= last.kind == OpKind::Lock;
      t.locked |= last.kind == OpKind::Modify || (last.kind == OpKind::Store && last.reading == StoreReading::Locked);
    }
    if (t.meeting && t.meeting->guard_ops > t.ops.size()) throw Unsupported("a rendezvous has too few ops");
    return t;
  }

 private:
  // One of more than 64 bits is put together: the highest 64, then twice 32 more.
  int constant(Wide value) {
    const auto low = static_cast<Number>(value);
    if (low == value) {
      Node node;
      node.value = low;
      return add(std::move(node));
    }
    const int high = combine(Kind::ShiftLeft, constant(value >> 32), constant(32));
    return combine(Kind::Add, high, constant(value & 0xFFFFFFFF));
  }
  int combine(Kind kind, int a, int b) {
    Node node;
    node.kind = kind;
    node.a = a;
    node.b = b;
    return add(std::move(node));
  }
  int add(Node node) {
    program_.nodes.push_back(std::move(node));
    return static_cast<int>(program_.nodes.size()) - 1;
  }
  Node node(const List& list, int process) {
    const std::string& word = list.at(0).text;
    Node n;
    if (word == "register") {
      n.kind = Kind::Place;
      n.place = register_of(list.at(1), process);
    } else if (word == "register-of") {
      n.kind = Kind::Place;
      n.place = register_of(list.at(2), process_of(list.at(1)));
    } else if (word == "memory") {
      n.kind = Kind::Memory;
      n.place = program_.memory_at + variables(list, 1);
      n.value = list.at(2).number();
      n.a = expression(list.at(3), process);
    } else if (word == "at") {
      n.kind = Kind::At;
      n.place = process_of(list.at(1));
      n.locations.assign(program_.processes[static_cast<std::size_t>(n.place)].locations.size(), 0);
      for (const List& one : list.at(2).parts) n.locations[static_cast<std::size_t>(location(one, n.place))] = 1;
    } else if (word == "empty") {
      n.kind = Kind::Empty;
      n.place = process_of(list.at(1));
    } else if (word == "?") {
      n.kind = Kind::Conditional;
      n.a = expression(list.at(1), process);
      n.b = expression(list.at(2), process);
      n.c = expression(list.at(3), process);
    } else {
      n.kind = list.parts.size() == 2 ? known(unary_kinds(), word) : known(binary_kinds(), word);
      n.a = expression(list.at(1), process);
      if (list.parts.size() > 2) n.b = expression(list.at(2), process);
    }
    return n;
  }
  int optional(const List& list, int process) { return list.is_absent() ? -1 : expression(list, process); }

  Meeting meeting(const List& list, int process) {
    Meeting m;
    m.channel = list.at(1).text;
    m.sends = list.at(2).is("sends");
    for (const List& value : list.at(3).parts) m.values.push_back(expression(value, process));
    for (const List& one : list.at(4).parts) m.registers.push_back(register_of(one, process));
    m.guard_ops = static_cast<std::size_t>(list.at(5).small());
    return m;
  }
  Op op(const List& list, int process) {
    const std::string& word = list.at(0).text;
    Op op;
    if (word == "load") {
      op.kind = OpKind::Load;
      op.reg = register_of(list.at(1), process);
      address(op, list, 2, process);
      op.when = optional(list.at(5), process);
    } else if (word == "store") {
      op.kind = OpKind::Store;
      address(op, list, 1, process);
      op.value = expression(list.at(4), process);
      op.direct = list.at(5).is("direct");
      op.reading = model_.reading_of_store(list.at(6).text);
      op.when = optional(list.at(7), process);
    } else if (word == "rmw") {
      op.kind = OpKind::Modify;
      op.reg = list.at(1).is_absent() ? -1 : register_of(list.at(1), process);
      address(op, list, 2, process);
      op.modification = known(modifications(), list.at(5).text);
      op.value = expression(list.at(6), process);
      op.expected = optional(list.at(7), process);
    } else if (word == "assign") {
      op.kind = OpKind::Assign;
      op.reg = register_of(list.at(1), process);
      op.value = expression(list.at(2), process);
    } else if (word == "assume" || word == "assert") {
      op.kind = word == "assume" ? OpKind::Assume : OpKind::Assert;
      op.value = expression(list.at(1), process);
      op.is_error = word == "assert" && !list.at(2).is("\"\"");
    } else if (word == "fence") {
      const std::string kind = model_.reading_of_fence(list.at(1).text, list.at(2).text);
      if (kind.starts_with("dmb") || kind == "isb") throw Unsupported(kind + " means nothing to a model with store buffers");
      op.kind = kind == "mfence" ? OpKind::Mfence : kind == "sfence" ? OpKind::Sfence : OpKind::Nothing;
    } else if (word == "lock" || word == "unlock") {
      op.kind = word == "lock" ? OpKind::Lock : OpKind::Unlock;
    } else {
      throw Unsupported("there is no op `" + word + "`");
    }
    return op;
  }
  void address(Op& op, const List& list, std::size_t first, int process) {
    op.base = variables(list, first);
    op.size = list.at(first + 1).small();
    op.index = expression(list.at(first + 2), process);
  }
  int variables(const List& list, std::size_t first) const {
    const int base = list.at(first).small(), size = list.at(first + 1).small();
    if (static_cast<std::size_t>(base) + static_cast<std::size_t>(size) > program_.variables.size())
      throw Unsupported("an address lies outside the memory");
    return base;
  }
  int process_of(const List& word) const {
    if (static_cast<std::size_t>(word.small()) >= program_.processes.size()) throw Unsupported("there is no such process");
    return word.small();
  }
  int register_of(const List& word, int process) const {
    const Process& owner = program_.processes.at(static_cast<std::size_t>(process));
    if (static_cast<std::size_t>(word.small()) >= owner.places.size()) throw Unsupported("there is no such register");
    return owner.places[static_cast<std::size_t>(word.small())];
  }
  int location(const List& word, int process) const {
    const Process& owner = program_.processes.at(static_cast<std::size_t>(process));
    if (static_cast<std::size_t>(word.small()) >= owner.locations.size()) throw Unsupported("there is no such location");
    return word.small();
  }

  Program& program_;
  const Model& model_;
};

void number_places(Program& program) {
  int at = static_cast<int>(program.processes.size());
  program.memory_at = at;
  at += static_cast<int>(program.variables.size());
  if (program.has_lock) program.lock_at = at++;
  for (Process& p : program.processes)
    for (const Register& r : p.registers) p.places.push_back(r.kept ? at++ : -1);
  for (Process& p : program.processes)
    for (std::size_t n = 0; n < p.registers.size(); ++n)
      if (!p.registers[n].kept) {
        p.places[n] = at++;
        p.scratch.push_back(p.places[n]);
      }
  program.buffers_at = at;
  program.domains.resize(static_cast<std::size_t>(at));
  for (const Process& p : program.processes)
    for (std::size_t n = 0; n < p.registers.size(); ++n)
      program.domains[static_cast<std::size_t>(p.places[n])] = p.registers[n].domain;
}

void add_line(Program& program, const List& line, std::vector<std::pair<int, const List*>>& steps) {
  const std::string& word = line.at(0).text;
  if (word == "variable") {
    program.variables.push_back({domain_of(line, 2), line.at(5).numbers()});
    return;
  }
  if (word == "errors") {
    for (const List& one : line.at(1).parts) program.errors.push_back(one.small());
    return;
  }
  if (word == "process") {
    program.processes.emplace_back().initial = line.at(3).small();
    return;
  }
  if (program.processes.empty()) throw Unsupported("`" + word + "` stands before every process");
  Process& process = program.processes.back();
  if (word == "register") {
    process.registers.push_back({domain_of(line, 2), line.at(5).numbers(), line.at(6).is("kept")});
  } else if (word == "location") {
    Location& location = process.locations.emplace_back();
    for (const List& mark : line.parts) {
      location.committed |= mark.is("committed");
      location.may_end |= mark.is("may_end");
    }
    program.has_committed |= location.committed;
  } else if (word == "step") {
    steps.emplace_back(static_cast<int>(program.processes.size()) - 1, &line);
    for (const List& part : line.parts) program.has_lock |= part.is_list && part.at(0).is("lock");
  } else {
    throw Unsupported("there is no line `" + word + "`");
  }
}

// Everything that an op of the process may write, as the reference sees it: a constant index within bounds is one variable.
std::vector<int> stored_variables(const Program& program, const Process& process) {
  std::set<int> found;
  for (const Transition& t : process.transitions)
    for (const Op& op : t.ops) {
      if (op.kind != OpKind::Store && op.kind != OpKind::Modify) continue;
      const Node& index = program.nodes[static_cast<std::size_t>(op.index)];
      const bool is_one = index.kind == Kind::Constant && index.value >= 0 && index.value < op.size;
      const int first = is_one ? op.base + static_cast<int>(index.value) : op.base;
      for (int v = first; v < (is_one ? first + 1 : op.base + op.size); ++v) found.insert(v);
    }
  return {found.begin(), found.end()};
}

}  // namespace

int Program::expression(std::string_view text) {
  const std::vector<List> lists = parse_lists(text);
  if (lists.size() != 1) throw Unsupported("an expression is one list");
  return Reader(*this, Model{}).expression(lists[0], 0);
}

Program read_program(std::string_view text, const Model& model) {
  if (model.per_variable && model.buffers != Buffers::PerProcess) throw Unsupported("there is no such bound");
  const std::vector<List> lines = parse_lists(text);
  Program program;
  std::vector<std::pair<int, const List*>> steps;
  for (const List& line : lines) add_line(program, line, steps);
  number_places(program);
  Reader reader(program, model);
  for (const auto& [process, line] : steps)
    program.processes[static_cast<std::size_t>(process)].transitions.push_back(reader.transition(*line, process));
  for (Process& p : program.processes) {
    if (static_cast<std::size_t>(p.initial) >= p.locations.size()) throw Unsupported("a process starts nowhere");
    p.leaving.resize(p.locations.size());
    for (std::size_t n = 0; n < p.transitions.size(); ++n)
      p.leaving[static_cast<std::size_t>(p.transitions[n].source)].push_back(static_cast<int>(n));
    p.stored = stored_variables(program, p);
  }
  for (std::size_t n = 0; n < program.errors.size(); ++n)
    if (program.errors.size() != program.processes.size() ||
        static_cast<std::size_t>(program.errors[n]) >= program.processes[n].locations.size())
      throw Unsupported("an error leads nowhere");
  return program;
}

}  // namespace memfence::certificate
