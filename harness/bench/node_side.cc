#include "harness/bench/node_side.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/module.h"

namespace wago::harness::bench {

namespace {

using base::Json;

struct Pipe {
  base::Fd read, write;
};
base::Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return base::failed(std::string("cannot make a pipe: ") + std::strerror(errno));
  return Pipe{base::Fd(ends[0]), base::Fd(ends[1])};
}

// With the type of each value before it.
Json typed(const std::vector<uint64_t>& slots, const std::vector<ValueType>& types) {
  Json list = Json::array();
  for (size_t i = 0; i < slots.size() && i < types.size(); ++i) {
    list.push(Json::array({to_string(types[i]), std::to_string(slots[i])}));
  }
  return list;
}

base::Result<base::Process> spawn_node(const std::string& node, std::vector<std::string> arguments, int in,
                                       int out) {
  auto program = base::find_program(node);
  if (!program) return base::failed("there is no " + node);
  arguments.insert(arguments.begin(), node);
  return base::Process::spawn(
      {.program = *program, .argv = std::move(arguments), .descriptors = {{in, 0}, {out, 1}}});
}

}  // namespace

std::optional<std::string> NodeSide::version(const std::string& node) {
  auto in = make_pipe(), out = make_pipe();
  if (!in || !out) return std::nullopt;
  auto process = spawn_node(node, {"--version"}, in->read.get(), out->write.get());
  if (!process) return std::nullopt;
  out->write.reset();
  std::string text;
  char chunk[64];
  for (ssize_t got; (got = ::read(out->read.get(), chunk, sizeof chunk)) > 0;) {
    text.append(chunk, static_cast<size_t>(got));
  }
  auto ended = process->wait(10'000);
  while (text.ends_with('\n')) text.pop_back();
  if (text.empty() || !ended || !ended->ok()) return std::nullopt;
  return text;
}

base::Result<NodeSide> NodeSide::start(const std::string& node, const std::string& script) {
  auto in = make_pipe(), out = make_pipe();
  if (!in) return in.error();
  if (!out) return out.error();
  // Without its baseline compiler V8 compiles everything with the optimising one, before the first call.
  auto process =
      spawn_node(node, {"--no-liftoff", "--no-wasm-lazy-compilation", "--no-wasm-dynamic-tiering", script},
                 in->read.get(), out->write.get());
  if (!process) return process.error();
  return NodeSide(std::move(*process), std::move(in->write), std::move(out->read));
}

base::Result<Json> NodeSide::ask(const Json& request) {
  std::string line = request.dump() + "\n";
  if (::write(to_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return base::failed("node is gone");
  }
  size_t end;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    char chunk[4096];
    ssize_t got = ::read(from_.get(), chunk, sizeof chunk);
    if (got <= 0) return base::failed("node is gone");
    buffer_.append(chunk, static_cast<size_t>(got));
  }
  auto answer = base::parse_json(std::string_view(buffer_).substr(0, end), "node");
  buffer_.erase(0, end + 1);
  if (!answer) return answer.error();
  if (const Json* error = answer->find("error")) return base::failed("node: " + error->dump());
  return answer;
}

base::Result<void> NodeSide::load(const Subject& subject) {
  const capture::Workload& workload = subject.workload();
  const runtime::Module& module = subject.reference().decoded();
  Json calls = Json::array();
  for (const capture::Call& call : workload.calls) {
    const runtime::Export* exported = module.find_export(call.export_name);
    const FuncType& type = module.type_of_function(exported->index);
    calls.push(Json::object({{"export", call.export_name},
                             {"args", typed(call.args, type.params)},
                             {"want", typed(call.want, type.results)},
                             {"trap", call.want_trap.has_value()}}));
  }
  Json init = workload.init ? Json(*workload.init) : Json();
  auto answer = ask(Json::object({{"load", workload.module_path}, {"init", init}, {"calls", calls}}));
  if (!answer) return answer.error();
  return {};
}

base::Result<double> NodeSide::run(uint64_t iterations) {
  auto answer = ask(Json::object({{"run", iterations}}));
  if (!answer) return answer.error();
  const Json* ns = answer->find("ns");
  if (!ns || !ns->is_number()) return base::failed("node answered nonsense");
  return ns->as_double();
}

}  // namespace wago::harness::bench
