// Records a workload whose module imports a function of this program's, which calls the guest in turn, with a
// timeline of all that. Run as: profile_workload guest.wasm OUT, where OUT is the capture to make.
#include <wago/profile.h>

#include <cstdio>

namespace {

int fail(const std::string& sentence) {
  std::fprintf(stderr, "%s\n", sentence.c_str());
  return 1;
}

// What the guest logs is not shown, since it is measured; it is summed up, by the guest.
wago::Result<void> log(const wago::Caller& caller, uint32_t address, uint32_t size) {
  auto sum = caller.instance()->function("sum").value().typed<int64_t(uint32_t, uint32_t)>();
  if (!sum) return sum.error();
  auto outcome = (*sum)(address, size / 4);
  if (!outcome) return wago::base::failed("sum trapped: " + outcome.trap().message);
  return {};
}

wago::Result<void> define_host(wago::Linker& linker, const wago::profile::Workload&) {
  return linker.define_host("host", "log", log);
}

}  // namespace

int main(int argc, char** argv) {
  // A recording runs in a child, which is this program again.
  if (auto code = wago::profile::run_child(argc, argv, define_host)) return *code;
  if (argc != 3) return fail("usage: profile_workload guest.wasm OUT");

  wago::profile::Call greet;
  greet.export_name = "greet";  // without arguments and results; whether it traps is checked all the same
  wago::profile::Request request;
  request.workload.id = "greet";
  request.workload.module_path = argv[1];
  request.workload.calls = {greet};
  request.workload.iterations = 1000;
  request.settings.timeline = true;
  request.out = argv[2];
  wago::profile::Outcome outcome = wago::profile::record(request);
  if (outcome.error) return fail(outcome.error->to_string());
  std::printf("%llu iterations in %s\n",
              static_cast<unsigned long long>(outcome.manifest.completed_iterations), argv[2]);
}
