#include "codegen/testing/file_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace wago::codegen::testing {

namespace {

struct Case {
  std::string title;
  std::string input;
  std::string expected;
  uint32_t line = 0;
};
struct CaseFile {
  std::string comment;
  std::vector<Case> cases;
};

CaseFile read_cases(const std::string& path) {
  std::ifstream stream(path);
  EXPECT_TRUE(stream.good()) << path;
  CaseFile file;
  std::string* part = &file.comment;
  std::string line;
  for (uint32_t number = 1; std::getline(stream, line); ++number) {
    if (line.rfind("== ", 0) == 0) {
      file.cases.push_back({line.substr(3), "", "", number});
      part = &file.cases.back().input;
    } else if (line == "--" && !file.cases.empty()) {
      part = &file.cases.back().expected;
    } else {
      *part += line + "\n";
    }
  }
  return file;
}

std::string trimmed(const std::string& text) {
  const size_t end = text.find_last_not_of(" \n");
  return end == std::string::npos ? "" : text.substr(0, end + 1) + "\n";
}

void write_cases(const std::string& path, const CaseFile& file) {
  std::ostringstream text;
  text << file.comment;
  for (const Case& c : file.cases)
    text << "== " << c.title << "\n" << c.input << "--\n" << c.expected << "\n";
  std::string all = text.str();
  all.resize(all.size() - 1);
  std::ofstream(path) << all;
}

}  // namespace

void run_file_test(const std::string& path, const Transform& transform) {
  const std::string full = std::string(WAGO_SOURCE_DIR) + "/" + path;
  CaseFile file = read_cases(full);
  EXPECT_FALSE(file.cases.empty()) << path << " has no cases";
  const bool rewrite = std::getenv("WAGO_REWRITE") != nullptr;
  for (Case& c : file.cases) {
    const std::string got = trimmed(transform(c.input));
    if (rewrite) {
      c.expected = got;
    } else {
      EXPECT_EQ(got, trimmed(c.expected)) << path << ":" << c.line << ": " << c.title;
    }
  }
  if (rewrite) write_cases(full, file);
}

void run_file_tests(const std::string& folder, const Transform& transform) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(WAGO_SOURCE_DIR) + "/" + folder)) {
    if (entry.path().extension() == ".test") names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  EXPECT_FALSE(names.empty()) << folder;
  for (const std::string& name : names) run_file_test(folder + "/" + name, transform);
}

}  // namespace wago::codegen::testing
