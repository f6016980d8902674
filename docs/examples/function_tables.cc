// Puts functions of the host's and of another instance into a table that a guest calls through, and lets go
// of everything but the guest. Run as: function_tables guest.wasm
#include <wago/wago.h>

#include <cstdio>
#include <fstream>
#include <iterator>

namespace {

// An instance of the module whose log goes nowhere.
wago::Instance instantiate(const wago::Engine& engine, const wago::Module& module) {
  wago::Linker linker(engine);
  linker.define("host", "log", wago::Function::host(engine, [](uint32_t, uint32_t) {}).value());
  return linker.instantiate(module).value();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};

  wago::EngineSettings settings;
  settings.limits.memory_pages = 16;             // this engine's guests get a megabyte each,
  settings.limits.table_entries = 1000;          // small tables,
  settings.limits.guest_stack_bytes = 64 << 10;  // and little stack
  wago::Engine engine = wago::Engine::open(settings).value();
  wago::Module module = engine.compile(bytes).value();
  wago::Instance instance = instantiate(engine, module);

  {
    wago::Table operations = instance.table("operations").value();
    auto add = wago::Function::host(engine, [](int32_t a, int32_t b) { return a + b; });
    auto divide = wago::Function::host(engine, [](int32_t a, int32_t b) -> wago::Result<int32_t> {
      if (b == 0) return wago::base::failed("nothing is divided by zero here");
      return a / b;
    });
    if (!operations.set(0, add.value()) || !operations.set(1, divide.value())) return 1;
  }  // the table keeps them

  auto operate = instance.function("operate").value().typed<int32_t(int32_t, int32_t, int32_t)>().value();
  std::printf("40 + 2 = %d\n", operate(0, 40, 2).value());
  std::printf("84 / 2 = %d\n", operate(1, 84, 2).value());
  std::printf("84 / 0: %s\n", operate(1, 84, 0).trap().message.c_str());
  std::printf("entry 2: %s\n", operate(2, 1, 1).trap().message.c_str());
}
