#include "capture/export_lines.h"

#include "base/demangle.h"

namespace wago::capture {

namespace {

ExportLine line_of(std::string raw, std::string file = {}, uint32_t line = 0) {
  std::string name = base::demangled(raw);
  return {std::move(name), std::move(raw), std::move(file), line};
}

}  // namespace

ExportContext export_context(const Manifest& manifest) {
  ExportContext context;
  context.workload = manifest.workload;
  context.program = "wago " + manifest.program_version;
  context.event = manifest.event;
  context.logical_cpus = manifest.logical_cpus;
  context.source_maps = manifest.effective_settings.source_maps;
  if (const PhaseRecord* phase = manifest.measured_phase()) {
    context.start_unix_ns = phase->start_unix_ns;
    context.duration_ns = phase->elapsed_ns;
  }
  return context;
}

const ExportFrame& ExportLines::of(uint32_t frame, bool caller) {
  auto [at, added] = known_.try_emplace({frame, caller});
  if (added) at->second = describe(samples_.frames[frame], caller);
  return at->second;
}

ExportFrame ExportLines::describe(const Frame& frame, bool caller) const {
  const Location location = locations_.locate(frame, caller);
  ExportFrame described;
  described.side = location.side;
  if (location.symbol) {
    described.lines = {line_of(location.symbol->name)};
    described.binary = location.symbol->binary;
    return described;
  }
  if (location.image != kNone) {
    const Image& image = images_.images[location.image];
    if (location.holder) {
      describe_guest(location, described);
      return described;
    }
    const RegionKind kind = location.region ? location.region->kind : RegionKind::Padding;
    described.binary = image.name;
    described.lines = {{std::string(spelling(kind)) + " " + image.name, std::string(spelling(kind)), "", 0}};
    return described;
  }
  described.lines = {line_of("unknown")};
  return described;
}

void ExportLines::describe_guest(const Location& location, ExportFrame& frame) const {
  frame.binary = images_.images[location.image].name;
  frame.is_wasm = true;
  const WasmPlace& innermost = location.places.front();
  const Function* function = locations_.function(location.image, innermost.function);
  frame.address =
      (function ? function->wasm_begin : 0) + (innermost.wasm_pc == kNone ? 0 : innermost.wasm_pc);
  if (location.site) frame.site = spelling(*location.site);
  for (const WasmPlace& place : location.places) {
    const std::vector<SourcePlace> sources = locations_.source(location.image, place);
    const std::string name = locations_.function_name(location.image, place.function);
    for (size_t i = 0; i < sources.size(); ++i) {
      // The last is the wasm function itself, which has a name of its own.
      const bool is_inlined = i + 1 < sources.size();
      const std::string shown = is_inlined ? std::string(sources[i].function) : name;
      frame.lines.push_back(
          line_of(shown.empty() ? "unknown" : shown, std::string(sources[i].file), sources[i].line));
    }
    if (sources.empty()) frame.lines.push_back(line_of(name));
  }
}

}  // namespace wago::capture
