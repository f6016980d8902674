#include "cli/flags.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "cli/output.h"

namespace wago::cli {
namespace {

// A program with two levels of commands and every kind of flag; what it was told, and what it said.
class Flags : public ::testing::Test {
 protected:
  struct Outcome {
    int code = -1;
    std::string out;
    std::string err;
  };

  Outcome run(std::vector<std::string> arguments) {
    file_.clear();
    rest_.clear();
    list_.clear();
    bounds_.reset();
    json_ = false;
    called_ = "";
    char* text[2] = {nullptr, nullptr};
    size_t size[2] = {0, 0};
    std::FILE* streams[2] = {open_memstream(&text[0], &size[0]), open_memstream(&text[1], &size[1])};
    Outcome outcome;
    {
      Output output("prog", streams[0], streams[1]);
      Command program("prog", "A program");
      declare(program);
      outcome.code = output.finish(parse_and_run(program, arguments, output));
    }
    std::fclose(streams[0]);
    std::fclose(streams[1]);
    outcome.out = text[0];
    outcome.err = text[1];
    std::free(text[0]);
    std::free(text[1]);
    return outcome;
  }

  void declare(Command& program) {
    Command& run = program.add_command("run", "Runs");
    run.add_operand("FILE", "A file", &file_);
    run.add_rest("ARG", "Arguments", &rest_);
    run.add_option("--bounds", "WORD", "Bounds", &bounds_);
    run.add_flag("--json", "JSON", &json_);
    run.set_action([this](Output&) { return called_ = "run", 0; });
    Command& group = program.add_command("group", "Commands below");
    Command& list = group.add_command("list", "Lists");
    list.add_operand("FILE", "A file", &file_);
    list.add_list("--baseline", "CAPTURE", "Several", &list_);
    list.set_action([this](Output&) { return called_ = "list", 7; });
    Command& other = program.add_command("other", "Not here");
    other.accept_anything();
    other.set_action([this](Output& output) {
      called_ = "other";
      return output.fail(base::usage_error("not here"));
    });
  }

