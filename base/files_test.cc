#include "base/files.h"
#include "base/testing/scratch_folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

namespace wago::base {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat status;
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

std::string text_of(Files& files, const std::string& path) {
  auto bytes = files.read(path, 1 << 20);
  EXPECT_TRUE(bytes) << path;
  return bytes ? std::string(as_text(*bytes)) : "";
}

// What both implementations promise.
void exercise(Files& files, const std::string& root) {
  std::string directory = join_path(root, "d");
  ASSERT_TRUE(files.create_directory(directory));
  EXPECT_TRUE(files.is_directory(directory));
  EXPECT_EQ(files.create_directory(directory).error().kind, ErrorKind::Usage);
  std::string a = join_path(directory, "a"), b = join_path(directory, "b");
  ASSERT_TRUE(files.create(a, as_bytes("one")));
  EXPECT_EQ(files.create(a, as_bytes("two")).error().kind, ErrorKind::Usage);
  EXPECT_EQ(text_of(files, a), "one");
  ASSERT_TRUE(files.publish(a, as_bytes("two")));
  ASSERT_TRUE(files.publish(b, as_bytes("")));
  EXPECT_EQ(text_of(files, a), "two");
  EXPECT_EQ(*files.list(directory), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(files.read(join_path(directory, "c"), 9).error().kind, ErrorKind::Usage);
  EXPECT_FALSE(files.read(directory, 9));
  EXPECT_FALSE(files.read(a, 2));
  EXPECT_TRUE(files.read(a, 3));
  ASSERT_TRUE(files.remove(b));
  EXPECT_FALSE(files.exists(b));
  EXPECT_FALSE(files.exists(join_path(a, "b"))) << "a is a file";
  EXPECT_FALSE(files.remove(b));
}

// What both promise of a directory that is held open.
void exercise_directory(Files& files, const std::string& root) {
  std::string path = join_path(root, "held");
  EXPECT_EQ(files.open_directory(path).error().to_string(),
            path + ": cannot be opened: No such file or directory");
  ASSERT_TRUE(files.create_directory(path));
  auto directory = files.open_directory(path);
  ASSERT_TRUE(directory);
  EXPECT_EQ((*files.open_directory(path))->id(), (*directory)->id());
  ASSERT_TRUE((*directory)->create("a", as_bytes("one")));
  EXPECT_EQ((*directory)->create("a", as_bytes("two")).error().to_string(),
            join_path(path, "a") + ": exists already and is never replaced");
  ASSERT_TRUE((*directory)->publish("a", as_bytes("two")));
  EXPECT_EQ(as_text(*(*directory)->read("a", 9)), "two");
  EXPECT_EQ((*directory)->read("b", 9).error().to_string(),
            join_path(path, "b") + ": cannot be read: No such file or directory");
  EXPECT_TRUE((*directory)->in_place());
  // Another takes its place; what a stranger keeps there is not touched.
  ASSERT_TRUE(files.remove(join_path(path, "a")));
  ASSERT_TRUE(files.remove(path));
  const std::string gone =
      path + ": is no longer the directory that was opened: it was removed, moved or replaced meanwhile";
  EXPECT_EQ((*directory)->create("a", {}).error().to_string(), gone);
  ASSERT_TRUE(files.create_directory(path));
  ASSERT_TRUE(files.create(join_path(path, "a"), as_bytes("mine")));
  EXPECT_NE((*files.open_directory(path))->id(), (*directory)->id());
  EXPECT_FALSE((*directory)->in_place());
  EXPECT_EQ((*directory)->create("b", {}).error().to_string(), gone);
  EXPECT_EQ((*directory)->publish("a", as_bytes("x")).error().to_string(), gone);
  EXPECT_EQ((*directory)->publish("a", as_bytes("x")).error().kind, ErrorKind::Failed);
  EXPECT_EQ(text_of(files, join_path(path, "a")), "mine");
  EXPECT_EQ(*files.list(path), (std::vector<std::string>{"a"}));
}

TEST(Files, TheMachinesAndTheInMemoryTwinAgree) {
  testing::ScratchFolder directory;
  exercise(system_files(), directory.path());
  exercise_directory(system_files(), directory.path());
  MemoryFiles memory;
  ASSERT_TRUE(memory.create_directory("root"));
  exercise(memory, "root");
  exercise_directory(memory, "root");
}

TEST(Files, NothingButARegularFileIsReadUnlessAStreamIsAskedFor) {
  testing::ScratchFolder directory;
  std::string pipe = join_path(directory.path(), "pipe"), link = join_path(directory.path(), "link");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::symlink("pipe", link.c_str()), 0);
  // Without a writer: reading it would wait for ever.
  EXPECT_EQ(system_files().read(pipe, 9).error().to_string(), pipe + ": is a pipe, not a file");
  EXPECT_EQ(system_files().read(link, 9).error().to_string(), link + ": is a pipe, not a file");
  EXPECT_EQ(system_files().read("/dev/zero", 9).error().to_string(), "/dev/zero: is a device, not a file");
  EXPECT_EQ((*system_files().open_directory(directory.path()))->read("pipe", 9).error().to_string(),
            pipe + ": is a pipe, not a file");
  EXPECT_TRUE(system_files().read("/proc/self/statm", 4096));
  std::thread writer([&] {
    std::ofstream stream(pipe);
    stream << "said";
  });
  auto said = system_files().read_stream(pipe, 9);
  writer.join();
  ASSERT_TRUE(said) << said.error().to_string();
  EXPECT_EQ(as_text(*said), "said");
  EXPECT_EQ(system_files().read_stream("/dev/null", 9)->size(), 0u);
  EXPECT_EQ(system_files().read_stream("/dev/zero", 9).error().to_string(),
            "/dev/zero: is larger than the limit of 9 bytes");
  EXPECT_EQ(system_files().read_stream(directory.path(), 9).error().to_string(),
            directory.path() + ": is a directory, not a file");
}

TEST(Files, EverythingWrittenIsPrivateToItsOwner) {
  testing::ScratchFolder directory;
  mode_t old = ::umask(0);
  std::string inside = join_path(directory.path(), "d");
  ASSERT_TRUE(system_files().create_directory(inside));
  ASSERT_TRUE(system_files().create(join_path(inside, "a"), as_bytes("x")));
  ASSERT_TRUE(system_files().publish(join_path(inside, "b"), as_bytes("x")));
  ::umask(old);
  EXPECT_EQ(mode_of(inside), 0700u);
  EXPECT_EQ(mode_of(join_path(inside, "a")), 0600u);
  EXPECT_EQ(mode_of(join_path(inside, "b")), 0600u);
}

TEST(Files, PublishingFollowsNoLinkThatAStrangerLeft) {
  testing::ScratchFolder directory;
  std::string victim = join_path(directory.path(), "victim"), target = join_path(directory.path(), "m");
  ASSERT_TRUE(system_files().create(victim, as_bytes("precious")));
  ASSERT_EQ(::symlink(victim.c_str(), (target + ".part").c_str()), 0);
  EXPECT_FALSE(system_files().publish(target, as_bytes("x")));
  EXPECT_EQ(text_of(system_files(), victim), "precious");
}

// Two reports into one directory, say.
TEST(Files, WhoPublishTheSameFileAtOnceTakeTurns) {
  const testing::ScratchFolder scratch;
  const std::string path = scratch.file("shared");
  constexpr int kTimes = 100;
  constexpr size_t kBytes = 100'000;
  auto publish = [&](uint8_t byte, std::atomic<int>& failures) {
    const std::vector<uint8_t> bytes(kBytes, byte);
    for (int i = 0; i < kTimes; ++i) failures += !system_files().publish(path, bytes);
  };
  std::atomic<int> failures = 0;
  std::thread one(publish, uint8_t{1}, std::ref(failures)), two(publish, uint8_t{2}, std::ref(failures));
  one.join();
  two.join();
  EXPECT_EQ(failures, 0);
  auto bytes = system_files().read(path, kBytes);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->size(), kBytes);
  EXPECT_EQ(std::count(bytes->begin(), bytes->end(), bytes->front()), static_cast<ptrdiff_t>(kBytes));
  EXPECT_FALSE(system_files().exists(path + ".part"));
}

