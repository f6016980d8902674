// Developer tool: what each stage of the compiler makes of one function.
//
//   wago_dump FILE.wasm FUNCTION-INDEX|NAME [--level N] [--bounds explicit|signals] [--spill-everything]
//   [--interruptible] [--stage NAME]
//
// Stages: locals (names and types of those that have a name), built, optimized, selected, allocated,
// assembly; all of them when none is named.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "codegen/compile.h"
#include "runtime/local_names.h"

namespace wago {
namespace {

int fail(const std::string& message) {
  std::fprintf(stderr, "wago_dump: %s\n", message.c_str());
  return 2;
}

std::string named_locals(const runtime::Module& module, uint32_t function) {
  const runtime::LocalNames names(module);
  std::string text;
  uint32_t local = 0;
  const auto add = [&](const std::vector<ValueType>& types, const char* what) {
    for (ValueType type : types) {
      if (const std::string_view name = names.of(function, local); !name.empty()) {
        text += std::string(what) + " " + std::to_string(local) + " " + to_string(type) + " " +
                base::display(name) + "\n";
      }
      ++local;
    }
  };
  add(module.type_of_function(function).params, "param");
  add(module.bodies[function - module.imported_functions].locals, "local");
  return text;
}

int run(int argc, char** argv) {
  if (argc < 3)
    return fail(
        "usage: wago_dump FILE FUNCTION [--level N] [--bounds B] [--spill-everything] [--interruptible] "
        "[--stage S]");
  runtime::CompileSettings settings;
  settings.check_allocation = settings.verify_ir = true;
  std::string stage;
  for (int i = 3; i < argc; ++i) {
    std::string arg = argv[i];
    std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (arg == "--spill-everything") {
      settings.spill_everything = true;
    } else if (arg == "--interruptible") {
      settings.interruptible = true;
    } else if (arg == "--level") {
      settings.level = std::atoi(argv[++i]);
    } else if (arg == "--bounds" && base::parse<base::Bounds>(value)) {
      settings.bounds = *base::parse<base::Bounds>(argv[++i]);
    } else if (arg == "--stage") {
      stage = argv[++i];
    } else {
      return fail("unknown argument " + arg);
    }
  }
  auto bytes = base::system_files().read_stream(argv[1], uint64_t{1} << 30);
  if (!bytes) return fail(bytes.error().to_string());
  auto module = runtime::decode_module(std::move(*bytes));
  if (!module) return fail(module.error().to_string());
  std::string wanted = argv[2];
  uint32_t function = 0;
  while (function < (*module)->function_count() && (*module)->function_name(function) != wanted) ++function;
  if (function == (*module)->function_count()) function = static_cast<uint32_t>(std::atoi(wanted.c_str()));
  auto dump = codegen::dump_stages(**module, function, settings);
  if (!dump) return fail(dump.error().to_string());
  const std::string locals = named_locals(**module, function);
  const std::pair<const char*, const std::string*> stages[] = {
      {"locals", &locals},           {"built", &dump->built},         {"optimized", &dump->optimized},
      {"selected", &dump->selected}, {"allocated", &dump->allocated}, {"assembly", &dump->assembly}};
  for (const auto& [name, text] : stages) {
    if (stage.empty()) std::printf("=== %s\n", name);
    if (stage.empty() || stage == name) std::printf("%s", text->c_str());
  }
  return 0;
}

}  // namespace
}  // namespace wago

int main(int argc, char** argv) {
  return wago::run(argc, argv);
}
