#include "runtime/artifact.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/build_info.h"
#include "base/sha256.h"
#include "runtime/abi.h"

namespace wago::runtime {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "WAGOART\n";
constexpr size_t kVersionAt = 8, kAbiAt = 12, kSizeAt = 16, kHashAt = 24, kHeaderBytes = 56;
constexpr const char* kCompileAgain = ": compile the module again";

// Both sides of one description: fields() below names every field once, for whoever writes or reads it.
class Writer {
 public:
  template <class Word>
  void word(const Word& value) {
    static_assert(sizeof(Word) <= 4);
    append(static_cast<uint32_t>(value));
  }
  void flag(const bool& value) { append(uint32_t{value}); }
  void digest(const std::array<uint8_t, 32>& value) { out_.insert(out_.end(), value.begin(), value.end()); }
  void bytes(const std::vector<uint8_t>& value) {
    append(static_cast<uint32_t>(value.size()));
    out_.insert(out_.end(), value.begin(), value.end());
  }
  void text(std::string_view value) {
    append(static_cast<uint32_t>(value.size()));
    out_.insert(out_.end(), value.begin(), value.end());
  }
  template <class Element>
  void list(const std::vector<Element>& elements) {
    append(static_cast<uint32_t>(elements.size()));
    for (const Element& element : elements) fields(*this, element);
  }
  // Over what was reserved by reserve().
  template <class T>
  void put(size_t at, const T& value) {
    std::memcpy(out_.data() + at, &value, sizeof value);
  }
  void reserve(size_t bytes) { out_.resize(out_.size() + bytes); }
  std::vector<uint8_t>& out() { return out_; }

 private:
  void append(uint32_t value) {
    const size_t at = out_.size();
    out_.resize(at + 4);
    put(at, value);
  }
  std::vector<uint8_t> out_;
};

// Reads nothing beyond its bytes; what is missing reads as zero, and failed() says so.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : rest_(bytes) {}

