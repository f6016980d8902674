#include "diff/identity.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "diff/executions.h"
#include "diff/locations.h"

namespace wago::diff {

namespace {

using capture::Function;
using capture::Image;
using capture::ImageKind;

using Key = std::pair<std::string, std::string>;  // name, signature
using Group = std::vector<const Function*>;

// The functions of every different module image, in the order of their index. A phase that compiles again and
// again leaves the same image many times.
std::map<Key, Group> functions_of(const capture::Images& images) {
  std::map<Key, Group> groups;
  std::set<std::tuple<std::string, base::Digest>> seen;
  for (const Image& image : images.images) {
    if (image.kind != ImageKind::Module || !seen.insert({image.name, image.sha256}).second) continue;
    for (const Function& function : image.functions)
      groups[{function.name, function.signature}].push_back(&function);
  }
  return groups;
}

// By the signature they serve.
std::map<std::string, std::set<base::Digest>> adapters_of(const capture::Images& images) {
  std::map<std::string, std::set<base::Digest>> adapters;
  for (const Image& image : images.images) {
    if (image.kind == ImageKind::Adapter) adapters[image.name].insert(image.sha256);
  }
  return adapters;
}

bool calls_helpers(const capture::Images& images) {
  for (const Image& image : images.images) {
    for (const Function& function : image.functions) {
      if (function.statistics.helper_calls > 0) return true;
    }
  }
  return false;
}

// What of functions was executed, by name and signature: whether their own machine code, and by whose
// otherwise.
struct Executed {
  bool own = false;
  std::set<std::string> inlined_into;
};
void add_executed(const Evidence& evidence, std::map<Key, Executed>& executed) {
  const Locations locations(evidence);
  for (const FunctionExecutions& of : executions_of(evidence).functions) {
    const Function* function = locations.function(of.image, of.function);
    if (!function) continue;
    Executed& entry = executed[{function->name, function->signature}];
    entry.own |= of.machine_instructions > 0;
    for (const uint32_t holder : of.inlined_into)
      entry.inlined_into.insert(locations.function_name(of.image, holder));
  }
}

void mark_what_ran(const Evidence& baseline, const Evidence& candidate, CodeComparison& result) {
  if (!baseline.counts || !candidate.counts) return;
  result.knows_what_ran = true;
  std::map<Key, Executed> executed;
  add_executed(baseline, executed);
  add_executed(candidate, executed);
  for (FunctionDifference& function : result.differences) {
    const Executed& of = executed[{function.name, function.signature}];
    function.ran = of.own;
    if (!of.own) function.inlined_into.assign(of.inlined_into.begin(), of.inlined_into.end());
  }
}

// Takes out of both groups what is equal; answers how many pairs.
uint64_t take_equal(Group& baseline, Group& candidate) {
  std::map<base::Digest, uint64_t> available;
  for (const Function* function : candidate) ++available[function->sha256];
  std::map<base::Digest, uint64_t> paired;
  uint64_t pairs = 0;
  std::erase_if(baseline, [&](const Function* function) {
    auto entry = available.find(function->sha256);
    if (entry == available.end() || entry->second == 0) return false;
    --entry->second;
    ++paired[function->sha256];
    ++pairs;
    return true;
  });
  std::erase_if(candidate, [&](const Function* function) {
    auto entry = paired.find(function->sha256);
    if (entry == paired.end() || entry->second == 0) return false;
    --entry->second;
    return true;
  });
  return pairs;
}

FunctionDifference difference(const Key& key, const Function* baseline, const Function* candidate) {
  FunctionDifference result;
  result.fate = !baseline ? FunctionFate::New : !candidate ? FunctionFate::Vanished : FunctionFate::Changed;
  result.name = key.first;
  result.signature = key.second;
  if (baseline) {
    result.baseline_bytes = baseline->size;
    result.baseline_instructions = baseline->statistics.machine_instructions;
  }
  if (candidate) {
    result.candidate_bytes = candidate->size;
    result.candidate_instructions = candidate->statistics.machine_instructions;
  }
  return result;
}

void compare_functions(const capture::Images& baseline, const capture::Images& candidate,
                       CodeComparison& result) {
  auto left = functions_of(baseline);
  auto right = functions_of(candidate);
  for (const auto& entry : right) left[entry.first];  // so that one walk sees every name
  for (auto& [key, before] : left) {
    Group& after = right[key];
    result.functions_same += take_equal(before, after);
    for (size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
      result.differences.push_back(
          difference(key, i < before.size() ? before[i] : nullptr, i < after.size() ? after[i] : nullptr));
    }
  }
  std::stable_sort(result.differences.begin(), result.differences.end(),
                   [](const auto& a, const auto& b) { return a.fate < b.fate; });
}

}  // namespace

const char* to_string(FunctionFate fate) {
  switch (fate) {
    case FunctionFate::Changed:
      return "changed";
    case FunctionFate::New:
      return "new";
    case FunctionFate::Vanished:
      return "vanished";
  }
  WAGO_UNREACHABLE("function fate");
}

std::string not_run_text(const std::vector<std::string>& inlined_into) {
  constexpr size_t kNamed = 4;
  if (inlined_into.empty()) return "did not run";
  std::string text = "its own code did not run: inlined into ";
  for (size_t i = 0; i < std::min(inlined_into.size(), kNamed); ++i)
    text += (i == 0 ? "" : ", ") + base::function_label(inlined_into[i]);
  return inlined_into.size() <= kNamed
             ? text
             : text + " and " + std::to_string(inlined_into.size() - kNamed) + " more";
}

const char* to_string(HelperIdentity helpers) {
  switch (helpers) {
    case HelperIdentity::Equal:
      return "equal";
    case HelperIdentity::NotCalled:
      return "not called";
    case HelperIdentity::Unknown:
      return "unknown";
  }
  WAGO_UNREACHABLE("helper identity");
}

uint64_t CodeComparison::count(FunctionFate fate) const {
  return static_cast<uint64_t>(std::count_if(differences.begin(), differences.end(),
                                             [&](const auto& entry) { return entry.fate == fate; }));
}

bool CodeComparison::all_that_ran_same() const {
  return std::none_of(differences.begin(), differences.end(), [](const auto& entry) { return entry.ran; });
}

bool CodeComparison::same() const {
  return modules_equal && all_that_ran_same() && adapters_different == 0 &&
         helpers != HelperIdentity::Unknown;
}

CodeComparison compare_code(const Evidence& baseline, const Evidence& candidate) {
  CodeComparison result;
  result.modules_equal = baseline.manifest.module_sha256 == candidate.manifest.module_sha256;
  compare_functions(baseline.images, candidate.images, result);
  mark_what_ran(baseline, candidate, result);
  auto left = adapters_of(baseline.images);
  auto right = adapters_of(candidate.images);
  for (const auto& [signature, code] : left) {
    auto other = right.find(signature);
    bool same = other != right.end() && other->second == code;
    same ? ++result.adapters_same : ++result.adapters_different;
  }
  for (const auto& [signature, code] : right) {
    if (!left.contains(signature)) ++result.adapters_different;
  }
  bool same_program =
      !baseline.manifest.runner_id.empty() && baseline.manifest.runner_id == candidate.manifest.runner_id;
  bool helpers_called = calls_helpers(baseline.images) || calls_helpers(candidate.images);
  result.helpers = same_program      ? HelperIdentity::Equal
                   : !helpers_called ? HelperIdentity::NotCalled
                                     : HelperIdentity::Unknown;
  return result;
}

}  // namespace wago::diff
