#include "capture/history_store.h"
#include "base/testing/scratch_folder.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

namespace wago::capture {
namespace {

namespace fs = std::filesystem;

HistoryExperiment example(const std::string& identity, uint64_t start_unix_ns, size_t results = 2) {
  HistoryExperiment experiment{
      .identity = identity,
      .name = identity + ".wagoexp",
      .start_unix_ns = start_unix_ns,
      .sides = {{{"v1", "aaaa", "wago-profile", "id1"}, {"v2 \"late\"", "bbbb", "wago-profile", "id2"}}},
      .target = "x86_64-linux",
      .cpu_model = "Test CPU",
      .os_version = "Linux 6.1",
      .logical_cpus = 2,
      .confidence = 0.99,
      .floor = 0.0025,
      .margin = 0.01};
  for (size_t i = 0; i < results; ++i) {
    experiment.results.push_back({.catalog = "bundled",
                                  .workload = "fib" + std::to_string(i),
                                  .labels = {"short", "a,\"b\""},
                                  .contract_sha256 = "cccc",
                                  .control = i == 1,
                                  .finding = "regressed",
                                  .gated = true,
                                  .pairs = 12,
                                  .cold_pairs = 1,
                                  .log_ratio = std::log(1.03),
                                  .log_low = 0.029,
                                  .log_high = 0.031,
                                  .log_error = 0.0003,
                                  .p_value = 1e-9,
                                  .holm = 2e-9,
                                  .same_code = false,
                                  .baseline_instructions = 5000});
  }
  return experiment;
}

class HistoryStore : public ::testing::Test {
 protected:
  HistoryAddition add(const HistoryExperiment& experiment) {
    auto added = add_to_history(path_, std::vector{experiment});
    EXPECT_TRUE(added) << added.error().to_string();
    return added ? added->at(0) : HistoryAddition::Present;
  }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // A new file: some file systems flush one that is truncated and written again.
  void put(const std::string& bytes) const {
    fs::remove(path_);
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  std::string read_error() const {
    auto read = read_history(path_);
    return read ? "no error" : read.error().to_string();
  }
  std::string add_error(const HistoryLimits& limits = {}) const {
    auto added = add_to_history(path_, std::vector{example("other", 9)}, limits);
    return added ? "no error" : added.error().to_string();
  }
  // What another program does with the file.
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> elsewhere(const std::string& sql) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    return {database, sqlite3_close};
  }

  const base::testing::ScratchFolder scratch_;
  const fs::path directory_ = scratch_.path();
  const std::string path_ = scratch_.file("h.wagohist");
};

TEST_F(HistoryStore, WhatIsAddedIsReadBackInTheOrderOfTime) {
  EXPECT_EQ(add(example("late", 20)), HistoryAddition::Added);
  EXPECT_EQ(add(example("early", 10, 0)), HistoryAddition::Added);
  auto read = read_history(path_);
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(read->at(0), example("early", 10, 0));
  EXPECT_EQ(read->at(1), example("late", 20));
}

TEST_F(HistoryStore, IsPrivateAndOneFile) {
  add(example("one", 10));
  struct stat status = {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
}

TEST_F(HistoryStore, AnExperimentIsThereOnce) {
  add(example("one", 10));
  const std::string before = bytes();
  EXPECT_EQ(add(example("one", 10)), HistoryAddition::Present);
  EXPECT_TRUE(bytes() == before);
  EXPECT_EQ(add(example("one", 10, 3)), HistoryAddition::Replaced);
  auto read = read_history(path_);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*read, std::vector{example("one", 10, 3)});
}

TEST_F(HistoryStore, AnOlderCopyDoesNotReplaceANewerOne) {
  auto measured = [](uint64_t pairs, uint64_t cold_pairs) {
    HistoryExperiment experiment = example("one", 10);
    for (HistoryResult& result : experiment.results) {
      result.pairs = pairs;
      result.cold_pairs = cold_pairs;
    }
    return experiment;
  };
  EXPECT_EQ(add(measured(12, 4)), HistoryAddition::Added);
  EXPECT_EQ(add(measured(8, 4)), HistoryAddition::Older);
  EXPECT_EQ(add(measured(15, 0)), HistoryAddition::Older) << "pairs that were left out were measured, too";
  auto read = read_history(path_);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*read, std::vector{measured(12, 4)});
  // As many: read with another floor, or its sides are called otherwise.
  EXPECT_EQ(add(measured(13, 3)), HistoryAddition::Replaced);
  EXPECT_EQ(add(measured(16, 4)), HistoryAddition::Replaced);
  read = read_history(path_);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*read, std::vector{measured(16, 4)});
}

