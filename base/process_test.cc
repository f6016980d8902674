#include "base/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "base/clock.h"

namespace wago::base {
namespace {

SpawnOptions shell(std::string script) {
  return {.program = "/bin/sh", .argv = {"sh", "-c", std::move(script)}, .descriptors = {}};
}

std::string read_all(int fd) {
  std::string text;
  char buffer[256];
  ssize_t got;
  while ((got = ::read(fd, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<size_t>(got));
  return text;
}

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
  Fd read, write;
};

TEST(Process, TellsHowItEnded) {
  EXPECT_EQ(to_string(*Process::spawn(shell("exit 3"))->wait(-1)), "exited with code 3");
  EXPECT_TRUE(Process::spawn(shell("true"))->wait(-1)->ok());
  EXPECT_EQ(to_string(*Process::spawn(shell("kill -9 $$"))->wait(-1)), "died of signal 9 (SIGKILL)");
}

TEST(Process, AProgramThatIsNotThereIsAnErrorNotAChild) {
  auto process = Process::spawn({.program = "/nowhere/x", .argv = {"x"}, .descriptors = {}});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().message, "cannot run /nowhere/x: No such file or directory");
}

TEST(Process, AFileIsRunInPlaceOfTheProgramThatIsNamed) {
  Pipe pipe;
  const Fd file(::open("/bin/sh", O_RDONLY | O_CLOEXEC));
  SpawnOptions options = shell("echo $0 >&" + std::to_string(file.get()));
  options.program = "/nowhere/x";
  options.program_fd = file.get();
  // The child's descriptor of that number is another one.
  options.descriptors = {{pipe.write.get(), file.get()}};
  auto process = Process::spawn(options);
  ASSERT_TRUE(process) << process.error().message;
  pipe.write.reset();
  EXPECT_EQ(read_all(pipe.read.get()), "sh\n");

  const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  options.program_fd = nothing.get();
  options.descriptors = {};
  EXPECT_EQ(Process::spawn(options).error().message, "cannot run /nowhere/x: Permission denied");
}

TEST(Process, OnlyNamedDescriptorsAreInherited) {
  Pipe pipe;
  // Not close-on-exec, and below the named one.
  int leaked = ::open("/dev/null", O_RDONLY);
  int copy = ::fcntl(leaked, F_DUPFD, 6);
  SpawnOptions options = shell("ls /proc/self/fd | tr '\\n' ' ' >&9");
  options.descriptors = {{pipe.write.get(), 9}};
  auto process = Process::spawn(options);
  ASSERT_TRUE(process);
  pipe.write.reset();
  // 3 is the directory ls itself reads.
  EXPECT_EQ(read_all(pipe.read.get()), "0 1 2 3 9 ");
  ::close(leaked);
  ::close(copy);
}

TEST(Process, KillingTheGroupReachesGrandchildren) {
  Pipe pipe;
  SpawnOptions options = shell("sleep 1000 & echo started >&5; wait");
  options.descriptors = {{pipe.write.get(), 5}};
  auto process = Process::spawn(options);
  pipe.write.reset();
  char buffer[8];
  ASSERT_EQ(::read(pipe.read.get(), buffer, 8), 8);
  EXPECT_FALSE(process->wait(0));
  process->kill_group();
  EXPECT_EQ(process->wait(-1)->signal, SIGKILL);
  EXPECT_EQ(read_all(pipe.read.get()), "") << "the grandchild holds the pipe no longer";
}

TEST(Process, ProgramsAreFoundAsAShellFindsThem) {
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  auto found = find_program("sh");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->substr(found->size() - 3), "/sh");
  EXPECT_EQ(find_program("no-such-program"), std::nullopt);
  EXPECT_EQ(find_program("/nowhere/sh"), std::nullopt);
}

TEST(Process, StandardOutputCanBeNamedToo) {
  Pipe pipe;
  SpawnOptions options = shell("echo out");
  options.descriptors = {{pipe.write.get(), 1}};
  auto process = Process::spawn(options);
  pipe.write.reset();
  EXPECT_EQ(read_all(pipe.read.get()), "out\n");
}

TEST(Process, WaitingIsBounded) {
  auto process = Process::spawn(shell("sleep 1000"));
  uint64_t before = monotonic_ns();
  EXPECT_FALSE(process->wait(30));
  EXPECT_LT(monotonic_ns() - before, 5'000'000'000u);
}

TEST(Process, DiesWithTheThreadThatStartedIt) {
  Pipe pipe;
  std::optional<Process> process;
  std::thread starter([&] {
    SpawnOptions options = shell("sleep 1000");
    options.descriptors = {{pipe.write.get(), 5}};
    auto spawned = Process::spawn(options);
    if (spawned) process.emplace(std::move(*spawned));
  });
  starter.join();
  pipe.write.reset();
  ASSERT_TRUE(process);
  EXPECT_EQ(process->wait(10'000)->signal, SIGKILL);
}

TEST(Process, ResidentMemoryIsSeen) {
  auto process = Process::spawn(shell("sleep 1000"));
  // Just after exec little is mapped in yet.
  for (int i = 0; i < 1000 && process->resident_bytes() < 100'000; ++i) process->wait(5);
  EXPECT_GT(process->resident_bytes(), 100'000u);
  EXPECT_GT(memory_bytes(), process->resident_bytes());
}

}  // namespace
}  // namespace wago::base