TEST(Files, MessagesNameThePathAndTheReason) {
  auto missing = system_files().read("/nowhere/at/all", 9);
  EXPECT_EQ(missing.error().to_string(), "/nowhere/at/all: cannot be read: No such file or directory");
  auto uncreatable = system_files().create_directory("/nowhere/at/all");
  EXPECT_EQ(uncreatable.error().to_string(), "/nowhere/at/all: cannot be created: No such file or directory");
  EXPECT_EQ(uncreatable.error().kind, ErrorKind::Usage);
  auto full = system_files().create("/dev/full/x", as_bytes("x"));
  EXPECT_FALSE(full);
}

TEST(MemoryFiles, AFullDiskKeepsTheOldContent) {
  MemoryFiles files;
  ASSERT_TRUE(files.publish("m", as_bytes("old")));
  files.set_capacity(5);
  auto result = files.publish("m", as_bytes("newer"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().to_string(), "m.part: cannot be written: No space left on device");
  EXPECT_EQ(text_of(files, "m"), "old");
}

TEST(MemoryFiles, AStoppedProcessLeavesOldOrNewContentNeverAPart) {
  for (uint64_t changes = 0; changes < 5; ++changes) {
    MemoryFiles files;
    ASSERT_TRUE(files.publish("m", as_bytes("old")));
    files.stop_after(changes);
    bool done = files.publish("m", as_bytes("new")).ok();
    EXPECT_EQ(text_of(files, "m"), done ? "new" : "old") << changes;
  }
}

TEST(Gzip, InflatesWhatItDeflatedAndPassesTheRestThrough) {
  std::vector<uint8_t> bytes(300'000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i >> 7);
  auto packed = gzip(bytes);
  EXPECT_LT(packed.size(), bytes.size());
  EXPECT_EQ(*inflate_if_gzip(packed, bytes.size(), "f"), bytes);
  EXPECT_EQ(*inflate_if_gzip({1, 2, 3}, 1, "f"), (std::vector<uint8_t>{1, 2, 3}));
  EXPECT_EQ(*inflate_if_gzip(gzip({}), 10, "f"), std::vector<uint8_t>{});
}

TEST(Gzip, BombsAndDamageAreRefused) {
  auto bomb = gzip(std::vector<uint8_t>(50'000'000));
  auto refused = inflate_if_gzip(bomb, 1 << 20, "f.gz");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().to_string(), "f.gz: inflates to more than the limit decoded_bytes (1048576)");
  auto packed = gzip(std::vector<uint8_t>(1000, 7));
  for (size_t length = 2; length < packed.size(); ++length) {
    EXPECT_FALSE(inflate_if_gzip({packed.begin(), packed.begin() + static_cast<long>(length)}, 1 << 20, "f"))
        << length;
  }
  packed[packed.size() / 2] ^= 0x10;
  EXPECT_FALSE(inflate_if_gzip(packed, 1 << 20, "f"));
}

uint64_t most_resident_bytes() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

TEST(Gzip, BombsTakeNoMemory) {
  constexpr size_t kBytes = size_t{64} << 20;
  const std::vector<uint8_t> bomb = gzip(std::vector<uint8_t>(kBytes));
  ASSERT_LT(bomb.size(), kBytes / 1000);
  // A process of its own, which has not had that much yet.
  const pid_t child = ::fork();
  if (child == 0) {
    const uint64_t before = most_resident_bytes();
    const bool accepted = inflate_if_gzip(bomb, kBytes - 1, "f").ok();
    const uint64_t taken = most_resident_bytes() - before;
    ::_exit(accepted ? 1 : taken > kBytes / 8 ? 2 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1: accepted; 2: inflated before it was refused";
}

TEST(Paths, JoinAndSplit) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
  EXPECT_EQ(base_name("/x/y.wasm"), "y.wasm");
  EXPECT_EQ(base_name("x/y/"), "y");
  EXPECT_EQ(directory_of("x/y"), "x");
  EXPECT_EQ(directory_of("y"), ".");
  EXPECT_EQ(directory_of("/y"), "/");
}

}  // namespace
}  // namespace wago::base