  template <class Word>
  void word(Word& value) {
    uint32_t read = take_word();
    if constexpr (std::is_enum_v<Word>) {
      // Out of range for the enumeration's bytes is out of range for it; check_image() looks at the rest.
      if (read > UINT8_MAX) failed_ = true;
      read = std::min<uint32_t>(read, UINT8_MAX);
    }
    value = static_cast<Word>(read);
  }
  void flag(bool& value) {
    const uint32_t read = take_word();
    if (read > 1) failed_ = true;
    value = read == 1;
  }
  void digest(std::array<uint8_t, 32>& value) {
    const std::span<const uint8_t> from = take(value.size());
    std::copy(from.begin(), from.end(), value.begin());
  }
  void bytes(std::vector<uint8_t>& value) {
    const std::span<const uint8_t> from = take(take_word());
    value.assign(from.begin(), from.end());
  }
  std::string text() {
    const std::span<const uint8_t> from = take(take_word());
    return {from.begin(), from.end()};
  }
  template <class Element>
  void list(std::vector<Element>& elements) {
    const uint32_t count = take_word();
    // No element takes fewer bytes here than in memory.
    if (count > rest_.size() / sizeof(Element)) failed_ = true;
    if (failed_) return;
    elements.resize(count);
    for (Element& element : elements) fields(*this, element);
  }
  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<const uint8_t> take(size_t count) {
    if (failed_ || count > rest_.size()) {
      failed_ = true;
      return {};
    }
    const std::span<const uint8_t> taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  uint32_t take_word() {
    uint32_t value = 0;
    if (const std::span<const uint8_t> from = take(4); !from.empty()) std::memcpy(&value, from.data(), 4);
    return value;
  }

  std::span<const uint8_t> rest_;
  bool failed_ = false;
};

// A member that is added must be added below, and kArtifactVersion be raised.
static_assert(sizeof(CodeRegion) == 16 && sizeof(FunctionStatistics) == 56 && sizeof(TrapSite) == 8 &&
              sizeof(CompiledFunction) == 16 + 32 + sizeof(FunctionStatistics) &&
              sizeof(SourcePosition) == 12 && sizeof(InlineSite) == 12 && sizeof(TlsFixup) == 4 &&
              sizeof(EmittedSite) == 8 && sizeof(Decision) == 20 && sizeof(CodeOrigin) == 12 &&
              sizeof(UnwindRow) == 8 &&
              sizeof(CodeImage) == sizeof(std::vector<int>) * 11 + sizeof(CodeImage::counted) + 8);

template <class T, class Plain>
concept Of = std::same_as<std::remove_const_t<T>, Plain>;

void fields(auto& archive, Of<CodeRegion> auto& region) {
  archive.word(region.kind);
  archive.word(region.begin);
  archive.word(region.size);
  archive.word(region.function);
}
void fields(auto& archive, Of<FunctionStatistics> auto& statistics) {
  archive.word(statistics.machine_instructions);
  archive.word(statistics.frame_bytes);
  archive.word(statistics.spills);
  archive.word(statistics.reloads);
  archive.word(statistics.rematerialized);
  archive.word(statistics.moves);
  archive.word(statistics.bounds_checks);
  archive.word(statistics.stack_checks);
  archive.word(statistics.interrupt_checks);
  archive.word(statistics.calls);
  archive.word(statistics.indirect_calls);
  archive.word(statistics.helper_calls);
  archive.word(statistics.ir_instructions);
  archive.word(statistics.blocks);
}
void fields(auto& archive, Of<CompiledFunction> auto& function) {
  archive.word(function.function);
  archive.word(function.begin);
  archive.word(function.size);
  archive.word(function.wasm_begin);
  archive.digest(function.hash);
  fields(archive, function.statistics);
}
void fields(auto& archive, Of<TrapSite> auto& site) {
  archive.word(site.offset);
  archive.word(site.code);
}
void fields(auto& archive, Of<SourcePosition> auto& position) {
  archive.word(position.offset);
  archive.word(position.wasm_pc);
  archive.word(position.inline_site);
}
void fields(auto& archive, Of<InlineSite> auto& site) {
  archive.word(site.callee);
  archive.word(site.call_pc);
  archive.word(site.parent);
}
void fields(auto& archive, Of<EmittedSite> auto& site) {
  archive.word(site.offset);
  archive.word(site.kind);
}
void fields(auto& archive, Of<Decision> auto& decision) {
  archive.word(decision.function);
  archive.word(decision.kind);
  archive.word(decision.wasm_pc);
  archive.word(decision.inline_site);
  archive.word(decision.callee);
}
void fields(auto& archive, Of<CodeOrigin> auto& origin) {
  archive.word(origin.function);
  archive.word(origin.built_instructions);
  archive.word(origin.placed_instructions);
}
void fields(auto& archive, Of<UnwindRow> auto& row) {
  archive.word(row.offset);
  archive.word(row.rule);
}
void fields(auto& archive, Of<TlsFixup> auto& fixup) {
  archive.word(fixup.offset);
}
void fields(auto& archive, Of<CodeImage> auto& image) {
  archive.bytes(image.bytes);
  archive.list(image.regions);
  archive.list(image.functions);
  archive.list(image.trap_sites);
  archive.list(image.positions);
  archive.list(image.inline_sites);
  archive.list(image.emitted_sites);
  archive.list(image.decisions);
  archive.list(image.origins);
  archive.list(image.unwind_rows);
  archive.list(image.tls_fixups);
  archive.word(image.entry_adapter);
  archive.word(image.host_adapter);
}

// Where code was made, field by field, in words: what differs is named with both values.
struct OriginField {
  const char* name;
  std::string value;
  const char* cure;
};
std::vector<OriginField> origin_of(const CompileSettings& settings, const CodeTarget& target) {
  constexpr const char* kSameSettings =
      ": open the engine with the artifact's settings, or compile the module again";
  auto yes_or_no = [](bool flag) { return std::string(flag ? "yes" : "no"); };
  return {{"program version", base::build_info().version, kCompileAgain},
          {"target", target.name, ": compile the module again on this machine"},
          {"processor features", target.features, ": compile the module again on this machine"},
          {"bounds", std::string(base::spelling(settings.bounds)), kSameSettings},
          {"level", std::to_string(settings.level), kSameSettings},
          {"interruptible", yes_or_no(settings.interruptible), kSameSettings},
          {"spill_everything", yes_or_no(settings.spill_everything), kSameSettings},
          {"source_maps", yes_or_no(settings.source_maps), kSameSettings},
          {"counted", yes_or_no(settings.counted), kSameSettings}};
}

template <class T>
T header_field(std::span<const uint8_t> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

base::Error damaged(std::string what) {
  return base::failed("the artifact is damaged: " + std::move(what) + kCompileAgain);
}

std::optional<base::Error> check_header(std::span<const uint8_t> bytes) {
  const bool magic = bytes.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), bytes.begin());
  if (!magic) return base::failed("this is not a compiled module: it does not begin as artifacts do");
  if (bytes.size() < kHeaderBytes) return damaged("it ends within its header");
  const auto version = header_field<uint32_t>(bytes, kVersionAt);
  if (version != kArtifactVersion) {
    return base::failed("the artifact has format version " + std::to_string(version) + ", not " +
                        std::to_string(kArtifactVersion) + " as this program reads" + kCompileAgain);
  }
  if (const auto abi = header_field<uint32_t>(bytes, kAbiAt); abi != kAbiVersion) {
    return base::failed("the artifact's code is for ABI version " + std::to_string(abi) +
                        ", not this program's " + std::to_string(kAbiVersion) + kCompileAgain);
  }
  const auto size = header_field<uint64_t>(bytes, kSizeAt);
  if (size != bytes.size()) {
    return damaged("it has " + std::to_string(bytes.size()) + " bytes and should have " +
                   std::to_string(size));
  }
  const base::Digest digest = base::sha256(bytes.subspan(kHeaderBytes));
  if (!std::equal(digest.begin(), digest.end(), bytes.begin() + kHashAt)) {
    return damaged("its contents do not have the SHA-256 in its header");
  }
  return std::nullopt;
}

