// Runs the official WebAssembly test suite in the JSON form of wabt's wast2json and counts its assertions by
// kind.
//
//   wago_spec [--bounds signals|explicit] [--level N] [--spill-everything] [--interruptible] [--counted]
//   [--workers N]
//   [--expect N] DIRECTORY|FILE...
//
// Every failing assertion is printed with file and line. Assertions about text are counted as not applicable.
// Exit code: 0 when all held (and their number is what --expect says), 1 when not, 2 when used wrongly, 77
// when DIRECTORY is absent.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "ctest/spec/official_texts.h"
#include "wago/wago.h"

namespace wago {
namespace {

namespace fs = std::filesystem;
using base::Json;

std::string text_of(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value && value->is_string() ? value->as_string() : std::string();
}

std::optional<Slot> reference_slot(const std::string& value) {
  if (value == "null") return 0;
  return std::stoull(value) + 1;  // host references are any nonzero handle
}

// An argument of the suite as slots.
std::vector<Slot> slots(const Json& values) {
  std::vector<Slot> out;
  for (const Json& v : values.items()) {
    std::string type = text_of(v, "type"), value = text_of(v, "value");
    if (type == "externref" || type == "funcref") {
      out.push_back(*reference_slot(value));
    } else if (type == "v128") {
      uint64_t words[2] = {0, 0};
      const Json& lanes = *v.find("value");
      size_t bits = 128 / lanes.items().size();
      for (size_t i = 0; i < lanes.items().size(); ++i) {
        uint64_t lane = std::stoull(lanes.items()[i].as_string());
        words[i * bits / 64] |= lane << (i * bits % 64);
      }
      out.insert(out.end(), words, words + 2);
    } else {
      out.push_back(std::stoull(value));
    }
  }
  return out;
}

// NaN classes of the specification: canonical has only the top bit of the payload, arithmetic at least that
// one.
bool float_matches(const std::string& want, uint64_t seen, unsigned bits) {
  uint64_t quiet = bits == 32 ? 0x7fc00000u : 0x7ff8000000000000u;
  uint64_t sign = uint64_t{1} << (bits - 1);
  if (want == "nan:canonical") return (seen & ~sign) == quiet;
  if (want == "nan:arithmetic") return (seen & quiet) == quiet;
  return seen == std::stoull(want);
}

// Whether result slots are what one expected value says; advances `at`.
bool value_matches(const Json& want, std::span<const Slot> seen, size_t& at) {
  std::string type = text_of(want, "type"), value = text_of(want, "value");
  if (type == "v128") {
    std::string lane_type = text_of(want, "lane_type");
    const Json& lanes = *want.find("value");
    unsigned bits = static_cast<unsigned>(128 / lanes.items().size());
    for (size_t i = 0; i < lanes.items().size(); ++i) {
      uint64_t lane = seen[at + i * bits / 64] >> (i * bits % 64);
      if (bits < 64) lane &= (uint64_t{1} << bits) - 1;
      if (!float_matches(lanes.items()[i].as_string(), lane, bits)) return false;
    }
    at += 2;
    return true;
  }
  Slot slot = seen[at++];
  if (type == "externref") return slot == *reference_slot(value);
  if (type == "funcref") return value == "null" ? slot == 0 : slot != 0;
  return float_matches(value, slot, type == "i32" || type == "f32" ? 32 : 64);
}

Linker spectest(const Engine& engine) {
  Linker linker(engine);
  auto print = [&](const char* name, std::vector<ValueType> params) {
    auto ignore = [](std::span<const Slot>, std::span<Slot>) { return std::optional<Trap>(); };
    (void)linker.define_host("spectest", name, FuncType{std::move(params), {}}, ignore);
  };
  print("print", {});
  print("print_i32", {ValueType::I32});
  print("print_i64", {ValueType::I64});
  print("print_f32", {ValueType::F32});
  print("print_f64", {ValueType::F64});
  print("print_i32_f32", {ValueType::I32, ValueType::F32});
  print("print_f64_f64", {ValueType::F64, ValueType::F64});
  auto global = [&](const char* name, ValueType type, Slot value) {
    linker.define("spectest", name, Global::create(engine, {type, false}, {&value, 1}).value());
  };
  float f32 = 666.6f;
  double f64 = 666.6;
  uint32_t f32_bits;
  uint64_t f64_bits;
  std::memcpy(&f32_bits, &f32, 4);
  std::memcpy(&f64_bits, &f64, 8);
  global("global_i32", ValueType::I32, 666);
  global("global_i64", ValueType::I64, 666);
  global("global_f32", ValueType::F32, f32_bits);
  global("global_f64", ValueType::F64, f64_bits);
  linker.define("spectest", "table", Table::create(engine, {ValueType::FuncRef, {10, 20}}).value());
  linker.define("spectest", "memory", Memory::create(engine, {{1, 2}}).value());
  return linker;
}

struct Totals {
  std::map<std::string, uint32_t> held, failed;
  uint32_t modules = 0;
  uint32_t text_only = 0;
};

// One script: its modules, the names they registered under, and the assertions about them.
class Script {
 public:
  Script(const Engine& engine, fs::path path, Totals& totals)
      : engine_(engine), linker_(spectest(engine)), path_(std::move(path)), totals_(totals) {}

