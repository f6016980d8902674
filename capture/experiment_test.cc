#include "capture/experiment.h"

#include <gtest/gtest.h>

namespace wago::capture {
namespace {

Experiment example() {
  Experiment experiment;
  experiment.sides[0] = {
      .program = "wago-profile", .revision = "aa", .dirty = base::Dirty::Clean, .protocol = 1};
  experiment.sides[1] = {
      .program = "wago-profile", .revision = "bb", .setting = "--level 0", .slowdown_ppm = 10'000};
  experiment.target = "x86_64-linux-gnu";
  experiment.logical_cpus = 2;
  experiment.budget_ns = 150'000'000'000;
  experiment.seed = ~uint64_t{0};
  experiment.workloads = {
      {.id = "fib",
       .catalog = "bundled",
       .labels = {"recursion"},
       .contract_sha256 = "11",
       .module_sha256 = {"22", "22"},
       .code_sha256 = {"33", "44"},
       .iteration_ns = 30'000,
       .captures = {"captures/fib.baseline.wagoprof", ""}},
      {.id = "sieve", .control = true, .state = WorkloadState::Failed, .diagnostic = "crashed"}};
  return experiment;
}

Pair pair_of(uint32_t workload) {
  Pair pair{.workload = workload,
            .round = 3,
            .code_offset = 32,
            .first = ExperimentSide::Candidate,
            .padding_bytes = 77};
  pair.iterations_per_turn = 10;
  // Runners of the first protocol have no such thing.
  if (workload == 0)
    pair.addresses = {
        .stack = 0x140000000010, .memory = 0x200000000000, .code = {0x180000000000, 0x180000001000}};
  pair.turns[0] = {{1, 2, 3, 4, 5}, {6, 7, 8, 0, 0}};
  pair.turns[1] = {{10, 20, 30, 0, 1}, {60, 70, 80, 0, 0}};
  return pair;
}

std::string lines_of(const Experiment& experiment, const std::vector<Pair>& pairs) {
  PairLines lines(experiment);
  std::string text;
  for (const Pair& pair : pairs) text += lines.next(pair);
  return text;
}

// As a first version wrote it.
Experiment unsealed() {
  Experiment experiment = example();
  experiment.version = 1;
  return experiment;
}

TEST(Experiment, ReadsBackAsWritten) {
  auto experiment = parse_experiment(to_json_text(example()), "experiment.json");
  ASSERT_TRUE(experiment) << experiment.error().to_string();
  EXPECT_EQ(*experiment, example());
}

TEST(Experiment, PairsReadBackAndATornLineIsLeftOut) {
  const std::string whole = lines_of(example(), {pair_of(0), pair_of(1)});
  for (const std::string& torn : {std::string(), std::string("{\"workl"), whole.substr(0, 200)}) {
    auto pairs = parse_pairs(whole + torn, example(), "pairs.jsonl");
    ASSERT_TRUE(pairs) << pairs.error().to_string();
    EXPECT_EQ(pairs->pairs, (std::vector<Pair>{pair_of(0), pair_of(1)}));
    EXPECT_EQ(pairs->whole_bytes, whole.size());
  }
}

TEST(Experiment, DamageIsNamedWithItsLine) {
  auto sentence = [](std::string from, std::string to) {
    std::string text = lines_of(unsealed(), {pair_of(0), pair_of(1)});
    text.replace(text.rfind(from), from.size(), to);
    auto pairs = parse_pairs(text, unsealed(), "pairs.jsonl");
    return pairs ? std::string("accepted") : pairs.error().to_string();
  };
  EXPECT_EQ(sentence("\"workload\":1", "\"workload\":2"),
            "pairs.jsonl: line 2: workload: must be the number of a workload of the experiment");
  EXPECT_EQ(sentence("\"code_offset\":32", "\"code_offset\":33"),
            "pairs.jsonl: line 2: code_offset: must be 0, 16, 32 or 48");
  EXPECT_EQ(sentence("\"cpu_ns\":[30,80]", "\"cpu_ns\":[30]"),
            "pairs.jsonl: line 2: candidate.cpu_ns: must be as long as start_ns");
  EXPECT_EQ(sentence("\"cpu_ns\":[30,80]", "\"cpu_ns\":[30,-1]"),
            "pairs.jsonl: line 2: candidate.cpu_ns: must hold integers from 0 to 18446744073709551615");
  EXPECT_EQ(sentence("\"sliced\":false", "\"sliced\":0").rfind("pairs.jsonl: line 2: sliced: ", 0), 0u);
  EXPECT_EQ(sentence("}\n", "\n").rfind("pairs.jsonl: line 2", 0), 0u);
  EXPECT_EQ(sentence("\"workload\":1", "\"workload\":0"),
            "pairs.jsonl: line 2: is a second pair of one workload in one round");
}

constexpr const char* kEdited =
    "was changed after it was measured, since its sha256 is another: use it as it was written, or measure "
    "again";

TEST(Experiment, AnEditedFileIsNoEvidence) {
  auto sentence = [](std::string from, std::string to) {
    std::string text = to_json_text(example());
    text.replace(text.find(from), from.size(), to);
    auto experiment = parse_experiment(text, "experiment.json");
    return experiment ? std::string("accepted") : experiment.error().to_string();
  };
  const std::string edited = "experiment.json: " + std::string(kEdited);
  EXPECT_EQ(sentence("\"control\": false", "\"control\": true"), edited);
  EXPECT_EQ(sentence("\"control\": false", "\"colour\": 7, \"control\": false"), edited);
  EXPECT_EQ(sentence("\"seed\"", " \"seed\""), edited);
  EXPECT_EQ(sentence("\"pairs\": 0", "\"pairs\": 1"), edited);
  EXPECT_EQ(sentence("\n}\n", "\n}\n\n"), edited);
  EXPECT_EQ(sentence("\"sha256\": \"", "\"sha256\": \"0"), edited);
  EXPECT_EQ(sentence("\"sha256\"", "\"sha255\""), edited);
}

TEST(Experiment, PairsAreSealedInTheirOrderToTheirExperiment) {
  auto sentence = [](const std::string& text, const Experiment& experiment = example()) {
    auto pairs = parse_pairs(text, experiment, "pairs.jsonl");
    return pairs ? std::string("accepted") : pairs.error().to_string();
  };
  const std::string text = lines_of(example(), {pair_of(0), pair_of(1)});
  ASSERT_EQ(sentence(text), "accepted");
  const size_t second = text.find('\n') + 1;
  const std::string first_line = "pairs.jsonl: line 1: " + std::string(kEdited);
  const std::string second_line = "pairs.jsonl: line 2: " + std::string(kEdited);

  std::string faster = text;
  faster.replace(faster.rfind("[30,80]"), 7, "[10,27]");
  EXPECT_EQ(sentence(faster), second_line);
  // Pairs left out, exchanged, or without their seals.
  EXPECT_EQ(sentence(text.substr(second)), first_line);
  EXPECT_EQ(sentence(text.substr(second) + text.substr(0, second)), first_line);
  EXPECT_EQ(sentence(lines_of(unsealed(), {pair_of(0), pair_of(1)})), first_line);
  // Of another experiment.
  Experiment other = example();
  other.start_unix_ns += 1;
  EXPECT_EQ(sentence(text, other), first_line);
  other = example();
  other.seed = 5;
  EXPECT_EQ(sentence(text, other), first_line);
  // What is read is gone on with.
  auto read = parse_pairs(text, example(), "pairs.jsonl");
  ASSERT_TRUE(read);
  Pair third = pair_of(0);
  third.round = 4;
  EXPECT_EQ(text + read->lines.next(third), lines_of(example(), {pair_of(0), pair_of(1), third}));
}

TEST(Experiment, TheFirstVersionHasNoSeals) {
  const std::string text = to_json_text(unsealed());
  EXPECT_EQ(text.rfind("\"sha256\""), std::string::npos);
  auto experiment = parse_experiment(text, "experiment.json");
  ASSERT_TRUE(experiment) << experiment.error().to_string();
  EXPECT_EQ(*experiment, unsealed());
  const std::string lines = lines_of(unsealed(), {pair_of(0)});
  EXPECT_EQ(lines.find("sha256"), std::string::npos);
  EXPECT_TRUE(parse_pairs(lines, unsealed(), "pairs.jsonl"));
}

// Nobody takes the seals off by calling it version 1.
TEST(Experiment, WhatWasSealedIsNoFirstVersion) {
  std::string text = to_json_text(example());
  text.replace(text.find("\"version\": 2"), 12, "\"version\": 1");
  const std::string why =
      "was changed after it was measured, since it has a sha256, which version 1 has not: use it as it was "
      "written, or measure again";
  auto experiment = parse_experiment(text, "experiment.json");
  ASSERT_FALSE(experiment);
  EXPECT_EQ(experiment.error().to_string(), "experiment.json: " + why);
  // Nor of a single line.
  const std::string first = lines_of(unsealed(), {pair_of(0)});
  const std::string sealed = lines_of(example(), {pair_of(0), pair_of(1)});
  auto pairs = parse_pairs(first + sealed.substr(sealed.find('\n') + 1), unsealed(), "pairs.jsonl");
  ASSERT_FALSE(pairs);
  EXPECT_EQ(pairs.error().to_string(), "pairs.jsonl: line 2: " + why);
  EXPECT_EQ(pairs.error().place.file, "pairs.jsonl");
  EXPECT_EQ(pairs.error().place.section, "line 2");
}

TEST(Experiment, PairsThatAreGoneAreMissed) {
  base::MemoryFiles files;
  Experiment experiment = example();
  experiment.pairs = 2;
  auto write = [&](const std::string& pairs) {
    ASSERT_TRUE(files.create_directory("e"));
    ASSERT_TRUE(files.create("e/experiment.json", base::as_bytes(to_json_text(experiment))));
    ASSERT_TRUE(files.create("e/pairs.jsonl", base::as_bytes(pairs)));
  };
  write(lines_of(experiment, {pair_of(0)}));
  EXPECT_EQ(
      read_experiment("e", files).error().to_string(),
      "e/pairs.jsonl: has 1 whole pair where 2 were measured: it was cut off; the command that measured "
      "them goes on from here");
  EXPECT_EQ(read_experiment("f", files).error().to_string(), "f: there is no such experiment");
  ASSERT_TRUE(files.create_directory("f"));
  EXPECT_EQ(read_experiment("f", files).error().to_string(),
            "f: is not an experiment: it has no experiment.json");
}

TEST(Experiment, WorkloadsAreFoundByNameControlsApart) {
  Experiment experiment = example();
  experiment.workloads.insert(experiment.workloads.begin(), experiment.workloads[0]);
  experiment.workloads[0].control = true;
  auto found = find_workload(experiment, "fib", "a.wagoexp");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, 1u);
  EXPECT_EQ(find_workload(experiment, "sieve", "a.wagoexp").error().to_string(),
            "a.wagoexp: has no workload sieve; it has fib");
  EXPECT_EQ(explain_capture("fib", ExperimentSide::Candidate, ExplainPart::Sampled),
            "fib.candidate.sampled.wagoprof");
}

TEST(Experiment, SchemasAndPathsOfOthersAreRefused) {
  auto sentence = [](auto change) {
    Experiment experiment = example();
    change(experiment);
    auto parsed = parse_experiment(to_json_text(experiment), "experiment.json");
    return parsed ? std::string("accepted") : parsed.error().to_string();
  };
  EXPECT_NE(sentence([](Experiment& e) { e.version = 3; }).find("too new"), std::string::npos);
  EXPECT_NE(sentence([](Experiment& e) {
              e.workloads[0].captures[1] = "../../etc";
            }).find("workloads[0].captures: must be paths inside the experiment"),
            std::string::npos);
  EXPECT_NE(sentence([](Experiment& e) {
              e.workloads[0].captures[0] = "/tmp/x";
            }).find("must be paths inside the experiment"),
            std::string::npos);
}

}  // namespace
}  // namespace wago::capture
