// Gives a guest a function of the host's that reads the guest's memory, writes into that memory, and calls
// the guest as a C++ function. Run as: host_functions guest.wasm
#include <wago/wago.h>

#include <cstdio>
#include <fstream>
#include <iterator>

namespace {

int fail(const std::string& sentence) {
  std::fprintf(stderr, "%s\n", sentence.c_str());
  return 1;
}

// What a callable of the host's may do: take typed parameters, look at its caller, refuse with a sentence.
wago::Result<void> log(const wago::Caller& caller, uint32_t address, uint32_t size) {
  std::optional<wago::MemoryAccess> memory = caller.memory();
  auto text = memory ? memory->text(address, size) : std::nullopt;
  if (!text) return wago::base::failed("the text to log is not in the guest's memory");
  std::printf("guest: %.*s\n", static_cast<int>(text->size()), text->data());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fail("usage: host_functions guest.wasm");
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};

  auto engine = wago::Engine::open();
  if (!engine) return fail(engine.error().to_string());
  auto module = engine->compile(bytes);
  if (!module) return fail(module.error().to_string());

  wago::Linker linker(*engine);
  if (auto defined = linker.define_host("host", "log", log); !defined)
    return fail(defined.error().to_string());
  auto linked = linker.instantiate(*module);
  if (!linked) return fail(linked.failure().error.to_string());
  const wago::Instance& instance = linked.value();

  auto greet = instance.function("greet").value().typed<void()>().value();
  if (auto outcome = greet(); !outcome) return fail(outcome.trap().to_string());

  wago::Memory memory = instance.memory("memory").value();
  for (int32_t i = 0; i < 10; ++i) memory.access().store<int32_t>(1024 + 4 * i, i * i);
  auto sum = instance.function("sum").value().typed<int64_t(uint32_t, uint32_t)>();
  if (!sum) return fail(sum.error().to_string());
  std::printf("sum: %lld\n", static_cast<long long>((*sum)(1024, 10).value()));

  // What a guest does wrong is a value.
  auto beyond = (*sum)(65532, 2);
  std::printf("%s", beyond.trap().to_string().c_str());
}
