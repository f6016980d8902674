#include "cli/imports.h"

#include "base/text.h"

namespace wago::cli {

namespace {

Function::HostBody abort_body() {
  return [](std::span<const Slot>, std::span<Slot>) -> std::optional<Trap> {
    Trap trap;
    trap.code = TrapCode::Abort;
    trap.message = base::sentence(TrapCode::Abort);
    return trap;
  };
}

}  // namespace

bool provides(const ImportInfo& import) {
  return import.module == "env" && import.name == "abort" && import.type.kind == ExternKind::Function;
}

base::Result<void> define_imports(Linker& linker, const Module& module) {
  std::string missing;
  int count = 0;
  for (const ImportInfo& import : module.imports()) {
    if (provides(import)) {
      auto defined = linker.define_host(import.module, import.name, import.type.function, abort_body());
      if (!defined) return defined.error();
      continue;
    }
    // A module that wants a whole operating system is not listed to the end.
    constexpr int kListed = 8;
    if (++count > kListed) continue;
    missing += (count > 1 ? ", " : "") + describe(import);
  }
  if (count == 0) return {};
  if (count > 8) missing += " and " + std::to_string(count - 8) + " more";
  return base::usage_error("imports that are not provided: " + missing);
}

std::string describe(const ImportInfo& import) {
  return base::display(import.module) + "." + base::display(import.name) + " " + describe(import.type);
}

std::string describe(const ExternType& type) {
  std::string text = to_string(type);
  return type.kind == ExternKind::Function ? std::string("function ") + text : text;
}

}  // namespace wago::cli
