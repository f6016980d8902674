#include "runtime/exported_functions.h"

#include "base/text.h"

namespace wago::runtime {

base::Result<const FuncType*> exported_function(const Module& module, std::string_view name) {
  const Export* found = module.find_export(name);
  if (found && found->kind == ExternKind::Function) return &module.type_of_function(found->index);
  std::string problem = "there is no export " + base::display(name);
  if (found)
    problem = "export " + base::display(name) + " is a " + to_string(found->kind) + " and cannot be called";
  return base::usage_error(problem + "; " + list_exported_functions(module));
}

std::string list_exported_functions(const Module& module) {
  constexpr int kListed = 12;
  std::string text;
  int count = 0;
  for (const Export& item : module.exports) {
    if (item.kind != ExternKind::Function || ++count > kListed) continue;
    text += (count > 1 ? ", " : "") + base::display(item.name) + " " +
            to_string(module.type_of_function(item.index));
  }
  if (count == 0) return "it exports no function";
  if (count > kListed) text += " and " + std::to_string(count - kListed) + " more";
  return "it exports " + text;
}

}  // namespace wago::runtime
