#include "runtime/testing/assembled.h"

#include <algorithm>

#include "base/check.h"

namespace wago::runtime::testing {

FuncType binary() {
  return {{ValueType::I32, ValueType::I32}, {ValueType::I32}};
}
FuncType unary() {
  return {{ValueType::I32}, {ValueType::I32}};
}
FuncType nullary() {
  return {};
}

const CodeTarget& AssembledCompiler::target() const {
  static const CodeTarget target{"x86_64-linux", "assembled"};
  return target;
}

base::Result<std::shared_ptr<const CodeImage>> AssembledCompiler::compile(const Module&,
                                                                          const CompileSettings&) const {
  return base::failed("assembled modules are not compiled");
}

base::Result<std::shared_ptr<const CodeImage>> AssembledCompiler::compile_adapters(
    const FuncType& type) const {
  const size_t params = type.params.size();
  auto image = std::make_shared<CodeImage>();
  std::vector<uint8_t>& bytes = image->bytes;
  auto emit = [&](std::initializer_list<uint8_t> more) {
    for (uint8_t byte : more) bytes.push_back(byte);
  };

  auto here = [&] { return static_cast<uint32_t>(bytes.size()); };
  // An 8-bit displacement at the end of the bytes so far, to be pointed somewhere later.
  auto jump_to = [&](uint32_t field, uint32_t target) {
    bytes[field] = static_cast<uint8_t>(target - field - 1);
  };
  // The displacement that ends the last instruction is relative to the thread's state.
  auto thread_field = [&] { image->tls_fixups.push_back({here() - 4}); };

  // The entry adapter of abi.h.
  emit({0x55, 0x48, 0x89, 0xe5});                                // push rbp; mov rbp, rsp
  emit({0x53, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57});  // push rbx, r12..r15
  emit({0x48, 0x83, 0xec, 0x38});                                // sub rsp, 56
  emit({0x48, 0x89, 0x7c, 0x24, kActivationCallee});             // mov [rsp + callee], rdi
  emit({0x64, 0x48, 0x3b, 0x24, 0x25, kThreadEntry, 0, 0, 0});   // cmp rsp, fs:[entry]
  thread_field();
  emit({0x75, 0});  // jne prepare
  const uint32_t to_prepare = here() - 1, run = here();
  emit({0x4c, 0x8b, 0x7f, kFuncRefContext});                    // mov r15, [rdi + context]
  emit({0x48, 0x8b, 0x07});                                     // mov rax, [rdi]
  emit({0x49, 0x89, 0xf2});                                     // mov r10, rsi
  if (params > 0) emit({0x41, 0x8b, 0x3a});                     // mov edi, [r10]
  if (params > 1) emit({0x41, 0x8b, 0x72, 0x08});               // mov esi, [r10 + 8]
  emit({0xff, 0xd0});                                           // call rax
  emit({0x48, 0x89, 0xc2});                                     // mov rdx, rax
  emit({0x64, 0x48, 0x3b, 0x24, 0x25, kThreadEntry, 0, 0, 0});  // cmp rsp, fs:[entry]
  thread_field();
  emit({0x75, 0});  // jne leave_nested
  const uint32_t to_leave_nested = here() - 1, leave = here();
  emit({0x64, 0x48, 0x8b, 0x04, 0x25, kThreadStatus, 0, 0, 0});  // mov rax, fs:[status]
  thread_field();
  emit({0x48, 0x83, 0xc4, 0x38});                                      // add rsp, 56
  emit({0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5b, 0x5d});  // pop r15..r12, rbx, rbp
  emit({0xc3});                                                        // ret
  jump_to(to_leave_nested, here());
  emit({0x48, 0x8b, 0x44, 0x24, kActivationOuter});              // mov rax, [rsp + outer]
  emit({0x64, 0x48, 0x89, 0x04, 0x25, kThreadNested, 0, 0, 0});  // mov fs:[nested], rax
  thread_field();
  emit({0xeb, 0});  // jmp leave
  jump_to(here() - 1, leave);
  jump_to(to_prepare, here());
  emit({0x56, 0x57});                          // push rsi, rdi
  emit({0x48, 0x8b, 0x47, kFuncRefAdapters});  // mov rax, [rdi + adapters]
  emit({0x48, 0x8d, 0x7c, 0x24, 0x10});        // lea rdi, [rsp + 16]
  emit({0xff, 0x50, kAdaptersPrepare});        // call [rax + prepare]
  emit({0x5f, 0x5e});                          // pop rdi, rsi
  emit({0xeb, 0});                             // jmp run
  jump_to(here() - 1, run);

  // The host adapter.
  image->host_adapter = static_cast<uint32_t>(bytes.size());
  emit({0x55});                          // push rbp
  emit({0x48, 0x89, 0xe5});              // mov rbp, rsp
  emit({0x48, 0x83, 0xec, 0x10});        // sub rsp, 16
  emit({0x48, 0x89, 0x3c, 0x24});        // mov [rsp], rdi
  emit({0x48, 0x89, 0x74, 0x24, 0x08});  // mov [rsp + 8], rsi
  emit({0x4c, 0x89, 0xff});              // mov rdi, r15
  emit({0x48, 0x89, 0xe6});              // mov rsi, rsp
  emit({0x41, 0xff, 0x17});              // call [r15]
  emit({0x48, 0x85, 0xc0});              // test rax, rax
  emit({0x75, 0x06});                    // jne to the ud2
  emit({0x48, 0x8b, 0x04, 0x24});        // mov rax, [rsp]
  emit({0xc9, 0xc3});                    // leave; ret
  image->trap_sites.push_back({static_cast<uint32_t>(bytes.size()), base::TrapCode::Host});
  emit({0x0f, 0x0b});  // ud2
  return std::shared_ptr<const CodeImage>(image);
}

Engine assembled_engine(const EngineSettings& settings) {
  return Engine(std::make_shared<EngineData>(settings, std::make_unique<AssembledCompiler>()));
}

AssembledModule::AssembledModule()
    : module_(std::make_shared<Module>()), image_(std::make_shared<CodeImage>()) {}

uint32_t AssembledModule::type(const FuncType& type) {
  auto& types = module_->types;
  auto found = std::find(types.begin(), types.end(), type);
  if (found == types.end()) found = types.insert(types.end(), type);
  return static_cast<uint32_t>(found - types.begin());
}

uint32_t AssembledModule::import_function(std::string module, std::string name, const FuncType& import_type) {
  WAGO_CHECK(module_->bodies.empty());
  Import import;
  import.module = std::move(module);
  import.name = std::move(name);
  import.type_index = type(import_type);
  module_->function_types.push_back(import.type_index);
  module_->reference_indices.push_back(module_->reference_count++);
  module_->imports.push_back(std::move(import));
  return module_->imported_functions++;
}

uint32_t AssembledModule::function(const FuncType& function_type, std::string export_name) {
  const uint32_t index = module_->function_count();
  FunctionBody body;
  body.type_index = type(function_type);
  module_->bodies.push_back(body);
  module_->function_types.push_back(body.type_index);
  module_->reference_indices.push_back(module_->reference_count++);
  if (!export_name.empty()) add_export(std::move(export_name), ExternKind::Function, index);
  while (image_->bytes.size() % 64 != 0) image_->bytes.push_back(0xcc);
  CompiledFunction compiled;
  compiled.function = index;
  compiled.begin = static_cast<uint32_t>(image_->bytes.size());
  image_->functions.push_back(compiled);
  return index;
}

AssembledModule& AssembledModule::code(std::initializer_list<uint8_t> bytes) {
  for (uint8_t byte : bytes) image_->bytes.push_back(byte);
  return *this;
}

AssembledModule& AssembledModule::trap_site(base::TrapCode code, uint32_t wasm_pc) {
  position(wasm_pc);
  image_->trap_sites.push_back({static_cast<uint32_t>(image_->bytes.size()), code});
  return *this;
}

AssembledModule& AssembledModule::position(uint32_t wasm_pc, uint32_t inline_site) {
  image_->positions.push_back({static_cast<uint32_t>(image_->bytes.size()), wasm_pc, inline_site});
  return *this;
}

AssembledModule& AssembledModule::tls_fixup() {
  image_->tls_fixups.push_back({static_cast<uint32_t>(image_->bytes.size() - 4)});
  return *this;
}

void AssembledModule::add_export(std::string name, ExternKind kind, uint32_t index) {
  module_->exports.push_back({std::move(name), kind, index});
}

wago::Module AssembledModule::build(const Engine& engine, uint32_t code_offset) {
  const std::vector<Export>& exports = module_->exports;
  std::vector<uint32_t>& by_name = module_->export_order;
  std::vector<uint32_t>& by_function = module_->function_exports;
  by_name.clear();
  by_function.clear();
  for (uint32_t i = 0; i < exports.size(); ++i) {
    by_name.push_back(i);
    if (exports[i].kind == ExternKind::Function) by_function.push_back(i);
  }
  std::ranges::sort(by_name, {}, [&](uint32_t i) { return exports[i].name; });
  std::ranges::sort(by_function, {}, [&](uint32_t i) { return exports[i].index; });
  return wago::Module(ModuleData::create(engine.data(), module_, image_, code_offset).value());
}

void AssembledModule::add_function_add(std::string name) {
  function(binary(), std::move(name));
  code({0x55, 0x48, 0x89, 0xe5});  // push rbp; mov rbp, rsp
  code({0x8d, 0x04, 0x37});        // lea eax, [rdi + rsi]
  code({0x5d, 0xc3});              // pop rbp; ret
}

void AssembledModule::add_function_load(std::string name) {
  function(binary(), std::move(name));
  code({0x55, 0x48, 0x89, 0xe5});  // push rbp; mov rbp, rsp
  code({0x49, 0x8b, 0x07});        // mov rax, [r15]: the memory's base
  trap_site(base::TrapCode::MemoryOutOfBounds, 7);
  code({0x8b, 0x04, 0x38});  // mov eax, [rax + rdi]
  code({0x5d, 0xc3});        // pop rbp; ret
}

void AssembledModule::add_function_trap(std::string name) {
  function(nullary(), std::move(name));
  code({0x55, 0x48, 0x89, 0xe5});  // push rbp; mov rbp, rsp
  trap_site(base::TrapCode::Unreachable, 1);
  code({0x0f, 0x0b});  // ud2
}

void AssembledModule::add_function_wild(std::string name) {
  function(nullary(), std::move(name));
  code({0x55, 0x48, 0x89, 0xe5});  // push rbp; mov rbp, rsp
  code({0x0f, 0x0b});              // ud2
}

void AssembledModule::add_function_recurse(std::string name) {
  function(nullary(), std::move(name));
  code({0x55, 0x48, 0x89, 0xe5});                                // push rbp; mov rbp, rsp
  code({0x64, 0x48, 0x3b, 0x24, 0x25, 0x00, 0x00, 0x00, 0x00});  // cmp rsp, fs:[stack limit]
  tls_fixup();
  code({0x72, 0x0b});              // jb to the ud2
  code({0x48, 0x83, 0xec, 0x30});  // sub rsp, 48
  position(3);
  code({0xe8, 0xe8, 0xff, 0xff, 0xff});  // call itself
  code({0xc9, 0xc3});                    // leave; ret
  trap_site(base::TrapCode::StackExhausted, 3);
  code({0x0f, 0x0b});  // ud2
}

void AssembledModule::add_function_call_import(std::string name, const FuncType& function_type,
                                               uint32_t import) {
  const auto slot =
      static_cast<uint8_t>(sizeof(InstanceContext) + 16 * import);  // ContextLayout::imported_function
  WAGO_CHECK(slot < 0x78);
  function(function_type, std::move(name));
  code({0x55, 0x48, 0x89, 0xe5});                                // push rbp; mov rbp, rsp
  code({0x64, 0x48, 0x3b, 0x24, 0x25, 0x00, 0x00, 0x00, 0x00});  // cmp rsp, fs:[stack limit]
  tls_fixup();
  code({0x72, 0x16});                                        // jb to the ud2
  code({0x41, 0x57, 0x48, 0x83, 0xec, 0x08});                // push r15; sub rsp, 8
  code({0x49, 0x8b, 0x47, slot});                            // mov rax, [r15 + slot]
  code({0x4d, 0x8b, 0x7f, static_cast<uint8_t>(slot + 8)});  // mov r15, [r15 + slot + 8]
  position(5);
  code({0xff, 0xd0});              // call rax
  code({0x4c, 0x8b, 0x7d, 0xf8});  // mov r15, [rbp - 8]
  code({0xc9, 0xc3});              // leave; ret
  trap_site(base::TrapCode::StackExhausted, 5);
  code({0x0f, 0x0b});  // ud2
}

Slot call(const Function& function, std::initializer_list<Slot> args) {
  Slot result = 0;
  const size_t results = function.type().results.size();
  CallResult outcome = function.call({args.begin(), args.size()}, {&result, results});
  WAGO_CHECK_MSG(outcome.ok(), outcome.ok() ? nullptr : outcome.trap().to_string().c_str());
  return result;
}

Trap call_trapping(const Function& function, std::initializer_list<Slot> args) {
  Slot result = 0;
  const size_t results = function.type().results.size();
  CallResult outcome = function.call({args.begin(), args.size()}, {&result, results});
  WAGO_CHECK(!outcome.ok());
  return outcome.trap();
}

}  // namespace wago::runtime::testing