  std::string file_, called_;
  std::vector<std::string> rest_, list_;
  std::optional<std::string> bounds_;
  bool json_ = false;
};

TEST_F(Flags, FlagsStandAnywhereAndNegativeNumbersAreOperands) {
  EXPECT_EQ(run({"run", "a.wasm", "-1", "--bounds", "explicit", "-inf", "-nan:0x1", "-.5", "-0x7"}).code, 0);
  EXPECT_EQ(file_, "a.wasm");
  EXPECT_EQ(rest_, (std::vector<std::string>{"-1", "-inf", "-nan:0x1", "-.5", "-0x7"}));
  EXPECT_EQ(bounds_, "explicit");
}

TEST_F(Flags, TwoDashesEndTheFlags) {
  EXPECT_EQ(run({"run", "--", "a.wasm", "1"}).code, 0);
  EXPECT_EQ(file_, "a.wasm");
  EXPECT_EQ(rest_, std::vector<std::string>{"1"});
  EXPECT_EQ(run({"run", "a.wasm", "--", "-3", "--bounds", "--", ""}).code, 0);
  EXPECT_EQ(rest_, (std::vector<std::string>{"-3", "--bounds", "--", ""}));
  EXPECT_FALSE(bounds_);
  EXPECT_EQ(run({"group", "list", "a", "--", "--b"}).err,
            "prog: unexpected argument '--b'; usage: prog group list [FLAGS] FILE\n");
}

TEST_F(Flags, AnEmptyValueIsAValue) {
  EXPECT_EQ(run({"run", "--bounds=", "a.wasm"}).code, 0);
  EXPECT_EQ(bounds_, "");
  EXPECT_EQ(file_, "a.wasm");
}

TEST_F(Flags, TheExitCodeIsTheActions) {
  EXPECT_EQ(run({"group", "list", "x", "--baseline", "a", "b"}).code, 7);
  EXPECT_EQ(list_, (std::vector<std::string>{"a", "b"}));
}

TEST_F(Flags, ValuesOfOneFlagAddUp) {
  EXPECT_EQ(run({"group", "list", "x", "--baseline", "a", "--baseline=b", "--baseline", "list", "c"}).code,
            7);
  EXPECT_EQ(list_, (std::vector<std::string>{"a", "b", "list", "c"}));
}

TEST_F(Flags, AWordThatNamesACommandCanBeAnOperand) {
  EXPECT_EQ(run({"run", "group"}).code, 0);
  EXPECT_EQ(file_, "group");
}

TEST_F(Flags, UnknownFlagsGetAHint) {
  Outcome outcome = run({"run", "--bound", "x", "a.wasm"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "prog: unknown flag --bound; did you mean --bounds? `prog run --help` lists the flags\n");
  EXPECT_EQ(run({"run", "a.wasm", "--wholly-different"}).err,
            "prog: unknown flag --wholly-different; `prog run --help` lists the flags\n");
  EXPECT_EQ(called_, "");
}

TEST_F(Flags, UnknownAndMissingCommandsListTheOnesThereAre) {
  EXPECT_EQ(run({"runn"}).err, "prog: unknown command 'runn'; did you mean 'run'?\n");
  EXPECT_EQ(run({"xyzzy"}).err, "prog: unknown command 'xyzzy'; prog has run, group, other\n");
  Outcome outcome = run({"group"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "prog: a command is missing; prog group has list; `prog group --help` says more\n");
}

TEST_F(Flags, MissingOperandsRepeatedFlagsAndMissingValuesAreNamed) {
  EXPECT_EQ(run({"run"}).err, "prog: FILE is missing; usage: prog run [FLAGS] FILE [ARG...]\n");
  EXPECT_EQ(run({"run", "--bounds", "a.wasm"}).err,
            "prog: FILE is missing: a.wasm was taken as a value of --bounds WORD; usage: prog run [FLAGS] "
            "FILE [ARG...]\n");
  EXPECT_EQ(run({"group", "list", "--baseline", "b c"}).err,
            "prog: FILE is missing: \"b c\" was taken as a value of --baseline CAPTURE; usage: prog group "
            "list [FLAGS] FILE\n");
  EXPECT_EQ(run({"run", "--bounds=a"}).err, "prog: FILE is missing; usage: prog run [FLAGS] FILE [ARG...]\n");
  EXPECT_EQ(run({"run", "a", "--bounds", "x", "--bounds", "y"}).err,
            "prog: --bounds is given more than once\n");
  EXPECT_NE(run({"run", "a", "--json", "--json"}).err.find("--json is given more than once"),
            std::string::npos);
  Outcome outcome = run({"run", "a", "--bounds"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "prog: --bounds needs a value: --bounds WORD\n");
  // Not the next word's fault.
  for (const char* next : {"--json", "--", "-x"}) {
    EXPECT_NE(run({"run", "--bounds", next, "a"}).err.find("--bounds needs a value: --bounds WORD"),
              std::string::npos)
        << next;
  }
  EXPECT_EQ(run({"group", "list", "a", "--baseline", "--", "b"}).err,
            "prog: --baseline needs a value: --baseline CAPTURE\n");
  EXPECT_EQ(run({"run", "a", "--bounds", "-1"}).code, 0) << "a negative number is a value";
  outcome = run({"group", "list", "a", "b"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "prog: unexpected argument 'b'; usage: prog group list [FLAGS] FILE\n");
  EXPECT_EQ(run({"run", "a", "--json=yes"}).err, "prog: --json takes no value\n");
}

TEST_F(Flags, HelpIsDoneEverywhere) {
  for (std::vector<std::string> path : std::vector<std::vector<std::string>>{
           {}, {"run"}, {"group"}, {"group", "list"}, {"other"}, {"run", "a.wasm", "1"}}) {
    for (const char* flag : {"--help", "-h"}) {
      auto arguments = path;
      arguments.push_back(flag);
      Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.code, 0);
      EXPECT_NE(outcome.out.find("Usage: prog"), std::string::npos) << outcome.out;
      EXPECT_EQ(outcome.err, "");
      EXPECT_EQ(called_, "");
    }
  }
  EXPECT_NE(run({"run", "--help"}).out.find("Usage: prog run [FLAGS] FILE [ARG...]"), std::string::npos);
}

TEST_F(Flags, UnderJsonAnErrorIsOneObject) {
  EXPECT_EQ(run({"run", "--json", "--nope", "a"}).err,
            "{\"error\":{\"kind\":\"usage\",\"exit_code\":2,\"message\":\"unknown flag --nope; `prog run "
            "--help` lists "
            "the flags\"}}\n");
}

TEST_F(Flags, ACommandThatIsNotHereAcceptsAnything) {
  Outcome outcome = run({"other", "record", "--what", "-x", "7"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "prog: not here\n");
}

TEST(FlagValues, NumbersNameTheirRange) {
  EXPECT_EQ(*parse_number("--limit", "20", 1, 100), 20u);
  for (auto text : {"0", "101", "-1", "", "1x", " 1", "99999999999999999999"}) {
    auto number = parse_number("--limit", text, 1, 100);
    ASSERT_FALSE(number) << text;
    EXPECT_NE(number.error().message.find("is not a whole number from 1 to 100"), std::string::npos);
  }
}

TEST(FlagValues, WordsListWhatIsAllowed) {
  EXPECT_EQ(*parse_word<base::Bounds>("--bounds", "explicit"), base::Bounds::Explicit);
  EXPECT_EQ(parse_word<base::Bounds>("--bounds", "maybe").error().message,
            "--bounds: 'maybe' is not one of signals, explicit");
}

TEST(FlagValues, TheNearestWordIsNearEnough) {
  const std::vector<std::string> words = {"--bounds", "--level", "--invoke"};
  EXPECT_EQ(nearest("--levle", words), "--level");
  EXPECT_EQ(nearest("--bonds", words), "--bounds");
  EXPECT_EQ(nearest("--quite-else", words), std::nullopt);
  EXPECT_EQ(nearest("", words), std::nullopt);
}

}  // namespace
}  // namespace wago::cli
