// Makes a seed for fuzz_artifact: artifact_seed MODULE OUT. At build time, so that it is of this build's
// format.
#include <cstdio>

#include <wago/wago.h>

#include "base/files.h"

int main(int argc, char** argv) {
  using namespace wago;
  if (argc != 3) return 2;
  auto bytes = base::system_files().read(argv[1], uint64_t{1} << 20);
  if (!bytes) return std::fprintf(stderr, "%s\n", bytes.error().to_string().c_str()), 1;
  auto module = Engine::open().value().compile(*std::move(bytes));
  if (!module) return std::fprintf(stderr, "%s\n", module.error().to_string().c_str()), 1;
  std::FILE* out = std::fopen(argv[2], "wb");
  if (!out) return 1;
  const std::vector<uint8_t> artifact = module->serialize();
  const bool written = std::fwrite(artifact.data(), 1, artifact.size(), out) == artifact.size();
  return std::fclose(out) == 0 && written ? 0 : 1;
}
