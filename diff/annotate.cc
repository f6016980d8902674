#include "diff/annotate.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/text.h"
#include "diff/elapsed.h"
#include "diff/executions.h"
#include "diff/hot_spots.h"
#include "diff/machine_code.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

using capture::CodeMetadata;
using capture::Image;
using capture::ImageKind;
using capture::kNone;

constexpr size_t kLongestName = 160;  // that is shown whole

std::string shown(std::string_view name) {
  if (name.size() <= kLongestName) return base::display(name);
  return base::display(name.substr(0, kLongestName)) + " and " +
         format_plural(name.size() - kLongestName, "byte") + " more";
}

std::optional<uint32_t> whole_number(std::string_view text) {
  uint32_t number = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string some(const std::vector<std::string>& words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  return base::join_some(views);
}

// By which a function can be asked for: where its name would fill a screen, its index.
std::string handle_of(const std::string& name, uint32_t index) {
  const std::string label = base::function_label(name);
  return label.size() <= kLongestName ? label : std::to_string(index);
}

// Names that hold what was asked for, else any.
base::Error no_such_function(const Evidence& evidence, std::string_view wanted) {
  std::vector<std::string> similar, all;
  for (const Image& image : evidence.images.images) {
    for (const capture::Function& function : image.functions) {
      all.push_back(handle_of(function.name, function.index));
      if (base::function_label(function.name).find(wanted) != std::string::npos)
        similar.push_back(all.back());
    }
    for (const capture::ExportedName& exported : image.exports) {
      if (exported.name.find(wanted) != std::string::npos)
        similar.push_back(handle_of(exported.name, exported.function));
    }
  }
  const auto& known = similar.empty() ? all : similar;
  std::string sentence = "no function is called " + shown(wanted);
  if (!known.empty()) sentence += (similar.empty() ? "; there are " : "; did you mean ") + some(known);
  return base::usage_error(sentence, {.file = evidence.path});
}

void describe(const Evidence& evidence, const FunctionChoice& choice, Annotation& result) {
  const capture::Function& function = *choice.function;
  result.capture = evidence.path;
  result.workload = evidence.manifest.workload;
  result.module_name = evidence.images.images[choice.image].name;
  result.index = function.index;
  result.name = function.name;
  result.signature = function.signature;
  result.begin = function.begin;
  result.bytes = function.size;
  result.wasm_bytes = function.wasm_size;
  result.statistics = function.statistics;
  result.work = work_behind_samples(evidence.manifest);
  result.work_unit = elapsed_of(evidence).unit;
}

// What was inlined into the function, and into which functions it was inlined: both from positions, which
// say where the code of inline sites lies.
void add_inlining(const Evidence& evidence, const FunctionChoice& choice, const Locations& locations,
                  Annotation& result) {
  const Image& image = evidence.images.images[choice.image];
  const CodeMetadata& metadata = image.metadata;
  std::set<uint32_t> here;
  std::set<uint32_t> holders;
  std::map<uint32_t, const capture::Function*> holder_of;  // by inline site
  for (const capture::Position& position : metadata.positions) {
    if (position.inline_site == kNone || holder_of.contains(position.inline_site)) continue;
    const Location at = locations.locate(choice.image, position.offset);
    holder_of[position.inline_site] = at.holder;
    if (!at.holder) continue;
    for (uint32_t site = position.inline_site, depth = 0; site != kNone && depth < kMaxInlineDepth; ++depth) {
      const capture::InlineSite& inlined = metadata.inline_sites[site];
      if (at.holder == choice.function) {
        here.insert(site);
      } else if (inlined.callee == choice.function->index) {
        holders.insert(at.holder->index);
      }
      site = inlined.parent;
    }
  }
  std::map<uint32_t, uint32_t> depth_of;
  for (const uint32_t site : here) {
    const capture::InlineSite& inlined = metadata.inline_sites[site];
    const uint32_t depth = inlined.parent == kNone ? 0 : depth_of[inlined.parent] + 1;
    depth_of[site] = depth;
    result.inlined.push_back({site, inlined.parent, inlined.callee,
                              locations.function_name(choice.image, inlined.callee), inlined.call_pc, depth});
  }
  for (const uint32_t holder : holders) {
    result.inlined_into.push_back(locations.function_name(choice.image, holder));
  }
}

// Samples whose innermost frame is in the function's machine code, by offset.
std::map<uint32_t, std::pair<uint64_t, uint64_t>> samples_in(const Evidence& evidence,
                                                             const FunctionChoice& choice,
                                                             const Locations& locations) {
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> by_offset;
  if (!evidence.samples) return by_offset;
  const capture::Samples& samples = *evidence.samples;
  const uint32_t image = locations.canonical(choice.image);
  const uint32_t begin = choice.function->begin;
  for (const capture::Sample& sample : samples.samples) {
    const capture::Frame& frame = samples.frames[samples.stacks[sample.stack].frame];
    if (frame.image == kNone || locations.canonical(frame.image) != image || frame.offset < begin ||
        frame.offset - begin >= choice.function->size) {
      continue;
    }
    auto& [weight, count] = by_offset[frame.offset];
    weight += sample.weight;
    ++count;
  }
  return by_offset;
}

// Where rows begin without code: wherever something is known.
std::set<uint32_t> known_offsets(const Image& image, const capture::Function& function,
                                 const std::map<uint32_t, std::pair<uint64_t, uint64_t>>& samples) {
  std::set<uint32_t> offsets;
  auto add = [&](uint32_t offset) {
    if (offset >= function.begin && offset - function.begin < function.size) offsets.insert(offset);
  };
  for (const capture::Position& position : image.metadata.positions) add(position.offset);
  for (const capture::EmittedSite& site : image.metadata.sites) add(site.offset);
  for (const capture::Block& block : image.metadata.blocks) add(block.begin);
  for (const auto& [offset, seen] : samples) add(offset);
  if (!offsets.empty()) offsets.insert(function.begin);
  return offsets;
}

std::vector<AnnotatedRow> stretches(const Image& image, const capture::Function& function,
                                    const std::map<uint32_t, std::pair<uint64_t, uint64_t>>& samples) {
  std::vector<AnnotatedRow> rows;
  for (const uint32_t offset : known_offsets(image, function, samples)) {
    if (!rows.empty()) rows.back().size = offset - rows.back().offset;
    AnnotatedRow row;
    row.offset = offset;
    row.size = function.begin + function.size - offset;
    rows.push_back(std::move(row));
  }
  return rows;
}

AnnotatedRow* row_at(std::vector<AnnotatedRow>& rows, uint32_t offset) {
  auto after = std::upper_bound(rows.begin(), rows.end(), offset,
                                [](uint32_t at, const AnnotatedRow& row) { return at < row.offset; });
  if (after == rows.begin()) return nullptr;
  AnnotatedRow& row = *(after - 1);
  return offset - row.offset < row.size ? &row : nullptr;
}

// Over all images that hold the same code.
void add_counts(const Evidence& evidence, const FunctionChoice& choice, const Locations& locations,
                Annotation& result) {
  if (!evidence.counts) return;
  const uint32_t canonical = locations.canonical(choice.image);
  for (uint32_t image = 0; image < evidence.images.images.size(); ++image) {
    if (locations.canonical(image) != canonical) continue;
    if (evidence.counts->entered[image].empty()) continue;
    result.counted = true;
    const InstructionExecutions executions(evidence, image);
    for (AnnotatedRow& row : result.rows) {
      if (const auto times = executions.machine(row.offset)) row.executed = row.executed.value_or(0) + *times;
    }
  }
  for (const FunctionExecutions& own : executions_of(evidence).functions) {
    if (own.function != choice.function->index || locations.canonical(own.image) != canonical) continue;
    result.counts.machine_instructions += own.machine_instructions;
    result.counts.wasm_instructions += own.wasm_instructions;
    result.counts.entered += own.entered;
  }
}

std::string_view file_name_of(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

std::set<std::string> sources_of(const std::vector<AnnotatedRow>& rows) {
  std::set<std::string> files;
  for (const AnnotatedRow& row : rows) {
    if (!row.source.empty() && !row.source.front().file.empty()) files.insert(row.source.front().file);
  }
  return files;
}

// The files of rows, and those that the module names of which one could be taken for them; each with the last
// line that the module names of it.
std::map<std::string, uint32_t> named_sources(const CodeMetadata& metadata,
                                              const std::set<std::string>& files) {
  std::set<std::string_view> names;
  for (const std::string& file : files) names.insert(file_name_of(file));
  std::map<std::string, uint32_t> last_lines;
  for (const capture::SourceFrame& frame : metadata.source_frames) {
    if (frame.file == kNone || !names.contains(file_name_of(metadata.texts[frame.file]))) continue;
    uint32_t& last_line = last_lines[metadata.texts[frame.file]];
    last_line = std::max(last_line, frame.line);
  }
  return last_lines;
}

void add_texts(const CodeMetadata& metadata, SourceFiles& sources, Annotation& result) {
  const std::set<std::string> files = sources_of(result.rows);
  sources.find(named_sources(metadata, files));
  for (AnnotatedRow& row : result.rows) {
    if (!row.source.empty()) row.source_text = sources.line(row.source.front().file, row.source.front().line);
  }
  for (const FoundSource& found : sources.found()) {
    if (files.contains(found.file)) result.found_sources.push_back(found);
  }
  for (const std::string& file : sources.missing()) {
    if (files.contains(file)) result.missing_sources.push_back(file);
  }
}

void add_origins(uint32_t image, const Locations& locations, std::vector<AnnotatedRow>& rows) {
  for (AnnotatedRow& row : rows) {
    const Location at = locations.locate(image, row.offset);
    row.places = at.places;
    row.site = at.site;
    if (!row.places.empty()) {
      row.wasm = locations.instruction(image, row.places.front());
      for (const SourcePlace& place : locations.source(image, row.places.front())) {
        row.source.push_back({std::string(place.function), std::string(place.file), place.line});
      }
    }
  }
}

void add_costs(const Evidence& evidence, const FunctionChoice& choice, const Locations& locations,
               Annotation& result) {
  if (!evidence.samples) return;
  const HotSpots spots = hot_spots(evidence, Grouping::Function);
  result.unsampled = spots.weight == 0;
  if (result.unsampled) return;
  result.unit = spots.unit;
  result.all_weight = spots.weight;
  uint64_t own = 0;  // of it in its own machine code
  for (const AnnotatedRow& row : result.rows) {
    if (!row.places.empty() && row.places.front().function == choice.function->index) own += row.self;
  }
  for (const HotSpot& spot : spots.rows) {
    if (spot.label.function != choice.function->index ||
        spot.label.image != locations.canonical(choice.image)) {
      continue;
    }
    result.total = spot.total;
    result.elsewhere = spot.self > own ? spot.self - own : 0;
  }
}

}  // namespace

std::string to_string(const SourceLine& line) {
  return to_string(SourcePlace{line.function, line.file, line.line});
}

base::Result<FunctionChoice> choose_function(const Evidence& evidence, std::string_view name_or_index) {
  const Locations locations(evidence);
  const auto index = whole_number(name_or_index);
  std::vector<FunctionChoice> named, numbered;
  for (uint32_t i = 0; i < evidence.images.images.size(); ++i) {
    const Image& image = evidence.images.images[i];
    if (image.kind != ImageKind::Module || locations.canonical(i) != i) continue;
    for (const capture::Function& function : image.functions) {
      if (function.name == name_or_index || base::function_label(function.name) == name_or_index) {
        named.push_back({i, &function});
      }
      if (index && function.index == *index) numbered.push_back({i, &function});
    }
    for (const capture::ExportedName& exported : image.exports) {
      if (exported.name != name_or_index) continue;
      const capture::Function* function = locations.function(i, exported.function);
      const bool known = std::ranges::any_of(
          named, [&](const FunctionChoice& choice) { return choice.function == function; });
      if (function && !known) named.push_back({i, function});
    }
  }
  const auto& found = named.empty() ? numbered : named;
  if (found.empty()) return no_such_function(evidence, name_or_index);
  if (found.size() == 1) return found.front();
  std::vector<std::string> all;
  for (const FunctionChoice& choice : found) all.push_back(std::to_string(choice.function->index));
  return base::usage_error(format_count(found.size()) + " functions are called " + shown(name_or_index) +
                               " or exported so: name one by its index, " + some(all),
                           {.file = evidence.path});
}

base::Result<Annotation> annotate(const Evidence& evidence, const FunctionChoice& choice,
                                  const Disassemble& disassemble, SourceFiles* sources, bool needs_code) {
  if (needs_code && !evidence.code) {
    return base::usage_error("the capture does not hold its machine code: record with --include-code",
                             {.file = evidence.path});
  }
  const Locations locations(evidence);
  const Image& image = evidence.images.images[choice.image];
  Annotation result;
  describe(evidence, choice, result);
  result.has_code = evidence.code.has_value();
  const auto samples = samples_in(evidence, choice, locations);
  if (evidence.code) {
    for (MachineRow& machine : MachineCode(evidence, choice.image, disassemble).of(*choice.function)) {
      AnnotatedRow row;
      row.offset = machine.offset;
      row.size = machine.size;
      row.assembly = std::move(machine.text);
      row.target = std::move(machine.target);
      result.rows.push_back(std::move(row));
    }
  } else {
    result.rows = stretches(image, *choice.function, samples);
  }
  for (const auto& [offset, seen] : samples) {
    AnnotatedRow* row = row_at(result.rows, offset);
    if (!row) continue;
    row->self += seen.first;
    row->samples += seen.second;
    result.self += seen.first;
    result.samples += seen.second;
  }
  add_counts(evidence, choice, locations, result);
  add_origins(choice.image, locations, result.rows);
  if (sources) add_texts(image.metadata, *sources, result);
  add_inlining(evidence, choice, locations, result);
  result.decided = decided_about(evidence, choice, locations, result.rows);
  add_costs(evidence, choice, locations, result);
  return result;
}

}  // namespace wago::diff
