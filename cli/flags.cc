#include "cli/flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/files.h"
#include "base/text.h"
#include "cli/output.h"

namespace wago::cli {

namespace {

struct DeclaredFlag {
  enum class Takes { Nothing, OneValue, Values };
  std::string name;        // "--out"
  std::string value_name;  // "DIR"
  Takes takes;
};

}  // namespace

struct Command::Impl {
  std::unique_ptr<CLI::App> owned;  // the program's; commands are owned by their parent's App
  CLI::App* app = nullptr;
  std::string path;  // "wago module imports"
  std::string heading = "Flags";
  std::vector<std::unique_ptr<Command>> commands;
  std::function<int(Output&)> action;
  std::vector<std::string>* rest = nullptr;
  std::string rest_name;
  std::string rest_help;
  bool anything = false;
  std::vector<DeclaredFlag> flags;

  void prepare() { app->set_help_flag("-h,--help", "Print this help and exit")->group(heading); }
};

namespace {

// Before every word that stood behind "--". No file or number begins with it.
constexpr char kOperandMark = '\x01';

bool is_marked(const std::string& word) {
  return !word.empty() && word[0] == kOperandMark;
}
std::string unmarked(const std::string& word) {
  return is_marked(word) ? word.substr(1) : word;
}

// CLI11 needs a usage name without the operands it cannot know of.
std::string usage_of(const Command::Impl& impl) {
  std::string usage = impl.path;
  if (!impl.commands.empty()) return usage + " COMMAND ...";
  usage += " [FLAGS]";
  for (const CLI::Option* option : impl.app->get_options()) {
    if (!option->get_positional()) continue;
    usage += " " + option->get_name();
    if (option->get_items_expected_max() > 1) usage += "...";
  }
  if (impl.rest) usage += " [" + impl.rest_name + "...]";
  return usage;
}

// Whether a word that begins with "-" is a number, and so an operand.
bool is_negative_number(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  std::string_view rest = word.substr(1);
  return std::isdigit(static_cast<unsigned char>(rest[0])) || rest[0] == '.' || rest.starts_with("inf") ||
         rest.starts_with("nan");
}

bool looks_like_flag(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && !is_negative_number(word);
}

std::vector<std::string> long_flags(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

base::Error unknown_flag(const Command::Impl& command, std::string flag) {
  flag = flag.substr(0, flag.find('='));
  std::string message = "unknown flag " + flag;
  if (auto near = nearest(flag, long_flags(*command.app))) message += "; did you mean " + *near + "?";
  return base::usage_error(message + (message.back() == '?' ? " " : "; ") + "`" + command.path +
                           " --help` lists the flags");
}

base::Error unexpected_word(const Command::Impl& command, const std::string& word) {
  if (command.commands.empty()) {
    return base::usage_error("unexpected argument '" + word + "'; usage: " + usage_of(command));
  }
  auto names = command_names(*command.app);
  std::string message = "unknown command '" + word + "'";
  if (auto near = nearest(word, names)) {
    message += "; did you mean '" + *near + "'?";
  } else {
    message += "; " + command.path + " has " + joined(names);
  }
  return base::usage_error(std::move(message));
}

// The first word that the command did not take, if it may not have any.
std::optional<base::Error> first_stray(const Command::Impl& command) {
  if (command.anything) return std::nullopt;
  for (const std::string& word : command.app->remaining()) {
    if (looks_like_flag(word)) return unknown_flag(command, word);
    if (!command.rest) return unexpected_word(command, unmarked(word));
  }
  return std::nullopt;
}

base::Error missing_command(const Command::Impl& command) {
  return base::usage_error("a command is missing; " + command.path + " has " +
                           joined(command_names(*command.app)) + "; `" + command.path + " --help` says more");
}

// The innermost command that was named.
Command::Impl& selected(Command& program) {
  Command::Impl* impl = &program.impl();
  while (true) {
    auto next = std::find_if(impl->commands.begin(), impl->commands.end(),
                             [](const auto& command) { return command->impl().app->parsed(); });
    if (next == impl->commands.end()) return *impl;
    impl = &(*next)->impl();
  }
}

// Where an operand is missing: the flag that may have taken it for a value of its own.
std::string taken_by_flag(const Command::Impl& command, std::span<const std::string> words) {
  size_t at = words.size();
  while (at > 0 && !looks_like_flag(words[at - 1])) --at;
  if (at == 0 || at == words.size()) return "";
  auto flag = std::ranges::find(command.flags, words[at - 1], &DeclaredFlag::name);
  if (flag == command.flags.end() || flag->takes == DeclaredFlag::Takes::Nothing) return "";
  const std::string wanted = flag->value_name == "N" ? ", which wants a number" : " " + flag->value_name;
  return ": " + base::display(words.back()) + " was taken as a value of " + flag->name + wanted;
}

// What CLI11 found wrong, in our words where it is one of the usual mistakes.
base::Error explain(const Command::Impl& command, const CLI::ParseError& error,
                    std::span<const std::string> words) {
  if (auto stray = first_stray(command)) return *stray;
  for (const CLI::Option* option : command.app->get_options()) {
    if (option->get_required() && option->count() == 0) {
      return base::usage_error(option->get_name() + " is missing" + taken_by_flag(command, words) +
                               "; usage: " + usage_of(command));
    }
    if (option->get_items_expected_max() == 1 && option->count() > 1) {
      return base::usage_error(option->get_name() + " is given more than once");
    }
  }
  std::string text = error.what();
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
  return base::usage_error(text + "; `" + command.path + " --help` lists the flags");
}

// Flags that are used wrongly, found before CLI11 looks: it would blame the next word, or say it in its own
// words.
std::optional<base::Error> misused_flag(const Command::Impl& program, std::span<const std::string> words) {
  const Command::Impl* command = &program;
  std::vector<std::string_view> seen;
  for (size_t i = 0; i < words.size() && words[i] != "--" && !command->anything; ++i) {
    auto below = std::ranges::find_if(command->commands, [&](const auto& candidate) {
      return candidate->impl().app->get_name() == words[i];
    });
    if (below != command->commands.end()) {
      command = &(*below)->impl();
      seen.clear();
      continue;
    }
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    auto flag = std::ranges::find(command->flags, name, &DeclaredFlag::name);
    if (flag == command->flags.end()) continue;
    const bool many = flag->takes == DeclaredFlag::Takes::Values;
    if (!many && std::ranges::find(seen, flag->name) != seen.end()) {
      return base::usage_error(name + " is given more than once");
    }
    seen.push_back(flag->name);
    if (flag->takes == DeclaredFlag::Takes::Nothing && equals != std::string::npos) {
      return base::usage_error(name + " takes no value");
    }
    if (flag->takes == DeclaredFlag::Takes::Nothing || equals != std::string::npos) continue;
    if (i + 1 == words.size() || looks_like_flag(words[i + 1])) {
      return base::usage_error(name + " needs a value: " + name + " " + flag->value_name);
    }
    // Values may be called like commands.
    do ++i;
    while (many && i + 1 < words.size() && !looks_like_flag(words[i + 1]));
  }
  return std::nullopt;
}

// CLI11 knows neither of the rest nor of our words for things.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(const Command::Impl& command) : command_(command) {
    column_width(34);
    label("REQUIRED", "");
    label("Positionals", "Operands");
  }
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: " + usage_of(command_) + "\n";
  }
  std::string make_positionals(const CLI::App* app) const override {
    std::string text = CLI::Formatter::make_positionals(app);
    if (!command_.rest) return text;
    if (text.empty()) text = "\n" + get_label("Positionals") + ":\n";
    std::stringstream line;
    CLI::detail::format_help(line, command_.rest_name + "...", command_.rest_help, get_column_width());
    return text + line.str();
  }

