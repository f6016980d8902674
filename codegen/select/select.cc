#include "codegen/select/select.h"

#include "codegen/select/x64/isel.h"

namespace wago::codegen {

struct Selector::State {
  x64::Isel isel;
};

Selector::Selector() : state_(std::make_unique<State>()) {}
Selector::~Selector() = default;

void Selector::select(const runtime::Module& module, const runtime::CompileSettings& settings,
                      const IrFunction& function, MachFunction& out) {
  state_->isel.select(module, settings, function, out);
}

}  // namespace wago::codegen