TEST_F(HistoryStore, AllAreAddedOrNone) {
  add(example("one", 10));
  const std::string before = bytes();
  auto added =
      add_to_history(path_, std::vector{example("two", 20), example("three", 30)}, {.experiments = 2});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().to_string(), path_ + ": a history holds up to 2 experiments: start another one");
  EXPECT_TRUE(bytes() == before);
}

TEST_F(HistoryStore, OneThatIsFullKeepsWhatItHas) {
  add(example("one", 10));
  const std::string before = bytes();
  auto added = add_to_history(path_, std::vector{example("large", 20, 2000)}, {.bytes = 128 << 10});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().to_string(),
            path_ + ": there is no room for more: the disk is full, or the history at its limit");
  EXPECT_EQ(added.error().kind, base::ErrorKind::Failed);
  EXPECT_TRUE(bytes() == before);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
}

TEST_F(HistoryStore, OneThatCouldNotBeBegunLeavesNothing) {
  auto added = add_to_history(path_, std::vector{example("large", 20, 2000)}, {.bytes = 64 << 10});
  ASSERT_FALSE(added);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(HistoryStore, OneThatIsLockedIsSaid) {
  add(example("one", 10));
  auto other = elsewhere("BEGIN EXCLUSIVE; DELETE FROM experiment");
  const std::string in_use = path_ + ": is in use by another process: try again when it is done";
  EXPECT_EQ(add_error({.patience_ms = 0}), in_use);
  auto read = read_history(path_, {.patience_ms = 0});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().to_string(), in_use);
  EXPECT_EQ(read.error().kind, base::ErrorKind::Failed);
  other.reset();  // which rolls back
  auto after = read_history(path_);
  ASSERT_TRUE(after) << after.error().to_string();
  EXPECT_EQ(*after, std::vector{example("one", 10)});
}

TEST_F(HistoryStore, ReadersDoNotKeepEachOtherOut) {
  add(example("one", 10));
  auto other = elsewhere("BEGIN; SELECT * FROM experiment");
  EXPECT_EQ(read_error(), "no error");
}

TEST_F(HistoryStore, NewerOnesAreRefused) {
  add(example("one", 10));
  elsewhere("PRAGMA user_version=2");
  const std::string wanted =
      path_ + ": schema version 2 is too new for this program, which reads up to 1: use a newer one";
  EXPECT_EQ(read_error(), wanted);
  EXPECT_EQ(add_error(), wanted);
}

TEST_F(HistoryStore, OtherDatabasesAreRefusedAndLeftAlone) {
  elsewhere("CREATE TABLE experiment(id)");
  const std::string before = bytes();
  EXPECT_EQ(read_error(), path_ + ": is not a history");
  EXPECT_EQ(add_error(), path_ + ": is not a history");
  EXPECT_TRUE(bytes() == before);
}

