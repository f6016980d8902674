#include "runtime/provided_imports.h"

#include "base/text.h"

namespace wago::runtime {

namespace {

Function::HostBody abort_body() {
  return [](std::span<const Slot>, std::span<Slot>) -> std::optional<Trap> {
    Trap trap;
    trap.code = TrapCode::Abort;
    trap.message = base::sentence(TrapCode::Abort);
    return trap;
  };
}

// "env.memory (memory 1 pages)"
std::string describe(const ImportInfo& import) {
  std::string kind = import.type.kind == ExternKind::Function ? "function " : "";
  return base::display(import.module) + "." + base::display(import.name) + " (" + kind +
         to_string(import.type) + ")";
}

}  // namespace

bool is_provided(const ImportInfo& import) {
  return import.module == "env" && import.name == "abort" && import.type.kind == ExternKind::Function;
}

base::Result<void> define_provided(Linker& linker, const wago::Module& module) {
  // A module that wants a whole operating system is not listed to the end.
  constexpr int kListed = 8;
  std::string missing;
  int count = 0;
  for (const ImportInfo& import : module.imports()) {
    if (linker.provides(import)) continue;
    if (is_provided(import)) {
      auto defined = linker.define_host(import.module, import.name, import.type.function, abort_body());
      if (!defined) return defined.error();
    } else if (++count <= kListed) {
      missing += (count > 1 ? ", " : "") + describe(import);
    }
  }
  if (count == 0) return {};
  if (count > kListed) missing += " and " + std::to_string(count - kListed) + " more";
  return base::usage_error("imports that are not provided: " + missing + "; only env.abort is");
}

}  // namespace wago::runtime
