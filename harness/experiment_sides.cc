#include "harness/experiment_sides.h"

#include <sched.h>

#include <variant>

#include "base/files.h"
#include "base/text.h"
#include "harness/machine.h"

namespace wago::harness {

using base::Error;
using base::Result;
using capture::ExperimentSide;
using capture::index_of;

namespace {

std::string shown(const std::string& text) {
  return text.empty() ? "none" : base::printable(text);
}

}  // namespace

std::string name_of(ExperimentSide side) {
  return "the " + std::string(capture::spelling(side));
}

Result<std::vector<uint32_t>> allowed_cpus(const std::optional<uint32_t>& wanted) {
  if (wanted) return std::vector<uint32_t>{*wanted};
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<uint32_t> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) return base::unmeasurable("no CPU is known that the processes could be bound to");
  return cpus;
}

capture::Workload workload_of(const capture::Workload& declared, const SideRequest& side) {
  capture::Workload workload = declared;
  workload.backend = base::Backend::None;
  if (!side.modules.empty()) {
    workload.module_path = base::join_path(side.modules, base::base_name(declared.module_path));
    workload.module_sha256.reset();  // it is meant to be another
  }
  if (side.setting.bounds) workload.engine.bounds = *side.setting.bounds;
  if (side.setting.level) workload.engine.level = *side.setting.level;
  if (side.setting.interruptible) workload.engine.interruptible = *side.setting.interruptible;
  return workload;
}

Result<HelloAnswer> greet(PairRunner& runner, const SideRequest& side, ExperimentSide which, uint32_t cpu) {
  auto greeted = runner.greet(side.program, cpu);
  if (auto* error = std::get_if<Error>(&greeted)) {
    if (error->kind == base::ErrorKind::Usage) error->message = name_of(which) + ": " + error->message;
    return *error;
  }
  if (auto* failure = std::get_if<SideFailure>(&greeted)) {
    return base::usage_error(
        name_of(which) + " does not speak the worker protocol: " + failure->error.message,
        {.file = side.program});
  }
  HelloAnswer& hello = std::get<HelloAnswer>(greeted);
  if (hello.worker.sanitized) {
    return base::unmeasurable(name_of(which) + " is a sanitized build, whose time says nothing",
                              {.file = side.program});
  }
  if (hello.worker.target != machine().target) {
    return base::usage_error(name_of(which) + " is for " + base::printable(hello.worker.target) +
                                 ", and this machine is " + machine().target,
                             {.file = side.program});
  }
  return std::move(hello);
}

capture::SideRecord record_of(const SideRequest& side, const HelloAnswer& hello) {
  return {.program = base::printable(base::base_name(side.program)),
          .program_version = hello.worker.program_version,
          .revision = hello.worker.revision,
          .dirty = hello.worker.dirty,
          .runner_id = hello.worker.runner_id,
          .protocol = hello.protocol,
          .setting = side.setting.text,
          .sanitized = hello.worker.sanitized,
          .slowdown_ppm = side.slowdown_ppm};
}

std::string in_place_remark(const SideRequest& side, ExperimentSide which, const std::string& why) {
  return name_of(which) + "'s program " + base::printable(base::base_name(side.program)) +
         " cannot be run from a copy in memory (" + why +
         "), so both sides' programs are run where they are: their pages lie at the same places in all "
         "pairs, and workloads that spend their time in the program itself may differ by several percent for "
         "no other reason";
}

std::string not_placed_remark(ExperimentSide which, uint64_t protocol) {
  return name_of(which) + " speaks version " + std::to_string(protocol) +
         " of the worker protocol and cannot be told where to have its code and stack, so neither side is: "
         "their addresses differ, and some workloads need several times as many pairs for it";
}

void Differences::look(const std::string& what, const std::string& recorded, const std::string& now) {
  if (recorded != now) found_.push_back(what + " was " + shown(recorded) + " and is " + shown(now));
}

void Differences::look(const std::string& what, uint64_t recorded, uint64_t now) {
  look(what, std::to_string(recorded), std::to_string(now));
}

void Differences::look(const capture::SideRecord& recorded, const capture::SideRecord& now,
                       ExperimentSide side) {
  const std::string whose = name_of(side) + "'s ";
  look(whose + "program", recorded.runner_id, now.runner_id);
  look(whose + "revision", recorded.revision, now.revision);
  look(whose + "setting", recorded.setting, now.setting);
  look(whose + "injected slowdown in ppm", recorded.slowdown_ppm, now.slowdown_ppm);
  look(whose + "worker protocol", recorded.protocol, now.protocol);
}

void Differences::look(const capture::ExperimentWorkload& recorded, const capture::ExperimentWorkload& now) {
  look("the contract of " + now.id, recorded.contract_sha256, now.contract_sha256);
  for (ExperimentSide side : capture::kExperimentSides) {
    const std::string whose = name_of(side) + "'s ";
    const size_t i = index_of(side);
    look(whose + "module of " + now.id, recorded.module_sha256[i], now.module_sha256[i]);
    look(whose + "code of " + now.id, recorded.code_sha256[i], now.code_sha256[i]);
  }
}

std::optional<Error> Differences::error(const std::string& path, std::string_view refusal,
                                        std::string_view cure) const {
  if (found_.empty()) return std::nullopt;
  std::vector<std::string_view> words(found_.begin(), found_.end());
  return base::usage_error(std::string(refusal) + ": " + base::join_some(words) + "; " + std::string(cure),
                           {.file = path});
}

}  // namespace wago::harness
