// Runs fib(20) of the module named on the command line, through the embedding API alone.
#include <wago/wago.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

int fail(const std::string& sentence) {
  std::fprintf(stderr, "%s\n", sentence.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fail("usage: embed MODULE");
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};

  auto engine = wago::Engine::open();
  if (!engine) return fail(engine.error().to_string());
  auto module = engine->compile(bytes);
  if (!module) return fail(module.error().to_string());
  auto instance = wago::Linker(*engine).instantiate(*module);
  if (!instance) return fail(instance.failure().error.to_string());
  auto fib = instance.value().function("fib");
  if (!fib) return fail(fib.error().to_string());

  const wago::Slot argument = 20;
  wago::Slot result = 0;
  if (auto outcome = fib->call({&argument, 1}, {&result, 1}); !outcome)
    return fail(outcome.trap().to_string());
  std::printf("fib(20) = %llu\n", static_cast<unsigned long long>(result));
}
