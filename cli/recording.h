// Recording from a command: progress on a terminal, and dying of the signal that interrupted it.
#pragma once

#include <string>

#include "harness/recorder.h"

namespace wago::cli {
class Output;
}

namespace wago::cli::profile {

// As harness::record(), with a line of progress on standard error where that is a terminal.
harness::RecordOutcome record_with_progress(harness::RecordRequest request, const Output& output);

// Reports a failed recording, with the guest's stack where it trapped and the unfinished capture where one is
// left; returns its exit code, or dies of the signal that interrupted it, as a shell
// expects.
int fail_recording(const harness::RecordOutcome& outcome, const std::string& out, Output& output);

}  // namespace wago::cli::profile