TEST_F(HistoryStore, OtherFilesAreRefusedAndLeftAlone) {
  for (const std::string& content : {std::string("x"), std::string(5000, 'x'), std::string(512, '\0')}) {
    put(content);
    EXPECT_EQ(read_error(), path_ + ": is not a history");
    EXPECT_EQ(add_error(), path_ + ": is not a history");
    EXPECT_TRUE(bytes() == content);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
}

TEST_F(HistoryStore, OtherTablesAreRefused) {
  add(example("one", 10));
  elsewhere("CREATE TABLE more(id)");
  EXPECT_NE(read_error().find("is damaged or was changed by hand"), std::string::npos) << read_error();
  EXPECT_NE(add_error().find("is damaged or was changed by hand"), std::string::npos) << add_error();
}

TEST_F(HistoryStore, NumbersThatWereChangedAreNoticed) {
  add(example("one", 10));
  elsewhere("UPDATE result SET log_ratio=0.5 WHERE position=1");
  EXPECT_NE(read_error().find("is damaged or was changed by hand"), std::string::npos) << read_error();
}

TEST_F(HistoryStore, AnEmptyFileIsFilled) {
  put("");
  EXPECT_EQ(read_error(), path_ + ": is empty: `profile history add` fills it");
  EXPECT_EQ(add(example("one", 10)), HistoryAddition::Added);
}

TEST_F(HistoryStore, OnlyFilesAreOpened) {
  EXPECT_EQ(read_error(), path_ + ": cannot be opened: No such file or directory");
  ASSERT_TRUE(fs::create_directory(path_));
  EXPECT_EQ(read_error(), path_ + ": is not a file");
  EXPECT_EQ(add_error(), path_ + ": is not a file");
  auto added = add_to_history((directory_ / "missing" / "h").string(), std::vector{example("one", 10)});
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().to_string().find("cannot be created: No such file or directory"),
            std::string::npos);
}

TEST_F(HistoryStore, OneThatMayNotBeWrittenIsSaid) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  add(example("one", 10));
  ASSERT_EQ(::chmod(path_.c_str(), 0400), 0);
  EXPECT_EQ(add_error(), path_ + ": cannot be written: the file or its directory is read-only");
  EXPECT_EQ(read_error(), "no error");
}

TEST_F(HistoryStore, NamesThatSqliteKnowsAreNamesOfFiles) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_);
  for (const char* name : {":memory:", "file:x?mode=memory"}) {
    EXPECT_TRUE(add_to_history(name, std::vector{example("one", 10)}));
    EXPECT_TRUE(fs::is_regular_file(name)) << name;
    EXPECT_TRUE(read_history(name)) << name;
  }
  fs::current_path(before);
}

// Wherever it was cut off, and whatever byte was changed: refused, or what was written.
TEST_F(HistoryStore, DamageIsNoticed) {
  add(example("one", 10, 40));
  add(example("two", 20, 3));
  const std::string whole = bytes();
  const std::vector<HistoryExperiment> wanted = {example("one", 10, 40), example("two", 20, 3)};
  size_t refused = 0, tried = 0;
  auto look = [&](const std::string& what, size_t at) {
    auto read = read_history(path_);
    ++tried;
    if (!read) {
      ++refused;
      EXPECT_EQ(read.error().to_string().find(path_ + ": "), 0u);
      return;
    }
    EXPECT_EQ(*read, wanted) << what << at;
  };
  for (size_t at = 1; at < whole.size(); at += 997) {
    put(whole.substr(0, at));
    look("cut off at ", at);
  }
  EXPECT_EQ(refused, tried) << "a part of it is never a history";
  for (size_t at = 0; at < whole.size(); at += at < 128 ? 1 : 41) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    put(damaged);
    look("changed at ", at);
  }
  EXPECT_GT(refused, tried / 3);
}

// A writer that died with pages already in the file leaves a journal, by which they are taken back.
TEST_F(HistoryStore, AnAdditionThatDiedNeverHappened) {
  add(example("one", 10));
  {
    auto other = elsewhere(
        "PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN; UPDATE result SET finding='same'; UPDATE "
        "experiment "
        "SET name=hex(zeroblob(100000))");
    fs::copy_file(path_, path_ + ".dead");
    fs::copy_file(path_ + "-journal", path_ + ".dead-journal");
  }
  fs::rename(path_ + ".dead", path_);
  fs::rename(path_ + ".dead-journal", path_ + "-journal");
  auto read = read_history(path_);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*read, std::vector{example("one", 10)});
}

}  // namespace
}  // namespace wago::capture
