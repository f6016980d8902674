// run_session SESSION --programs DIR --modules DIR [--update]
//
// Runs the commands of SESSION (see session.h) and compares. Exit 0: all as expected; 1: something was not,
// and it is printed; 2: the session itself is wrong. --update writes what was seen into the session where it
// differs, to be read by a person before it is kept; lines with placeholders that match stay as they are.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "base/testing/scratch_folder.h"
#include "ctest/cli/fixture.h"
#include "ctest/cli/session.h"

extern char** environ;

namespace wago::ctest {
namespace {

namespace fs = std::filesystem;

struct Seen {
  std::string exit;
  std::string out;
  std::string err;
};

std::string slurp(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// A directory of its own, gone when the session is over.
class Sandbox {
 public:
  explicit Sandbox(const fs::path& modules) {
    fs::create_directory(directory());
    fs::copy(modules, directory(), fs::copy_options::recursive);
  }
  ~Sandbox() {
    std::error_code ignored;
    fs::permissions(directory(), fs::perms::owner_all, fs::perm_options::add, ignored);
  }
  fs::path directory() const { return root_ / "session"; }
  fs::path capture(const char* stream) const { return root_ / stream; }

 private:
  const wago::base::testing::ScratchFolder scratch_;
  const fs::path root_ = scratch_.path();
};

std::string ending(int status) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "exit " + std::to_string(WEXITSTATUS(status));
}

Seen run(const std::vector<std::string>& words, const fs::path& programs, const Sandbox& sandbox) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry; ++entry) environment.push_back(*entry);
  // In the place of what has that name already: of two, some programs take the first.
  auto set = [&](const std::string& entry) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    std::erase_if(environment, [&](const std::string& known) { return known.starts_with(name); });
    environment.push_back(entry);
  };
  set("PROGRAMS=" + programs.string());  // for the few commands that need a shell
  size_t first = 0;
  for (; first < words.size() && words[first].find('=') != std::string::npos; ++first) {
    set(words[first]);
  }
  if (first == words.size()) throw std::runtime_error("no program is named");
  fs::path own = programs / words[first];
  std::string program = fs::exists(own) ? own.string() : words[first];

  std::vector<char*> argv, envp;
  for (size_t i = first; i < words.size(); ++i) argv.push_back(const_cast<char*>(words[i].c_str()));
  for (std::string& entry : environment) envp.push_back(entry.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  std::string out = sandbox.capture("out"), err = sandbox.capture("err");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, sandbox.directory().c_str());
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  int status = posix_spawnp(&child, program.c_str(), &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) throw std::runtime_error(program + ": " + std::strerror(status));
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {ending(status), slurp(out), slurp(err)};
}

void print_lines(const char* prefix, const std::string& text) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) std::cout << prefix << line << "\n";
}

bool as_expected(const Step& step, const Seen& seen, const std::string& file) {
  std::string why_out, why_err;
  bool good_exit = seen.exit == step.exit;
  bool good_out = lines_match(step.out, seen.out, why_out);
  bool good_err = lines_match(step.err, seen.err, why_err);
  if (good_exit && good_out && good_err) return true;
  std::cout << file << ":" << step.line << ": not as expected\n";
  if (!good_exit) std::cout << "  " << step.exit << " was expected\n";
  if (!good_out) std::cout << "  standard output: " << why_out << "\n";
  if (!good_err) std::cout << "  standard error: " << why_err << "\n";
  std::cout << "  seen:\n" << seen.exit << "\n";
  print_lines("> ", seen.out);
  print_lines("! ", seen.err);
  return false;
}

// What the session file says with the expectations of one step replaced by what was seen.
class Rewriter {
 public:
  explicit Rewriter(const std::string& file) : file_(file) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) lines_.push_back({line, ""});
  }
  void replace(const Step& step, const Seen& seen) {
    size_t at = static_cast<size_t>(step.line) - 1;
    for (size_t i = at + 1; i < lines_.size(); ++i) {
      const std::string& line = lines_[i].text;
      bool expectation = line.starts_with(">") || line.starts_with("!") || line.starts_with("exit ") ||
                         line.starts_with("signal ");
      if (!expectation) break;
      lines_[i].dropped = true;
    }
    std::string& after = lines_[at].after;
    if (seen.exit != "exit 0") after += seen.exit + "\n";
    for (auto [prefix, text] : {std::pair(">", &seen.out), std::pair("!", &seen.err)}) {
      std::istringstream stream(*text);
      for (std::string line; std::getline(stream, line);)
        after += std::string(prefix) + (line.empty() ? "" : " ") + line + "\n";
    }
  }
  void write() const {
    std::ofstream stream(file_, std::ios::trunc);
    for (const Line& line : lines_) {
      if (!line.dropped) stream << line.text << "\n" << line.after;
    }
  }

 private:
  struct Line {
    std::string text;
    std::string after;
    bool dropped = false;
  };
  std::string file_;
  std::vector<Line> lines_;
};

int run_session(const std::string& file, const fs::path& programs, const fs::path& modules, bool update) {
  auto steps = parse_session(file);
  Sandbox sandbox(modules);
  Rewriter rewriter(file);
  bool good = true;
  for (const Step& step : steps) {
    try {
      if (step.words[0] == "@") {
        if (run_fixture(step.words, sandbox.directory().string()) == FixtureOutcome::EndSession) break;
        continue;
      }
      Seen seen = run(step.words, programs, sandbox);
      if (as_expected(step, seen, file)) continue;
      rewriter.replace(step, seen);
      good = false;
    } catch (const std::exception& error) {
      std::cout << file << ":" << step.line << ": " << error.what() << "\n";
      return 1;
    }
  }
  if (!good && update) rewriter.write();
  return good ? 0 : 1;
}

int main_of(const std::vector<std::string>& arguments) {
  std::string file, programs, modules;
  bool update = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--programs" && i + 1 < arguments.size()) {
      programs = fs::absolute(arguments[++i]);
    } else if (arguments[i] == "--modules" && i + 1 < arguments.size()) {
      modules = fs::absolute(arguments[++i]);
    } else if (arguments[i] == "--update") {
      update = true;
    } else {
      file = arguments[i];
    }
  }
  if (file.empty() || programs.empty() || modules.empty()) {
    std::cerr << "usage: run_session SESSION --programs DIR --modules DIR [--update]\n";
    return 2;
  }
  try {
    return run_session(file, programs, modules, update);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}

}  // namespace
}  // namespace wago::ctest

int main(int argc, char** argv) {
  return wago::ctest::main_of(std::vector<std::string>(argv + 1, argv + argc));
}
