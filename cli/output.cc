#include "cli/output.h"

#include <csignal>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <wago/wago.h>
#include "base/json.h"
#include "base/text.h"

namespace wago::cli {

namespace {

using base::Json;

const char* kind_word(base::ErrorKind kind) {
  switch (kind) {
    case base::ErrorKind::Failed:
      return "failed";
    case base::ErrorKind::Usage:
      return "usage";
    case base::ErrorKind::Unmeasurable:
      return "unmeasurable";
  }
  return "failed";
}

Json error_object(const base::Error& error) {
  Json object = Json::object({{"kind", kind_word(error.kind)},
                              {"exit_code", base::exit_code(error.kind)},
                              {"message", error.message}});
  if (!error.place.file.empty()) object.set("file", error.place.file);
  if (!error.place.section.empty()) object.set("section", error.place.section);
  if (error.place.offset) object.set("offset", *error.place.offset);
  if (!error.place.json_path.empty()) object.set("json_path", error.place.json_path);
  return object;
}

Json source_array(const Frame& frame) {
  Json places = Json::array();
  for (const SourceFrame& source : frame.source()) {
    places.push(Json::object({{"function", source.function},
                              {"file", source.file},
                              {"directory", source.directory},
                              {"line", source.line},
                              {"column", source.column}}));
  }
  return places;
}

}  // namespace

Json trap_members(const Trap& trap) {
  Json frames = Json::array();
  for (const Frame& frame : trap.frames) {
    Json entry = Json::object({{"name", frame.name}});
    if (frame.host) {
      entry.set("host", true);
    } else {
      entry.set("function", frame.function).set("wasm_pc", frame.wasm_pc).set("inlined", frame.inlined);
      if (Json source = source_array(frame); !source.items().empty()) entry.set("source", std::move(source));
    }
    frames.push(std::move(entry));
  }
  const bool trapped = !trap.interruption;
  Json members = Json::object({{"kind", trapped ? "trap" : "interrupted"}});
  if (trapped) members.set("trap", base::spelling(trap.code));
  members.set("frames", std::move(frames)).set("frames_truncated", trap.frames_truncated);
  return members;
}

Output::Output(std::string program, std::FILE* out, std::FILE* err)
    : program_(std::move(program)), out_(out), err_(err) {
  const char* no_color = std::getenv("NO_COLOR");
  colour_ = (!no_color || !*no_color) && isatty(fileno(out)) == 1;
}

void Output::print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), out_) != text.size()) note_broken();
}

void Output::note_broken() {
  // The first reason: later calls find the stream broken and say nothing new.
  if (write_error_ == 0) write_error_ = errno ? errno : EIO;
}

void Output::note(std::string_view sentence) {
  if (json_) return;
  std::fprintf(err_, "%s: %.*s\n", program_.c_str(), static_cast<int>(sentence.size()), sentence.data());
}

int Output::fail(const base::Error& error) {
  return fail(error, "", Json::object());
}

int Output::fail(const base::Error& error, std::string_view lines, const Json& members) {
  // What was printed before the failure comes first wherever both streams go to one place.
  if (std::fflush(out_) != 0) note_broken();
  if (json_) {
    Json object = error_object(error);
    for (const auto& [key, value] : members.members()) object.set(key, value);
    std::fprintf(err_, "%s\n", Json::object({{"error", std::move(object)}}).dump().c_str());
  } else {
    std::fprintf(err_, "%s: %s\n", program_.c_str(), base::printable(error.to_string()).c_str());
    std::fwrite(lines.data(), 1, lines.size(), err_);
  }
  return base::exit_code(error.kind);
}

int Output::trap(const Trap& trap) {
  if (std::fflush(out_) != 0) note_broken();
  if (json_) {
    Json object = Json::object({{"kind", "trap"}, {"exit_code", kExitFailed}, {"message", trap.message}});
    const Json members = trap_members(trap);
    for (const auto& [key, value] : members.members()) object.set(key, value);
    std::fprintf(err_, "%s\n", Json::object({{"error", std::move(object)}}).dump().c_str());
  } else {
    // The sentence begins with the library's name; here a program speaks.
    constexpr std::string_view kLibrary = "wago: ";
    std::string text = trap.to_string();
    WAGO_CHECK(text.starts_with(kLibrary));
    std::fprintf(err_, "%s: %s", program_.c_str(), text.c_str() + kLibrary.size());
  }
  return kExitFailed;
}

int Output::finish(int code) {
  if (std::fflush(out_) != 0) note_broken();
  if (write_error_ == 0) return code;
  std::fprintf(err_, "%s: standard output cannot be written: %s%s%s\n", program_.c_str(),
               std::strerror(write_error_), done_.empty() ? "" : "; ", base::printable(done_).c_str());
  return code == kExitDone ? kExitFailed : code;
}

int ended_by(int signal, int code) {
  if (signal == 0) return code;
  std::fflush(stdout);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  return code;
}

}  // namespace wago::cli