  bool run() {
    auto bytes = base::system_files().read(path_.string(), uint64_t{1} << 30);
    if (!bytes) return complain(0, bytes.error().to_string());
    auto json =
        base::parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path_.string());
    if (!json) return complain(0, json.error().to_string());
    for (const Json& command : json->find("commands")->items()) step(command);
    return true;
  }

 private:
  bool complain(uint64_t line, const std::string& what) {
    std::printf("%s:%llu: %s\n", path_.filename().c_str(), static_cast<unsigned long long>(line),
                what.c_str());
    return false;
  }

  void step(const Json& command) {
    std::string type = text_of(command, "type");
    uint64_t line = command.find("line")->to_u64().value_or(0);
    if (text_of(command, "module_type") == "text") {
      ++totals_.text_only;
      return;
    }
    std::string problem = check(type, command);
    if (type == "module") {
      ++totals_.modules;
      if (problem.empty()) return;
      type = "module";
    }
    if (problem.empty()) {
      if (type.starts_with("assert_")) ++totals_.held[type];
      return;
    }
    ++totals_.failed[type];
    complain(line, type + ": " + problem);
  }

  // Empty, or what did not hold.
  std::string check(const std::string& type, const Json& command) {
    if (type == "module") return define(command);
    if (type == "register") return register_module(command);
    if (type == "action") return check_action(command, false);
    if (type == "assert_return") return check_action(command, true);
    if (type == "assert_trap" || type == "assert_exhaustion") return check_trap(command);
    if (type == "assert_invalid" || type == "assert_malformed") return check_refused(command);
    if (type == "assert_unlinkable") return check_instantiation(command, InstantiateFailure::Kind::Link);
    if (type == "assert_uninstantiable") return check_instantiation(command, InstantiateFailure::Kind::Trap);
    return "unknown command";
  }

  Result<Module> load(const Json& command) {
    auto bytes = base::system_files().read((path_.parent_path() / text_of(command, "filename")).string(),
                                           uint64_t{1} << 30);
    if (!bytes) return bytes.error();
    return engine_.compile(std::move(*bytes));
  }

  std::string define(const Json& command) {
    current_.reset();
    Result<Module> module = load(command);
    if (!module) return module.error().to_string();
    InstantiateResult instance = linker_.instantiate(*module);
    if (!instance) return instance.failure().error.to_string();
    current_ = instance.value();
    std::string name = text_of(command, "name");
    if (!name.empty()) named_.insert_or_assign(name, *current_);
    return {};
  }

  const Instance* instance_of(const Json& object, std::string_view key) {
    std::string name = text_of(object, key);
    if (name.empty()) return current_ ? &*current_ : nullptr;
    auto it = named_.find(name);
    return it == named_.end() ? nullptr : &it->second;
  }

  std::string register_module(const Json& command) {
    const Instance* instance = instance_of(command, "name");
    if (!instance) return "no such instance";
    linker_.define_instance(text_of(command, "as"), *instance);
    return {};
  }

  struct Outcome {
    std::string problem;  // the action could not even be tried
    std::optional<Trap> trap;
    std::vector<Slot> results;
  };

  Outcome act(const Json& command) {
    const Json& action = *command.find("action");
    const Instance* instance = instance_of(action, "module");
    if (!instance) return {.problem = "no such instance"};
    std::string field = text_of(action, "field");
    Outcome outcome;
    if (text_of(action, "type") == "get") {
      auto global = instance->global(field);
      if (!global) return {.problem = global.error().to_string()};
      outcome.results.resize(slots_of(global->type().value));
      global->get(outcome.results);
      return outcome;
    }
    auto function = instance->function(field);
    if (!function) return {.problem = function.error().to_string()};
    std::vector<Slot> args = slots(*action.find("args"));
    outcome.results.resize(slots_of(function->type().results));
    CallResult called = function->call(args, outcome.results);
    if (!called) outcome.trap = called.trap();
    return outcome;
  }

  std::string check_action(const Json& command, bool compare) {
    Outcome outcome = act(command);
    if (!outcome.problem.empty()) return outcome.problem;
    if (outcome.trap) return "trapped: " + outcome.trap->message;
    if (!compare) return {};
    size_t at = 0;
    for (const Json& want : command.find("expected")->items()) {
      if (at >= outcome.results.size()) return "fewer results than wanted";
      size_t begin = at;
      if (value_matches(want, outcome.results, at)) continue;
      char seen[32];
      std::snprintf(seen, sizeof seen, "%llu", static_cast<unsigned long long>(outcome.results[begin]));
      return "wanted " + want.dump() + ", seen slot " + seen + " in " + command.find("action")->dump();
    }
    return at == outcome.results.size() ? "" : "more results than wanted";
  }

