#include "harness/program_copy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "base/testing/scratch_folder.h"

namespace wago::harness {
namespace {

class ProgramCopyTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.file(name); }

  std::string refusal(const std::string& program) const {
    const auto copy = copy_program(program);
    EXPECT_FALSE(copy) << program;
    return copy ? "" : copy.error().message;
  }

  const base::testing::ScratchFolder scratch_;
};

TEST_F(ProgramCopyTest, HasWhatItTakesToRun) {
  const auto copy = copy_program("/bin/sh");
  ASSERT_TRUE(copy) << copy.error().message;
  const auto original = base::system_files().read("/bin/sh", 1 << 24);
  const auto copied = base::system_files().read("/proc/self/fd/" + std::to_string(copy->get()), 1 << 24);
  ASSERT_TRUE(original && copied);
  // Without its last bytes, which are not loaded, but for those of a program that is known by its bytes.
  ASSERT_LT(copied->size(), original->size());
  EXPECT_TRUE(std::equal(copied->begin(), copied->end(), original->begin()));
  std::string nameless(base::as_text(*original));
  const size_t note = nameless.find(std::string("\x14\0\0\0\x03\0\0\0GNU", 11));
  ASSERT_NE(note, std::string::npos);
  nameless[note + 4] = 77;
  ASSERT_TRUE(base::system_files().create(path("nameless"), base::as_bytes(nameless)));
  ASSERT_EQ(::chmod(path("nameless").c_str(), 0700), 0);
  const auto whole = copy_program(path("nameless"));
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(std::filesystem::file_size("/proc/self/fd/" + std::to_string(whole->get())), nameless.size());

  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::Fd said(ends[0]);
  base::Fd says(ends[1]);
  auto process = base::Process::spawn({.program = "/bin/sh",
                                       .argv = {"named", "-c", "readlink /proc/$$/exe; echo $0"},
                                       .descriptors = {{says.get(), 1}},
                                       .program_fd = copy->get()});
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_TRUE(process->wait(-1)->ok());
  std::array<char, 256> words;
  const ssize_t got = ::read(said.get(), words.data(), words.size());
  ASSERT_GT(got, 0);
  EXPECT_EQ(std::string(words.data(), static_cast<size_t>(got)), "/memfd:sh (deleted)\nnamed\n");
}

TEST_F(ProgramCopyTest, OfWhatMayNotBeRunThereIsNone) {
  EXPECT_EQ(refusal(path("nowhere")), "No such file or directory");
  std::filesystem::copy_file("/bin/sh", path("program"));
  ASSERT_EQ(::chmod(path("program").c_str(), 0600), 0);
  EXPECT_EQ(refusal(path("program")), "Permission denied");
}

TEST_F(ProgramCopyTest, OfWhatIsNoElfFileThereIsNone) {
  for (const char* text : {"", "#!", "#!/bin/sh\necho\n"}) {
    std::ofstream(path("script")) << text;
    ASSERT_EQ(::chmod(path("script").c_str(), 0700), 0);
    EXPECT_EQ(refusal(path("script")), "it is no ELF file");
  }
  EXPECT_EQ(refusal(scratch_.path()), "it is no ELF file");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0700), 0);
  EXPECT_EQ(refusal(path("pipe")), "it is no ELF file") << "and nobody writes into it";
}

TEST_F(ProgramCopyTest, ALongNameIsNoObstacle) {
  const std::string name = path(std::string(255, 'n'));
  std::filesystem::create_symlink("/bin/sh", name);
  EXPECT_TRUE(copy_program(name));
}

}  // namespace
}  // namespace wago::harness
