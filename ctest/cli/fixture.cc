#include "ctest/cli/fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

namespace wago::ctest {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

std::string read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(path + ": cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << text;
  if (!stream.flush()) throw std::runtime_error(path + ": cannot be written");
}

void require(bool condition, const std::string& sentence) {
  if (!condition) throw std::runtime_error(sentence);
}

void flip(const std::string& path, size_t offset) {
  std::string bytes = read(path);
  require(offset < bytes.size(), path + " has only " + std::to_string(bytes.size()) + " bytes");
  bytes[offset] = static_cast<char>(~bytes[offset]);
  write(path, bytes);
}

void append_hex(const std::string& path, const std::string& hex) {
  std::string bytes = read(path);
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoul(hex.substr(i, 2), nullptr, 16));
  }
  write(path, bytes);
}

void replace(const std::string& path, const std::string& from, const std::string& to) {
  std::string text = read(path);
  size_t at = text.find(from);
  require(at != std::string::npos, path + " does not contain '" + from + "'");
  write(path, text.replace(at, from.size(), to));
}

void check_mode(const std::string& path, const std::string& octal) {
  struct stat status {};
  require(stat(path.c_str(), &status) == 0, path + ": does not exist");
  std::ostringstream mode;
  mode << std::oct << (status.st_mode & 07777);
  require(mode.str() == octal, path + " has mode " + mode.str() + ", not " + octal);
}

struct Action {
  size_t arguments;
  std::function<void(const std::vector<std::string>& paths, const Words& words)> run;
};

// `paths` are the arguments below the session's directory, `words` as they stand.
const std::map<std::string, Action>& actions() {
  static const std::map<std::string, Action> kActions = {
      {"write", {2, [](const auto& p, const auto& w) { write(p[0], w[1] + "\n"); }}},
      {"copy", {2, [](const auto& p, const auto&) { fs::copy(p[0], p[1], fs::copy_options::recursive); }}},
      {"truncate", {2, [](const auto& p, const auto& w) { fs::resize_file(p[0], std::stoull(w[1])); }}},
      {"flip", {2, [](const auto& p, const auto& w) { flip(p[0], std::stoull(w[1])); }}},
      {"zeros",
       {2,
        [](const auto& p, const auto& w) {
          if (!fs::exists(p[0])) write(p[0], "");
          fs::resize_file(p[0], fs::file_size(p[0]) + std::stoull(w[1]));
        }}},
      {"append", {2, [](const auto& p, const auto& w) { append_hex(p[0], w[1]); }}},
      {"replace", {3, [](const auto& p, const auto& w) { replace(p[0], w[1], w[2]); }}},
      {"mkdir", {1, [](const auto& p, const auto&) { fs::create_directory(p[0]); }}},
      {"remove",
       {1, [](const auto& p, const auto&) { require(fs::remove_all(p[0]) > 0, p[0] + ": absent"); }}},
      {"link", {2, [](const auto& p, const auto& w) { fs::create_symlink(w[0], p[1]); }}},
      {"mode", {2, [](const auto& p, const auto& w) { check_mode(p[0], w[1]); }}},
      {"absent", {1, [](const auto& p, const auto&) { require(!fs::exists(p[0]), p[0] + ": exists"); }}},
      {"contains",
       {2,
        [](const auto& p, const auto& w) {
          require(read(p[0]).find(w[1]) != std::string::npos, p[0] + " does not contain '" + w[1] + "'");
        }}},
      {"same",
       {2, [](const auto& p,
              const auto&) { require(read(p[0]) == read(p[1]), p[0] + " and " + p[1] + " differ"); }}},
      {"chmod",
       {2,
        [](const auto& p, const auto& w) {
          require(chmod(p[0].c_str(), static_cast<mode_t>(std::stoul(w[1], nullptr, 8))) == 0,
                  p[0] + ": chmod failed");
        }}},
  };
  return kActions;
}

}  // namespace

FixtureOutcome run_fixture(const Words& words, const std::string& directory) {
  require(words.size() >= 2, "a fixture step needs a name");
  if (words[1] == "skip-for-root") return geteuid() == 0 ? FixtureOutcome::EndSession : FixtureOutcome::Done;
  auto action = actions().find(words[1]);
  require(action != actions().end(), "no fixture step is called " + words[1]);
  Words arguments(words.begin() + 2, words.end());
  require(arguments.size() == action->second.arguments,
          words[1] + " takes " + std::to_string(action->second.arguments) + " arguments");
  std::vector<std::string> paths;
  for (const std::string& word : arguments) paths.push_back(directory + "/" + word);
  action->second.run(paths, arguments);
  return FixtureOutcome::Done;
}

}  // namespace wago::ctest
