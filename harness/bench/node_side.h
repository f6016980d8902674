// A node process that runs workloads on request; see node_side.mjs for what is said.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "harness/subject.h"

namespace wago::harness::bench {

class NodeSide {
 public:
  // `node` is a path or a name on PATH. Flags make V8 compile with its optimising tier at once.
  static base::Result<NodeSide> start(const std::string& node, const std::string& script);
  // "v20.1.0", or nothing: there is no node.
  static std::optional<std::string> version(const std::string& node);

  base::Result<void> load(const Subject& subject);
  // CPU nanoseconds of `iterations`, to the microsecond.
  base::Result<double> run(uint64_t iterations);

 private:
  NodeSide(base::Process process, base::Fd to, base::Fd from)
      : process_(std::move(process)), to_(std::move(to)), from_(std::move(from)) {}
  base::Result<base::Json> ask(const base::Json& request);

  base::Process process_;
  base::Fd to_, from_;
  std::string buffer_;
};

}  // namespace wago::harness::bench