 private:
  const Command::Impl& command_;
};

std::string help_of(Command::Impl& command) {
  command.app->formatter(std::make_shared<HelpFormatter>(command));
  return command.app->help();
}

// What CLI11 gets to see, last word first. It takes "--flag=" as "--flag" without a value and would eat the
// next word; an empty value is one, too. And "--" inside a command would hand the rest back to the program:
// words after it are marked instead.
std::vector<std::string> reversed(std::span<const std::string> arguments) {
  std::vector<std::string> words;
  bool flags_ended = false;
  for (const std::string& word : arguments) {
    if (flags_ended) {
      words.push_back(kOperandMark + word);
    } else if (word == "--") {
      flags_ended = true;
    } else if (word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1) {
      words.push_back(word.substr(0, word.size() - 1));
      words.emplace_back();
    } else {
      words.push_back(word);
    }
  }
  std::reverse(words.begin(), words.end());
  return words;
}

}  // namespace

Command::Command(std::string program, std::string summary) : impl_(std::make_unique<Impl>()) {
  impl_->owned = std::make_unique<CLI::App>(std::move(summary), program);
  impl_->app = impl_->owned.get();
  impl_->path = std::move(program);
  impl_->prepare();
}
Command::Command(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Command::~Command() = default;

Command& Command::add_command(std::string name, std::string summary) {
  auto impl = std::make_unique<Impl>();
  impl->app = impl_->app->add_subcommand(name, std::move(summary));
  impl->app->group("Commands");
  impl->path = impl_->path + " " + name;
  impl->prepare();
  impl_->app->require_subcommand(0, 1);
  impl_->commands.push_back(std::unique_ptr<Command>(new Command(std::move(impl))));
  return *impl_->commands.back();
}

void Command::group(std::string heading) {
  impl_->heading = std::move(heading);
}

void Command::add_operand(std::string name, std::string help, std::string* value) {
  impl_->app
      ->add_option_function<std::string>(
          std::move(name), [value](const std::string& word) { *value = unmarked(word); }, std::move(help))
      ->required()
      ->option_text(" ");
}

void Command::add_rest(std::string name, std::string help, std::vector<std::string>* values) {
  impl_->rest = values;
  impl_->rest_name = std::move(name);
  impl_->rest_help = std::move(help);
  impl_->app->allow_extras();
}

void Command::add_flag(std::string name, std::string help, bool* given) {
  impl_->flags.push_back({name, "", DeclaredFlag::Takes::Nothing});
  impl_->app->add_flag(std::move(name), *given, std::move(help))
      ->group(impl_->heading)
      ->disable_flag_override();
}

void Command::add_option(std::string name, std::string value_name, std::string help,
                         std::optional<std::string>* value) {
  impl_->flags.push_back({name, value_name, DeclaredFlag::Takes::OneValue});
  impl_->app
      ->add_option_function<std::string>(
          std::move(name), [value](const std::string& text) { *value = text; }, std::move(help))
      ->group(impl_->heading)
      ->option_text(std::move(value_name));
}

void Command::add_list(std::string name, std::string value_name, std::string help,
                       std::vector<std::string>* values) {
  impl_->flags.push_back({name, value_name, DeclaredFlag::Takes::Values});
  impl_->app
      ->add_option_function<std::vector<std::string>>(
          std::move(name),
          [values, impl = impl_.get()](const std::vector<std::string>& words) {
            // What stood behind "--" is an operand, which CLI11 does not know.
            for (const std::string& word : words) {
              (is_marked(word) && impl->rest ? impl->rest : values)->push_back(unmarked(word));
            }
          },
          std::move(help))
      ->group(impl_->heading)
      ->option_text(std::move(value_name) + "...");
}

void Command::accept_anything() {
  impl_->anything = true;
  impl_->app->allow_extras();
}

base::Error Command::missing_command() const {
  return cli::missing_command(*impl_);
}

void Command::set_action(std::function<int(Output&)> action) {
  impl_->action = std::move(action);
}

void Command::set_footer(std::string text) {
  impl_->app->footer(std::move(text));
}

int parse_and_run(Command& program, std::span<const std::string> arguments, Output& output) {
  // Known before parsing is, since parsing may be what fails.
  for (const std::string& word : arguments) {
    if (word == "--") break;
    if (word == "--json") output.set_json(true);
  }
  const bool help = std::ranges::any_of(
      arguments, [](const std::string& word) { return word == "--help" || word == "-h"; });
  if (auto misused = misused_flag(program.impl(), arguments); misused && !help) return output.fail(*misused);
  try {
    program.impl().app->parse(reversed(arguments));
  } catch (const CLI::CallForHelp&) {
    output.print(help_of(selected(program)));
    return kExitDone;
  } catch (const CLI::ParseError& error) {
    return output.fail(explain(selected(program), error, arguments));
  }
  Command::Impl& command = selected(program);
  if (auto stray = first_stray(command)) return output.fail(*stray);
  if (command.rest) {
    for (const std::string& word : command.app->remaining()) command.rest->push_back(unmarked(word));
  }
  if (command.action) return command.action(output);
  return output.fail(missing_command(command));
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  size_t best_distance = std::max<size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : candidates) {
    // Levenshtein's distance, one row at a time.
    std::vector<size_t> row(candidate.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j < row.size(); ++j) {
        size_t substituted = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

base::Result<uint64_t> parse_number(std::string_view flag, std::string_view text, uint64_t min,
                                    uint64_t max) {
  uint64_t value = 0;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc() && end == text.data() + text.size() && value >= min && value <= max) return value;
  return base::usage_error(std::string(flag) + ": '" + std::string(text) + "' is not a whole number from " +
                           std::to_string(min) + " to " + std::to_string(max));
}

base::Error in_flag(std::string_view flag, base::Error error) {
  error.message = std::string(flag) + ": " + error.message;
  return error;
}

base::Result<void> check_directory(std::string_view flag, const std::string& path) {
  base::Files& files = base::system_files();
  const auto refuse = [&](const std::string& why) {
    return base::usage_error(std::string(flag) + ": " + why);
  };
  if (path.empty()) return refuse("an empty name is no directory");
  if (files.is_directory(path)) return {};
  if (files.exists(path)) return refuse(base::display(path) + " is a file, and a directory is wanted");
  std::string_view whole = path;
  while (whole.size() > 1 && whole.ends_with('/')) whole.remove_suffix(1);
  const std::string parent = base::directory_of(whole);
  if (files.is_directory(parent)) return {};
  return refuse("the directory " + base::display(path) + " cannot be made: there is no directory " +
                base::display(parent));
}

base::Result<void> make_directory(std::string_view flag, const std::string& path) {
  if (auto good = check_directory(flag, path); !good) return good;
  base::Files& files = base::system_files();
  if (files.is_directory(path)) return {};
  auto made = files.create_directory(path);
  // Somebody else may have made it meanwhile.
  if (made || files.is_directory(path)) return {};
  return base::usage_error(std::string(flag) + ": the directory " + base::display(path) + " " +
                           made.error().message);
}

base::Error not_a_word(std::string_view flag, std::string_view text,
                       std::span<const std::string_view> allowed) {
  return base::usage_error(std::string(flag) + ": " + base::not_among(text, allowed));
}

}  // namespace wago::cli