std::optional<base::Error> check_origin(Reader& in, const CompileSettings& settings,
                                        const CodeTarget& target) {
  for (const OriginField& here : origin_of(settings, target)) {
    const std::string there = in.text();
    if (in.failed()) return damaged("it ends within its origin");
    if (there == here.value) continue;
    return base::failed("the artifact was compiled with " + std::string(here.name) + " " + there +
                        ", and this engine has " + here.value + here.cure);
  }
  return std::nullopt;
}

}  // namespace

std::vector<uint8_t> write_artifact(const Artifact& artifact, const CompileSettings& settings,
                                    const CodeTarget& target) {
  Writer out;
  out.reserve(kHeaderBytes);
  for (const OriginField& field : origin_of(settings, target)) out.text(field.value);
  out.bytes(artifact.module->bytes);
  fields(out, *artifact.image);
  out.word(static_cast<uint32_t>(artifact.adapters.size()));
  for (const AdapterImage& adapter : artifact.adapters) {
    out.word(adapter.type_index);
    fields(out, *adapter.image);
  }
  std::vector<uint8_t>& bytes = out.out();
  std::copy(kMagic.begin(), kMagic.end(), bytes.begin());
  out.put(kVersionAt, kArtifactVersion);
  out.put(kAbiAt, kAbiVersion);
  out.put(kSizeAt, static_cast<uint64_t>(bytes.size()));
  out.put(kHashAt, base::sha256(std::span(bytes).subspan(kHeaderBytes)));
  return std::move(bytes);
}

base::Result<Artifact> read_artifact(std::span<const uint8_t> bytes, const CompileSettings& settings,
                                     const CodeTarget& target, const DecodeOptions& options) {
  if (settings.counted) {
    return base::failed("code that counts its blocks is not loaded from artifacts: compile the module again");
  }
  if (auto error = check_header(bytes)) return *std::move(error);
  Reader in(bytes.subspan(kHeaderBytes));
  if (auto error = check_origin(in, settings, target)) return *std::move(error);

  std::vector<uint8_t> wasm;
  in.bytes(wasm);
  if (in.failed()) return damaged("its module is incomplete");
  auto module = decode_module(std::move(wasm), options);
  if (!module) return base::failed("the artifact's module is refused: " + module.error().to_string());
  Artifact artifact;
  artifact.module = *std::move(module);

  auto image = std::make_shared<CodeImage>();
  fields(in, *image);
  if (in.failed()) return damaged("its code is incomplete");
  if (auto wrong = check_image(*image, artifact.module.get())) return damaged(*wrong);
  if (image->bytes.size() > settings.max_code_bytes) {
    return base::failed("the artifact has " + std::to_string(image->bytes.size()) +
                        " bytes of code, more than the limit of " + std::to_string(settings.max_code_bytes) +
                        " code bytes; raise EngineLimits::code_bytes");
  }
  artifact.image = std::move(image);

  uint32_t adapters = 0;
  in.word(adapters);
  const size_t types = artifact.module->types.size();
  for (uint32_t i = 0; i < adapters && !in.failed(); ++i) {
    AdapterImage adapter;
    in.word(adapter.type_index);
    auto code = std::make_shared<CodeImage>();
    fields(in, *code);
    if (in.failed()) break;
    const bool ascends =
        artifact.adapters.empty() || artifact.adapters.back().type_index < adapter.type_index;
    if (adapter.type_index >= types || !ascends) return damaged("it has adapters of no signature");
    if (auto wrong = check_image(*code, nullptr)) return damaged(*wrong);
    adapter.image = std::move(code);
    artifact.adapters.push_back(std::move(adapter));
  }
  if (in.failed()) return damaged("its adapters are incomplete");
  if (!in.at_end()) return damaged("it has more than it should");
  return artifact;
}

}  // namespace wago::runtime
