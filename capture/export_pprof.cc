#include "capture/export_pprof.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "base/files.h"
#include "base/text.h"

namespace wago::capture {

namespace {

// A message in the wire format of protocol buffers. Fields that are zero are left out, as that format has it.
class Message {
 public:
  Message& number(uint32_t field, uint64_t value) {
    if (value == 0) return *this;
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& message(uint32_t field, const Message& part) { return bytes(field, part.bytes_); }
  Message& text(uint32_t field, std::string_view text) {
    varint(field << 3 | 2);
    varint(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  Message& packed(uint32_t field, const std::vector<uint64_t>& values) {
    Message all;
    for (uint64_t value : values) all.varint(value);
    return bytes(field, all.bytes_);
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  Message& bytes(uint32_t field, const std::vector<uint8_t>& part) {
    varint(field << 3 | 2);
    varint(part.size());
    bytes_.insert(bytes_.end(), part.begin(), part.end());
    return *this;
  }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<uint8_t>(value));
  }
  std::vector<uint8_t> bytes_;
};

// Fields of profile.proto.
namespace field {
enum Profile : uint32_t {
  SampleType = 1,
  Sample,
  Mapping,
  Location,
  Function,
  StringTable,
  TimeNanos = 9,
  DurationNanos,
  PeriodType,
  Period,
  Comment,
  DefaultSampleType
};
enum ValueType : uint32_t { Type = 1, Unit };
enum SampleFields : uint32_t { LocationId = 1, Value, Label };
enum LabelFields : uint32_t { Key = 1, Str };
enum MappingFields : uint32_t {
  MappingIdentifier = 1,
  MemoryStart,
  MemoryLimit,
  MappingFile = 5,
  HasFunctions = 7,
  HasFilenames,
  HasLineNumbers,
  HasInlineFrames
};
enum LocationFields : uint32_t { LocationIdentifier = 1, MappingId, Address, Lines };
enum LineFields : uint32_t { FunctionId = 1, LineNumber };
enum FunctionFields : uint32_t { FunctionIdentifier = 1, Name, SystemName, Filename };
}  // namespace field

class Writer {
 public:
  Writer(const ExportContext& context, const Images& images, const Samples& samples)
      : context_(context), samples_(samples), lines_(images, samples, context.source_maps), images_(images) {
    string("");  // by the format the first is empty
  }

  std::vector<uint8_t> write() {
    const std::string unit = samples_.unit;
    const bool is_time = unit == "nanoseconds";
    const std::string measured = is_time ? "cpu" : unit;
    const std::string measured_unit = is_time ? unit : "count";
    profile_.message(field::SampleType, value_type("samples", "count"));
    profile_.message(field::SampleType, value_type(measured, measured_unit));
    for (const Sample& sample : samples_.samples) add(sample);
    add_mappings();
    profile_.number(field::TimeNanos, context_.start_unix_ns);
    profile_.number(field::DurationNanos, context_.duration_ns);
    profile_.message(field::PeriodType, value_type(measured, measured_unit));
    profile_.number(field::Period, is_time ? samples_.period_ns : 0);
    for (const std::string& comment :
         {"workload " + context_.workload, "event " + context_.event, context_.program}) {
      profile_.number(field::Comment, string(comment));
    }
    profile_.number(field::DefaultSampleType, string(measured));
    for (const std::string& text : strings_) profile_.text(field::StringTable, text);
    return base::gzip(profile_.bytes());
  }

 private:
  // Escaped, since readers of the format print to terminals as they find it.
  uint64_t string(const std::string& raw) {
    const std::string text = base::printable(raw);
    auto [at, added] = string_numbers_.try_emplace(text, strings_.size());
    if (added) strings_.push_back(text);
    return at->second;
  }
  Message value_type(const std::string& type, const std::string& unit) {
    return Message().number(field::Type, string(type)).number(field::Unit, string(unit));
  }

  void add(const Sample& sample) {
    std::vector<uint64_t> locations;
    const ExportFrame* innermost = nullptr;
    for (uint32_t at = sample.stack; at != kNone; at = samples_.stacks[at].caller) {
      const bool caller = at != sample.stack;
      const uint32_t frame = samples_.stacks[at].frame;
      const ExportFrame& described = lines_.of(frame, caller);
      if (!innermost) innermost = &described;
      locations.push_back(location(frame, caller, described));
    }
    Message message;
    message.packed(field::LocationId, locations);
    message.packed(field::Value, {count_of(sample, *innermost), sample.weight});
    message.message(field::Label, label("thread", samples_.threads[sample.thread].name));
    message.message(field::Label, label("kind", std::string(spelling(innermost->side))));
    if (!innermost->site.empty()) message.message(field::Label, label("site", std::string(innermost->site)));
    profile_.message(field::Sample, message);
  }
  // Of the kernel's time there is one record for all the samples that could not be taken in it.
  uint64_t count_of(const Sample& sample, const ExportFrame& innermost) const {
    if (innermost.side != Side::Kernel || samples_.period_ns == 0) return 1;
    return std::max<uint64_t>((sample.weight + samples_.period_ns / 2) / samples_.period_ns, 1);
  }
  Message label(const std::string& key, const std::string& text) {
    return Message().number(field::Key, string(key)).number(field::Str, string(text));
  }

  // Frames at the same place are one location.
  uint64_t location(uint32_t frame, bool caller, const ExportFrame& described) {
    auto [known, is_new] = location_of_frame_.try_emplace({frame, caller}, 0);
    if (!is_new) return known->second;
    std::vector<std::pair<uint64_t, uint64_t>> lines;
    for (const ExportLine& line : described.lines) lines.emplace_back(function(line, described), line.line);
    auto [at, added] =
        locations_.try_emplace({mapping(described), described.address, lines}, locations_.size() + 1);
    if (added) {
      Message message;
      message.number(field::LocationIdentifier, at->second);
      message.number(field::MappingId, std::get<0>(at->first));
      message.number(field::Address, described.address);
      for (const auto& [id, line] : lines) {
        message.message(field::Lines,
                        Message().number(field::FunctionId, id).number(field::LineNumber, line));
      }
      profile_.message(field::Location, message);
    }
    return known->second = at->second;
  }

  uint64_t function(const ExportLine& line, const ExportFrame& frame) {
    const std::string& file = line.file.empty() ? frame.binary : line.file;
    auto [at, added] = functions_.try_emplace({line.name, line.raw, file}, functions_.size() + 1);
    if (added) {
      profile_.message(field::Function, Message()
                                            .number(field::FunctionIdentifier, at->second)
                                            .number(field::Name, string(line.name))
                                            .number(field::SystemName, string(line.raw))
                                            .number(field::Filename, string(file)));
    }
    return at->second;
  }

  // 0: none.
  uint64_t mapping(const ExportFrame& frame) {
    if (frame.binary.empty()) return 0;
    return mappings_.try_emplace({frame.is_wasm, frame.binary}, mappings_.size() + 1).first->second;
  }
  void add_mappings() {
    std::vector<std::pair<uint64_t, std::pair<bool, std::string>>> in_order;
    for (const auto& [what, id] : mappings_) in_order.emplace_back(id, what);
    std::sort(in_order.begin(), in_order.end());
    for (const auto& [id, what] : in_order) {
      Message message;
      message.number(field::MappingIdentifier, id);
      if (what.first) message.number(field::MemoryLimit, end_of_module(what.second));
      message.number(field::MappingFile, string(what.second));
      // Nobody need look for symbols.
      message.number(field::HasFunctions, 1).number(field::HasFilenames, 1);
      message.number(field::HasLineNumbers, 1).number(field::HasInlineFrames, 1);
      profile_.message(field::Mapping, message);
    }
  }
  uint64_t end_of_module(const std::string& name) const {
    uint64_t end = 1;
    for (const Image& image : images_.images) {
      if (image.kind != ImageKind::Module || image.name != name) continue;
      for (const Function& f : image.functions) end = std::max(end, uint64_t{f.wasm_begin} + f.wasm_size);
    }
    return end;
  }

  const ExportContext& context_;
  const Samples& samples_;
  ExportLines lines_;
  const Images& images_;
  Message profile_;
  std::vector<std::string> strings_;
  std::map<std::string, uint64_t> string_numbers_;
  std::map<std::pair<bool, std::string>, uint64_t> mappings_;
  std::map<std::tuple<std::string, std::string, std::string>, uint64_t> functions_;
  std::map<std::tuple<uint64_t, uint64_t, std::vector<std::pair<uint64_t, uint64_t>>>, uint64_t> locations_;
  std::map<std::pair<uint32_t, bool>, uint64_t> location_of_frame_;
};

}  // namespace

std::vector<uint8_t> to_pprof(const ExportContext& context, const Images& images, const Samples& samples) {
  return Writer(context, images, samples).write();
}

}  // namespace wago::capture