  std::string check_trap(const Json& command) {
    Outcome outcome = act(command);
    if (!outcome.problem.empty()) return outcome.problem;
    std::string want = text_of(command, "text");
    if (!outcome.trap) return "did not trap, wanted: " + want;
    return spec::difference_in_meaning(text_of(command, "type"), want, outcome.trap->message);
  }

  std::string check_refused(const Json& command) {
    Result<Module> module = load(command);
    std::string want = text_of(command, "text");
    if (module) return "accepted, wanted: " + want;
    return spec::difference_in_meaning(text_of(command, "type"), want, module.error().message);
  }

  std::string check_instantiation(const Json& command, InstantiateFailure::Kind kind) {
    Result<Module> module = load(command);
    if (!module) return module.error().to_string();
    InstantiateResult instance = linker_.instantiate(*module);
    std::string want = text_of(command, "text");
    if (instance) return "instantiated, wanted: " + want;
    const InstantiateFailure& failure = instance.failure();
    if (failure.kind != kind) return "failed otherwise: " + failure.error.to_string();
    const std::string& seen = failure.trap ? failure.trap->message : failure.error.message;
    return spec::difference_in_meaning(text_of(command, "type"), want, seen);
  }

  const Engine& engine_;
  Linker linker_;
  fs::path path_;
  Totals& totals_;
  std::optional<Instance> current_;
  std::map<std::string, Instance> named_;
};

struct Options {
  EngineSettings engine;
  std::optional<uint32_t> expect;
  std::vector<fs::path> paths;
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  options.engine.check_allocation = true;
  options.engine.verify_ir = true;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--spill-everything") {
      options.engine.spill_everything = true;
    } else if (arg == "--interruptible") {
      options.engine.interruptible = true;
    } else if (arg == "--counted") {
      options.engine.counted = true;
    } else if (arg.starts_with("--") && i + 1 < argc) {
      std::string value = argv[++i];
      if (arg == "--bounds" && base::parse<Bounds>(value)) {
        options.engine.bounds = *base::parse<Bounds>(value);
      } else if (arg == "--level") {
        options.engine.level = std::atoi(value.c_str());
      } else if (arg == "--workers") {
        options.engine.workers = static_cast<unsigned>(std::atoi(value.c_str()));
      } else if (arg == "--expect") {
        options.expect = static_cast<uint32_t>(std::atoi(value.c_str()));
      } else {
        return std::nullopt;
      }
    } else {
      options.paths.emplace_back(arg);
    }
  }
  if (options.paths.empty()) return std::nullopt;
  return options;
}

int report(const Totals& totals, const Options& options) {
  uint32_t held = 0, failed = 0;
  std::printf("%-24s %8s %8s\n", "assertion", "held", "failed");
  std::map<std::string, uint32_t> kinds = totals.held;
  for (const auto& [kind, count] : totals.failed) kinds.emplace(kind, 0);
  for (const auto& [kind, unused] : kinds) {
    uint32_t h = totals.held.contains(kind) ? totals.held.at(kind) : 0;
    uint32_t f = totals.failed.contains(kind) ? totals.failed.at(kind) : 0;
    std::printf("%-24s %8u %8u\n", kind.c_str(), h, f);
    held += h;
    failed += f;
  }
  std::printf("%-24s %8u %8u   (%u modules; %u assertions about text not applicable)\n", "all", held, failed,
              totals.modules, totals.text_only);
  if (options.expect && held != *options.expect) {
    std::printf("wanted %u assertions to hold\n", *options.expect);
    return 1;
  }
  return failed ? 1 : 0;
}

int run(const Options& options) {
  Result<Engine> engine = Engine::open(options.engine);
  if (!engine) {
    std::printf("%s\n", engine.error().to_string().c_str());
    return base::exit_code(engine.error().kind);
  }
  std::vector<fs::path> files;
  for (const fs::path& path : options.paths) {
    if (!fs::exists(path)) {
      std::printf("skipped: %s is absent; point WAGO_SPEC_DIR to a folder of the suite in wast2json's form\n",
                  path.c_str());
      return 77;
    }
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  Totals totals;
  for (const fs::path& file : files) {
    if (!Script(*engine, file, totals).run()) ++totals.failed["script"];
  }
  return report(totals, options);
}

}  // namespace
}  // namespace wago

int main(int argc, char** argv) {
  auto options = wago::parse(argc, argv);
  if (!options) {
    std::fprintf(
        stderr,
        "usage: wago_spec [--bounds signals|explicit] [--level N] [--spill-everything] [--interruptible] "
        "[--counted] "
        "[--workers N] [--expect N] DIRECTORY|FILE...\n");
    return 2;
  }
  return wago::run(*options);
}
