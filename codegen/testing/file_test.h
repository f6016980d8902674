// File tests: input and expected output side by side in one text file, many cases a file.
//
//   == what the case shows
//   <input>
//   --
//   <output>
//
// Text before the first case is a comment.
//
//   TEST(Build, Cases) { run_file_tests("codegen/build/cases", [](const std::string& input) { return ...; });
//   }
//
// With WAGO_REWRITE=1 in the environment a test writes what it got into the file instead of comparing; read
// the difference before you commit it.
#pragma once

#include <functional>
#include <string>

namespace wago::codegen::testing {

using Transform = std::function<std::string(const std::string& input)>;

// Runs all cases of a file, reporting failures to GoogleTest. `path` from the project's root.
void run_file_test(const std::string& path, const Transform& transform);
// The same for all "*.test" files of a folder; that there are none is a failure.
void run_file_tests(const std::string& folder, const Transform& transform);

}  // namespace wago::codegen::testing
