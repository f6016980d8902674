#include "codegen/source_lines.h"

#include <algorithm>
#include <utility>

#include "codegen/llvm/line_reader.h"

namespace wago::codegen {

namespace {

class DwarfLines final : public runtime::SourceLines {
 public:
  explicit DwarfLines(std::shared_ptr<const runtime::Module> module)
      : module_(std::move(module)), reader_(*module_) {}
  std::vector<SourceFrame> at(uint32_t module_offset) const override { return reader_.at(module_offset); }

 private:
  std::shared_ptr<const runtime::Module> module_;
  LineReader reader_;
};

}  // namespace

std::shared_ptr<const runtime::SourceLines> open_source_lines(std::shared_ptr<const runtime::Module> module) {
  const auto is_debug_info = [](const runtime::CustomSection& custom) {
    return custom.name == ".debug_info";
  };
  if (std::none_of(module->customs.begin(), module->customs.end(), is_debug_info)) return nullptr;
  return std::make_shared<DwarfLines>(std::move(module));
}

}  // namespace wago::codegen
