#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace wago::base {
namespace {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "wago_files_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

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
  EXPECT_FALSE(files.remove(b));
}

TEST(Files, TheMachinesAndTheInMemoryTwinAgree) {
  TemporaryDirectory directory;
  exercise(system_files(), directory.path());
  MemoryFiles memory;
  ASSERT_TRUE(memory.create_directory("root"));
  exercise(memory, "root");
}

TEST(Files, EverythingWrittenIsPrivateToItsOwner) {
  TemporaryDirectory directory;
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
  TemporaryDirectory directory;
  std::string victim = join_path(directory.path(), "victim"), target = join_path(directory.path(), "m");
  ASSERT_TRUE(system_files().create(victim, as_bytes("precious")));
  ASSERT_EQ(::symlink(victim.c_str(), (target + ".part").c_str()), 0);
  EXPECT_FALSE(system_files().publish(target, as_bytes("x")));
  EXPECT_EQ(text_of(system_files(), victim), "precious");
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
