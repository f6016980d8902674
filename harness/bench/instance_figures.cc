#include <wago/wago.h>

#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "base/clock.h"
#include "base/files.h"
#include "harness/bench/figures.h"
#include "harness/bench/fresh_process.h"
#include "runtime/abi.h"
#include "runtime/instance.h"
#include "runtime/memory.h"
#include "runtime/module.h"

namespace wago::harness::bench {

namespace {

// (module (memory 1) (data (i32.const 0) "*")): its instances touch the first bytes of their memory.
constexpr std::string_view kMemoryModule("\0asm\1\0\0\0\5\3\1\0\1\xb\7\1\0\x41\0\xb\1*", 22);

// Nanoseconds to instantiate and close, of `count`.
double come_and_go(const Linker& linker, const wago::Module& module, uint64_t count) {
  const uint64_t before = base::thread_cpu_ns();
  for (uint64_t i = 0; i < count; ++i) {
    InstantiateResult instance = linker.instantiate(module);
    WAGO_CHECK(instance.ok());
  }
  return static_cast<double>(base::thread_cpu_ns() - before) / static_cast<double>(count);
}

// The same of a bare memory: reserved, committed, touched where the module's data goes, unmapped.
double bare_memory(uint64_t count) {
  const uint64_t before = base::thread_cpu_ns();
  for (uint64_t i = 0; i < count; ++i) {
    void* base = mmap(nullptr, runtime::kMemoryReservation, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    WAGO_CHECK(base != MAP_FAILED);
    WAGO_CHECK(mprotect(base, kPageBytes, PROT_READ | PROT_WRITE) == 0);
    *static_cast<volatile uint8_t*>(base) = '*';
    WAGO_CHECK(munmap(base, runtime::kMemoryReservation) == 0);
  }
  return static_cast<double>(base::thread_cpu_ns() - before) / static_cast<double>(count);
}

// Imports of every kind for `module`, memories and tables of its own for every instance. Functions trap: they
// are linked, never called.
base::Result<std::vector<Extern>> make_imports(const Engine& engine, const wago::Module& module,
                                               const std::vector<Extern>& shared_functions) {
  std::vector<Extern> imports;
  size_t next_function = 0;
  for (const ImportInfo& import : module.imports()) {
    const std::vector<Slot> zero(slots_of(import.type.global.value));
    switch (import.type.kind) {
      case ExternKind::Function:
        imports.push_back(shared_functions[next_function++]);
        break;
      case ExternKind::Memory: {
        auto memory = wago::Memory::create(engine, import.type.memory);
        if (!memory) return memory.error();
        imports.push_back(*memory);
        break;
      }
      case ExternKind::Table: {
        auto table = wago::Table::create(engine, import.type.table);
        if (!table) return table.error();
        imports.push_back(*table);
        break;
      }
      case ExternKind::Global: {
        auto global = wago::Global::create(engine, import.type.global, zero);
        if (!global) return global.error();
        imports.push_back(*global);
        break;
      }
    }
  }
  return imports;
}

base::Result<std::vector<Extern>> make_functions(const Engine& engine, const wago::Module& module) {
  std::vector<Extern> functions;
  for (const ImportInfo& import : module.imports()) {
    if (import.type.kind != ExternKind::Function) continue;
    auto function =
        Function::host(engine, import.type.function,
                       [](std::span<const Slot>, std::span<Slot>) -> std::optional<Trap> { return Trap(); });
    if (!function) return function.error();
    functions.push_back(*function);
  }
  return functions;
}

// The number behind `key` in a file of "key: number kB" lines, in bytes.
base::Result<int64_t> bytes_of(const char* file, const char* key) {
  std::FILE* lines = std::fopen(file, "re");
  if (!lines) return base::failed(std::string("cannot open ") + file + ": " + std::strerror(errno));
  char line[256];
  int64_t kilobytes = -1;
  while (kilobytes < 0 && std::fgets(line, sizeof line, lines)) {
    if (std::strncmp(line, key, std::strlen(key)) == 0) kilobytes = std::atoll(line + std::strlen(key));
  }
  std::fclose(lines);
  if (kilobytes < 0) return base::failed(std::string(file) + " has no line " + key);
  return kilobytes * 1024;
}

// What is resident of this process, with the kernel's tables of it.
base::Result<int64_t> held_bytes() {
  auto resident = bytes_of("/proc/self/smaps_rollup", "Rss:");
  if (!resident) return resident;
  auto tables = bytes_of("/proc/self/status", "VmPTE:");
  if (!tables) return tables;
  return *resident + *tables;
}

void give_memories_back(const Instance& instance) {
  const runtime::InstanceData& data = *instance.data();
  for (uint32_t i = 0; i < data.module().memories.size(); ++i) {
    const runtime::MemoryView& view = *data.memory(i)->view();
    if (view.bytes) WAGO_CHECK(madvise(view.base, view.bytes, MADV_DONTNEED) == 0);
  }
}

base::Result<Figure> bytes_each(const std::string& path) {
  auto bytes = number_from_fresh_process(kCountInstancesFlag + path);
  if (!bytes) return bytes.error();
  char text[32];
  std::snprintf(text, sizeof text, "%.3g n=%u", *bytes / 1000, kInstances);
  return Figure{"instances, kB each beyond their memories: " + base::base_name(path), text, "< 100",
                *bytes < 100'000};
}

}  // namespace

base::Result<double> bytes_per_instance(const std::string& path) {
  auto bytes = base::system_files().read(path, uint64_t{1} << 30);
  if (!bytes) return bytes.error();
  auto engine = Engine::open();
  if (!engine) return engine.error();
  auto module = engine->compile(*std::move(bytes));
  if (!module) return module.error();
  auto functions = make_functions(*engine, *module);
  if (!functions) return functions.error();

  std::vector<Instance> instances;
  instances.reserve(kInstances + 1);
  base::Result<int64_t> before = 0;
  // One more before counting begins: what the first of all makes is not every instance's.
  for (uint32_t i = 0; i <= kInstances; ++i) {
    auto imports = make_imports(*engine, *module, *functions);
    if (!imports) return imports.error();
    auto instance = Instance::create(*module, *imports);
    if (!instance) return instance.failure().error;
    instances.push_back(instance.value());
    give_memories_back(instances.back());
    if (i == 0) before = held_bytes();
  }
  auto after = held_bytes();
  if (!before) return before.error();
  if (!after) return after.error();
  return static_cast<double>(*after - *before) / kInstances;
}

base::Result<std::vector<Figure>> instance_figures(const FigureOptions& options) {
  auto engine = Engine::open();
  if (!engine) return engine.error();
  auto module = engine->compile({kMemoryModule.begin(), kMemoryModule.end()});
  if (!module) return module.error();
  const Linker linker(*engine);
  constexpr uint64_t kTurn = 500;
  const Paired pairs = measure_pairs(
      options.quick ? 4 : 60, 2, [&] { return come_and_go(linker, *module, kTurn); },
      [] { return bare_memory(kTurn); });
  std::vector<Figure> figures = {
      {"instance, 1 page: instantiate and close, ns", to_string(pairs.a, "%.0f"), ""},
      {"instance, 1 page: bare memory, ns", to_string(pairs.b, "%.0f"), ""},
      {"instantiate and close / bare memory", to_string(pairs.ratio), "<= 1.5", pairs.ratio.median <= 1.5}};

  auto largest = largest_corpus_module(options);
  std::vector<std::string> paths;
  if (largest) paths.push_back(*largest);
  if (!options.module.empty()) paths.push_back(options.module);
  if (paths.empty()) return largest.error();
  for (const std::string& path : paths) {
    auto figure = bytes_each(path);
    if (!figure) return figure.error();
    figures.push_back(*figure);
  }
  return figures;
}

}  // namespace wago::harness::bench
