// `wago run`: everything that can be refused is refused before anything of the guest runs.
#include <memory>

#include <wago/wago.h>
#include "base/duration.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/flags.h"
#include "cli/module_file.h"
#include "cli/output.h"
#include "cli/values.h"
#include "runtime/exported_functions.h"
#include "runtime/module.h"
#include "runtime/provided_imports.h"

namespace wago::cli {

namespace {

struct RunOptions {
  std::string file;
  std::vector<std::string> arguments;
  std::optional<std::string> invoke;
  std::optional<std::string> timeout;
  std::optional<std::string> profile;
  bool remove_map = false;
  bool json = false;
  EngineFlags engine;
};

// The export to call: the one named, else _start, else main, else the only function.
base::Result<std::string> choose(const runtime::Module& module, const std::optional<std::string>& name) {
  if (name) {
    auto type = runtime::exported_function(module, *name);
    return type ? base::Result(*name) : type.error();
  }
  for (const char* usual : {"_start", "main"}) {
    if (runtime::exported_function(module, usual)) return std::string(usual);
  }
  const runtime::Export* only = nullptr;
  for (const runtime::Export& item : module.exports) {
    if (item.kind != ExternKind::Function) continue;
    if (only)
      return base::usage_error("name an export with --invoke; " + runtime::list_exported_functions(module));
    only = &item;
  }
  if (!only) return base::usage_error("nothing to run: " + runtime::list_exported_functions(module));
  return only->name;
}

// Once, where a name would have helped: a frame that could only be numbered.
void hint_at_names(const Trap& trap, const Module& module, Output& output) {
  if (module.decoded().has_function_names()) return;
  for (const Frame& frame : trap.frames) {
    if (frame.host || frame.name != "func[" + std::to_string(frame.function) + "]") continue;
    output.note(std::string("the module has no function names; ") + base::kKeepFunctionNames);
    return;
  }
}

void print_results(const FuncType& type, std::span<const Slot> slots, bool json, Output& output) {
  auto texts = format_results(type, slots);
  if (!json) {
    for (const std::string& text : texts) output.print(text + "\n");
    return;
  }
  base::Json results = base::Json::array();
  for (size_t i = 0; i < texts.size(); ++i) {
    results.push(base::Json::object({{"type", to_string(type.results[i])}, {"value", texts[i]}}));
  }
  output.print(base::Json::object({{"results", std::move(results)}}).dump() + "\n");
}

// What became of the guest: one of the first two, or neither.
struct Ended {
  std::optional<base::Error> refused;
  std::optional<Trap> trap;
  std::vector<Slot> results;
};

// All that runs of the module: its start function, and the export.
Ended run_guest(const Linker& linker, const Module& module, const std::string& name,
                std::span<const Slot> arguments) {
  auto instance = linker.instantiate(module);
  if (!instance) {
    const InstantiateFailure& failure = instance.failure();
    if (failure.trap) return {.trap = failure.trap};
    return {.refused = failure.error};
  }
  auto function = instance.value().function(name);
  if (!function) return {.refused = function.error()};
  Ended ended;
  ended.results.resize(slots_of(function->type().results));
  if (CallResult outcome = function->call(arguments, ended.results); !outcome) ended.trap = outcome.trap();
  return ended;
}

int report(const Ended& ended, const Module& module, const FuncType& type, const RunOptions& options,
           Output& output) {
  if (ended.refused) return output.fail(in_file(*ended.refused, options.file));
  if (ended.trap) {
    const int code = output.trap(*ended.trap);
    hint_at_names(*ended.trap, module, output);
    return code;
  }
  print_results(type, ended.results, options.json, output);
  return kExitDone;
}

int run(const RunOptions& options, StartRunProfile start_profile, Output& output) {
  auto refuse = [&](base::Error error) { return output.fail(in_file(std::move(error), options.file)); };
  auto settings = options.engine.settings();
  if (!settings) return output.fail(settings.error());
  InterruptHandle interrupts;
  if (options.timeout) {
    auto timeout_ns = base::parse_duration_ns(*options.timeout);
    if (!timeout_ns) return output.fail(base::usage_error("--timeout: " + timeout_ns.error().message));
    // A loop that never calls would outlast any limit otherwise.
    settings->interruptible = true;
    auto kept = interrupts.set_deadline(std::chrono::nanoseconds(*timeout_ns));
    if (!kept) return output.fail(kept.error());
  }
  auto bytes = read_module(options.file);
  if (!bytes) return output.fail(bytes.error());
  std::unique_ptr<RunProfile> profile;
  if (options.profile) {
    auto started = start_profile({*options.profile, options.file, options.remove_map}, *settings);
    if (!started) return output.fail(started.error());
    profile = *std::move(started);
  }
  auto engine = Engine::open(*settings);
  if (!engine) return output.fail(engine.error());
  auto module = engine->compile(std::move(*bytes));
  if (!module) return refuse(module.error());
  auto chosen = choose(module->decoded(), options.invoke);
  if (!chosen) return refuse(chosen.error());
  const FuncType& type = **runtime::exported_function(module->decoded(), *chosen);
  auto arguments = parse_arguments(base::display(*chosen), type, options.arguments);
  if (!arguments) return refuse(arguments.error());
  Linker linker(*engine);
  if (options.timeout) linker.set_interrupt_handle(interrupts);
  if (auto defined = runtime::define_provided(linker, *module); !defined) return refuse(defined.error());
  Ended ended;
  auto guest = [&] { ended = run_guest(linker, *module, *chosen, *arguments); };
  if (!profile) {
    guest();
    return report(ended, *module, type, options, output);
  }
  if (auto sampled = profile->run(guest); !sampled) return output.fail(sampled.error());
  const int code = report(ended, *module, type, options, output);
  if (auto finished = profile->finish(output); !finished) return output.fail(finished.error());
  return code;
}

}  // namespace

void add_run(Command& program, Edition edition) {
  auto options = std::make_shared<RunOptions>();
  Command& command =
      program.add_command("run", "Call an exported function and print its results, one a line");
  command.add_operand("FILE", "A WebAssembly module in binary form", &options->file);
  command.add_rest("ARG", "Arguments, typed by the function's signature", &options->arguments);
  command.add_option("--invoke", "NAME", "The export to call (default _start, main, or the only one)",
                     &options->invoke);
  command.add_option("--timeout", "D", "Stop the guest after so long; implies --interruptible",
                     &options->timeout);
  command.add_flag("--json", "Results and errors as JSON", &options->json);
  command.add_option("--profile", "KIND[,FILE[,INTERVAL]]",
                     "perfmap or jitdump, for a collector started outside, or guest, which samples the run "
                     "(wago-profile only)",
                     &options->profile);
  command.add_flag("--remove-map", "Delete the file of --profile perfmap at the end", &options->remove_map);
  options->engine.add_to(command);
  command.set_footer(
      "Integers are decimal, 0x, 0o or 0b; floats decimal or hexadecimal, inf, nan or nan:0x200000.\n"
      "7:i64 reads 7 as an i64 and passes its bits; -- ends the flags.");
  command.set_action([options, edition](Output& output) {
    if (options->profile && !edition.start_run_profile) {
      return output.fail(base::usage_error(
          "run --profile needs the profiling program; scripts/build-profiler.sh OUT --cli builds it"));
    }
    if (options->remove_map && !options->profile) {
      return output.fail(base::usage_error("--remove-map is for --profile perfmap"));
    }
    return run(*options, edition.start_run_profile, output);
  });
}

}  // namespace wago::cli
