#include "ctest/cli/session.h"

#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace wago::ctest {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::regex pattern_of(const std::string& line) {
  static const std::pair<std::string, std::string> kPlaceholders[] = {
      {"<number>", "[-+]?[0-9][0-9,]*(\\.[0-9]+)?(e[-+]?[0-9]+)?"},
      {"<time>", "[0-9.e+-]+ (ns|us|ms|s)"},
      {"<hex>", "[0-9a-f]+"},
      {"<any>", ".*"},
  };
  std::string pattern;
  for (size_t i = 0; i < line.size();) {
    bool replaced = false;
    for (const auto& [word, expression] : kPlaceholders) {
      if (line.compare(i, word.size(), word) != 0) continue;
      pattern += "(?:" + expression + ")";
      i += word.size();
      replaced = true;
      break;
    }
    if (replaced) continue;
    if (std::string("^$\\.*+?()[]{}|").find(line[i]) != std::string::npos) pattern += '\\';
    pattern += line[i++];
  }
  return std::regex(pattern);
}

// From expected[e] and seen[s] on.
bool match_from(const std::vector<std::string>& expected, size_t e, const std::vector<std::string>& seen,
                size_t s, size_t& furthest) {
  furthest = std::max(furthest, s);
  if (e == expected.size()) return s == seen.size();
  if (expected[e] == "...") {
    for (size_t next = s; next <= seen.size(); ++next) {
      if (match_from(expected, e + 1, seen, next, furthest)) return true;
    }
    return false;
  }
  return s < seen.size() && std::regex_match(seen[s], pattern_of(expected[e])) &&
         match_from(expected, e + 1, seen, s + 1, furthest);
}

}  // namespace

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote) {
      if (c == quote) {
        quote = 0;
      } else if (quote == '"' && c == '\\' && i + 1 < text.size()) {
        word += text[++i];
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ') {
      if (in_word) words.push_back(word);
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote) throw std::runtime_error("a quote is not closed");
  if (in_word) words.push_back(word);
  return words;
}

std::vector<Step> parse_session(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error(file + ": cannot be read");
  std::vector<Step> steps;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    auto fail = [&](const char* why) {
      throw std::runtime_error(file + ":" + std::to_string(number) + ": " + why);
    };
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("$ ") || line.starts_with("@ ")) {
      Step step;
      step.line = number;
      step.words = split_words(line.substr(line[0] == '$' ? 2 : 0));
      steps.push_back(std::move(step));
      continue;
    }
    if (steps.empty() || steps.back().words[0] == "@") fail("no command stands before this line");
    if (line.starts_with("exit ") || line.starts_with("signal ")) {
      steps.back().exit = line;
    } else if (line[0] == '>' || line[0] == '!') {
      auto& lines = line[0] == '>' ? steps.back().out : steps.back().err;
      lines.push_back(line.size() > 2 ? line.substr(2) : "");
    } else {
      fail("a line begins with #, $, @, >, !, exit or signal");
    }
  }
  return steps;
}

bool lines_match(const std::vector<std::string>& expected, const std::string& text, std::string& why) {
  auto seen = lines_of(text);
  size_t furthest = 0;
  if (match_from(expected, 0, seen, 0, furthest)) return true;
  why = furthest < seen.size() ? "unexpected line: " + seen[furthest] : "lines are missing at the end";
  return false;
}

}  // namespace wago::ctest
