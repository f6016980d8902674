// `wago validate`, `wago module imports`, `wago module exports`: what needs no compiled code.
#include <memory>

#include <wago/wago.h>
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/module_file.h"
#include "cli/output.h"
#include "runtime/module.h"
#include "runtime/provided_imports.h"

namespace wago::cli {

namespace {

using base::Json;

struct FileOptions {
  std::string file;
  bool json = false;
};

Json json_of(const Limits& limits) {
  return Json::object({{"min", limits.min}, {"max", limits.max}});
}

Json json_of(const std::vector<ValueType>& types) {
  Json list = Json::array();
  for (ValueType type : types) list.push(to_string(type));
  return list;
}

// "kind", "type" for people, and the parts of the type for programs.
void describe(Json& entry, const ExternType& type) {
  entry.set("kind", to_string(type.kind)).set("type", to_string(type));
  switch (type.kind) {
    case ExternKind::Function:
      entry.set("params", json_of(type.function.params)).set("results", json_of(type.function.results));
      break;
    case ExternKind::Table:
      entry.set("element", to_string(type.table.element)).set("limits", json_of(type.table.limits));
      break;
    case ExternKind::Memory:
      entry.set("limits", json_of(type.memory.limits));
      break;
    case ExternKind::Global:
      entry.set("value", to_string(type.global.value)).set("mutable", type.global.mutable_);
      break;
  }
}

// The type without the kind, which has a column of its own.
std::string type_column(const ExternType& type) {
  std::string text = to_string(type);
  std::string kind = std::string(to_string(type.kind)) + " ";
  return text.starts_with(kind) ? text.substr(kind.size()) : text;
}

int print_imports(const FileOptions& options, Output& output) {
  auto module = decode_file(options.file);
  if (!module) return output.fail(module.error());
  std::vector<std::vector<std::string>> rows;
  Json list = Json::array();
  for (const ImportInfo& import : imports_of(**module)) {
    Json entry = Json::object({{"module", import.module}, {"name", import.name}});
    describe(entry, import.type);
    entry.set("provided", runtime::is_provided(import));
    list.push(std::move(entry));
    rows.push_back({base::display(import.module), base::display(import.name), to_string(import.type.kind),
                    type_column(import.type), runtime::is_provided(import) ? "provided" : "not provided"});
  }
  output.print(options.json ? Json::object({{"imports", std::move(list)}}).dump(2) + "\n"
                            : base::columns(rows));
  return kExitDone;
}

int print_exports(const FileOptions& options, Output& output) {
  auto module = decode_file(options.file);
  if (!module) return output.fail(module.error());
  std::vector<std::vector<std::string>> rows;
  Json list = Json::array();
  for (const ExportInfo& item : exports_of(**module)) {
    Json entry = Json::object({{"name", item.name}});
    describe(entry, item.type);
    list.push(std::move(entry));
    rows.push_back({base::display(item.name), to_string(item.type.kind), type_column(item.type)});
  }
  output.print(options.json ? Json::object({{"exports", std::move(list)}}).dump(2) + "\n"
                            : base::columns(rows));
  return kExitDone;
}

int validate_file(const FileOptions& options, Output& output) {
  auto module = decode_file(options.file);
  return module ? kExitDone : output.fail(module.error());
}

void add_file_command(Command& parent, const char* name, const char* summary, const char* json_help,
                      int (*run)(const FileOptions&, Output&)) {
  auto options = std::make_shared<FileOptions>();
  Command& command = parent.add_command(name, summary);
  command.add_operand("FILE", "A WebAssembly module in binary form", &options->file);
  command.add_flag("--json", json_help, &options->json);
  command.set_action([options, run](Output& output) { return run(*options, output); });
}

}  // namespace

void add_validate(Command& program) {
  add_file_command(program, "validate", "Check a module; silent when it is valid", "Errors as JSON",
                   validate_file);
}

void add_module(Command& program) {
  Command& module = program.add_command("module", "Show what a module imports and exports");
  add_file_command(module, "imports", "Every import, and whether this build provides it", "As JSON",
                   print_imports);
  add_file_command(module, "exports", "Every export with its full type", "As JSON", print_exports);
}

}  // namespace wago::cli
