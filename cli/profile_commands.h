// The commands that only the profiling program has: `profile record`, `profile top`, ...
#pragma once

namespace wago::cli {
class Command;
}

namespace wago::cli::profile {

void add_record(Command& profile);
void add_top(Command& profile);
void add_annotate(Command& profile);
void add_timeline(Command& profile);
void add_flamegraph(Command& profile);
void add_export(Command& profile);
void add_diff(Command& profile);
void add_report(Command& profile);
void add_history(Command& profile);
void add_experiment(Command& profile);
void add_explain(Command& profile);
void add_worker(Command& profile);
void add_test(Command& profile);
void add_test_comparison(Command& profile);
void add_test_report(Command& profile);

}  // namespace wago::cli::profile
