#include "harness/worker_protocol.h"

#include <array>

namespace wago::harness {

namespace {

using base::Json;
using base::JsonReader;
using base::Result;

constexpr const char* kSource = "worker message";
constexpr std::array<std::string_view, 3> kKinds = {"failed", "usage", "unmeasurable"};
constexpr std::array<std::string_view, 3> kDirtiness = {"clean", "dirty", "unknown"};

// Reads a message by `read`, which may ask for all members but the name.
template <class Message, class Read>
Result<Message> read_message(const Json& message, bool strict, Read read) {
  JsonReader reader(message, kSource);
  if (!reader.expect_object()) return *reader.error();
  reader.string("message");
  Message value;
  read(reader, value);
  if (strict) reader.refuse_unknown();
  if (reader.error()) return *reader.error();
  return value;
}

template <class Value>
Json numbers(const std::vector<capture::Turn>& turns, Value value) {
  Json array = Json::array();
  for (const capture::Turn& turn : turns) array.push(value(turn));
  return array;
}

// One number of every turn, into it. All arrays are as long as the first.
template <class Number>
void read_numbers(JsonReader& reader, const char* key, std::vector<capture::Turn>& turns,
                  Number capture::Turn::*member, bool first, uint64_t max) {
  size_t i = 0;
  reader.array(
      key,
      [&](JsonReader& number) {
        if (first) turns.emplace_back();
        if (i < turns.size()) turns[i].*member = static_cast<Number>(number.as_u64(max));
        ++i;
      },
      true, kMaxWorkerTurns);
  if (i != turns.size()) reader.fail("must have as many numbers as start_ns", key);
}

}  // namespace

Json to_json(const HelloRequest& message) {
  return Json::object({{"message", "hello"}, {"oldest", message.oldest}, {"newest", message.newest}});
}

Result<HelloRequest> read_hello_request(const Json& message) {
  return read_message<HelloRequest>(message, false, [](JsonReader& reader, HelloRequest& hello) {
    hello.oldest = reader.u64("oldest");
    hello.newest = reader.u64("newest");
  });
}

Json to_json(const HelloAnswer& message) {
  const WorkerIdentity& worker = message.worker;
  Json backends = Json::array();
  for (const std::string& backend : worker.backends) backends.push(backend);
  return Json::object({{"message", "hello"},
                       {"protocol", message.protocol},
                       {"program_version", worker.program_version},
                       {"revision", worker.revision},
                       {"dirty", base::to_string(worker.dirty)},
                       {"runner_id", worker.runner_id},
                       {"target", worker.target},
                       {"sanitized", worker.sanitized},
                       {"backends", std::move(backends)}});
}

Result<HelloAnswer> read_hello_answer(const Json& message) {
  return read_message<HelloAnswer>(message, false, [](JsonReader& reader, HelloAnswer& hello) {
    hello.protocol = reader.u64("protocol");
    hello.worker.program_version = reader.string("program_version");
    hello.worker.revision = reader.string("revision");
    hello.worker.dirty = static_cast<base::Dirty>(reader.word("dirty", kDirtiness));
    hello.worker.runner_id = reader.string("runner_id");
    hello.worker.target = reader.string("target");
    hello.worker.sanitized = reader.boolean("sanitized");
    reader.array("backends",
                 [&](JsonReader& backend) { hello.worker.backends.push_back(backend.as_string()); });
  });
}

Json to_json(const PlaceRequest& message) {
  return Json::object(
      {{"message", "place"}, {"stack", message.stack}, {"code", message.code}, {"memory", message.memory}});
}

Result<PlaceRequest> read_place_request(const Json& message) {
  return read_message<PlaceRequest>(message, true, [](JsonReader& reader, PlaceRequest& place) {
    // What x86-64 has for processes, and a multiple.
    auto address = [&reader](const char* key, uint64_t multiple) {
      const uint64_t value = reader.u64(key, (uint64_t{1} << 47) - 1);
      if (value == 0 || value % multiple != 0) {
        reader.fail("must be a multiple of " + std::to_string(multiple) + " and not 0", key);
      }
      return value;
    };
    place.stack = address("stack", 16);
    place.code = address("code", 4096);
    place.memory = address("memory", 4096);
  });
}

Json to_json(const LoadRequest& message) {
  return Json::object({{"message", "load"},
                       {"catalog", message.catalog},
                       {"module", message.module},
                       {"code_offset", message.code_offset},
                       {"slowdown_ppm", message.slowdown_ppm}});
}

Result<LoadRequest> read_load_request(const Json& message) {
  return read_message<LoadRequest>(message, true, [](JsonReader& reader, LoadRequest& load) {
    load.catalog = reader.string("catalog");
    load.module = reader.string("module");
    load.code_offset = reader.u32("code_offset");
    if (load.code_offset > 48 || load.code_offset % 16 != 0) {
      reader.fail("must be 0, 16, 32 or 48", "code_offset");
    }
    load.slowdown_ppm = reader.u64("slowdown_ppm", 1'000'000);
  });
}

Json to_json(const LoadAnswer& message) {
  return Json::object({{"message", "loaded"},
                       {"module_sha256", message.module_sha256},
                       {"code_sha256", message.code_sha256},
                       {"contract_sha256", message.contract_sha256},
                       {"calls_per_iteration", message.calls_per_iteration},
                       {"max_iterations_per_turn", message.max_iterations_per_turn}});
}

Result<LoadAnswer> read_load_answer(const Json& message) {
  return read_message<LoadAnswer>(message, true, [](JsonReader& reader, LoadAnswer& loaded) {
    loaded.module_sha256 = reader.string("module_sha256");
    loaded.code_sha256 = reader.string("code_sha256");
    loaded.contract_sha256 = reader.string("contract_sha256");
    loaded.calls_per_iteration = reader.u64("calls_per_iteration");
    loaded.max_iterations_per_turn = reader.u64("max_iterations_per_turn");
    if (loaded.max_iterations_per_turn == 0) reader.fail("must not be 0", "max_iterations_per_turn");
  });
}

Json to_json(const WarmUpRequest& message) {
  return Json::object({{"message", "warm-up"}, {"iterations", message.iterations}});
}

Result<WarmUpRequest> read_warm_up_request(const Json& message) {
  return read_message<WarmUpRequest>(message, true, [](JsonReader& reader, WarmUpRequest& warm_up) {
    warm_up.iterations = reader.u64("iterations");
  });
}

Json to_json(const EstimateRequest& message) {
  return Json::object({{"message", "estimate"}, {"duration_ns", message.duration_ns}});
}

Result<EstimateRequest> read_estimate_request(const Json& message) {
  return read_message<EstimateRequest>(message, true, [](JsonReader& reader, EstimateRequest& estimate) {
    estimate.duration_ns = reader.u64("duration_ns");
  });
}

Json to_json(const EstimateAnswer& message) {
  return Json::object({{"message", "estimated"}, {"iteration_ns", message.iteration_ns}});
}

Result<EstimateAnswer> read_estimate_answer(const Json& message) {
  return read_message<EstimateAnswer>(message, true, [](JsonReader& reader, EstimateAnswer& estimated) {
    estimated.iteration_ns = reader.u64("iteration_ns");
    if (estimated.iteration_ns == 0) reader.fail("must not be 0", "iteration_ns");
  });
}

Json to_json(const AlternateRequest& message) {
  return Json::object({{"message", "alternate"},
                       {"turns", message.turns},
                       {"iterations", message.iterations},
                       {"starts", message.starts}});
}

namespace {

template <class Request>
void read_amount(JsonReader& reader, Request& request) {
  request.turns = reader.u64("turns", kMaxWorkerTurns);
  request.iterations = reader.u64("iterations");
  if (request.turns == 0) reader.fail("must not be 0", "turns");
  if (request.iterations == 0) reader.fail("must not be 0", "iterations");
}

}  // namespace

Result<AlternateRequest> read_alternate_request(const Json& message) {
  return read_message<AlternateRequest>(message, true, [](JsonReader& reader, AlternateRequest& request) {
    read_amount(reader, request);
    request.starts = reader.boolean("starts");
  });
}

Json to_json(const FreeRequest& message) {
  return Json::object({{"message", "free"}, {"turns", message.turns}, {"iterations", message.iterations}});
}

Result<FreeRequest> read_free_request(const Json& message) {
  return read_message<FreeRequest>(
      message, true, [](JsonReader& reader, FreeRequest& request) { read_amount(reader, request); });
}

Json to_json(const SamplesAnswer& message) {
  using capture::Turn;
  const std::vector<Turn>& turns = message.turns;
  return Json::object(
      {{"message", "samples"},
       {"start_ns", numbers(turns, [](const Turn& turn) { return turn.start_ns; })},
       {"wall_ns", numbers(turns, [](const Turn& turn) { return turn.wall_ns; })},
       {"cpu_ns", numbers(turns, [](const Turn& turn) { return turn.cpu_ns; })},
       {"voluntary_switches", numbers(turns, [](const Turn& turn) { return turn.voluntary_switches; })},
       {"involuntary_switches", numbers(turns, [](const Turn& turn) { return turn.involuntary_switches; })}});
}

Result<SamplesAnswer> read_samples_answer(const Json& message) {
  using capture::Turn;
  return read_message<SamplesAnswer>(message, true, [](JsonReader& reader, SamplesAnswer& samples) {
    std::vector<Turn>& turns = samples.turns;
    read_numbers(reader, "start_ns", turns, &Turn::start_ns, true, UINT64_MAX);
    read_numbers(reader, "wall_ns", turns, &Turn::wall_ns, false, UINT64_MAX);
    read_numbers(reader, "cpu_ns", turns, &Turn::cpu_ns, false, UINT64_MAX);
    read_numbers(reader, "voluntary_switches", turns, &Turn::voluntary_switches, false, UINT32_MAX);
    read_numbers(reader, "involuntary_switches", turns, &Turn::involuntary_switches, false, UINT32_MAX);
  });
}

Json to_json(const WorkerError& message) {
  return Json::object({{"message", "error"},
                       {"kind", kKinds.at(static_cast<size_t>(message.error.kind))},
                       {"sentence", message.error.to_string()},
                       {"stored", message.stored},
                       {"partner_lost", message.partner_lost}});
}

Result<WorkerError> read_worker_error(const Json& message) {
  // As lenient as hello, which it may answer.
  return read_message<WorkerError>(message, false, [](JsonReader& reader, WorkerError& error) {
    error.error.kind = static_cast<base::ErrorKind>(reader.word("kind", kKinds));
    error.error.message = reader.string("sentence");
    error.stored = reader.string("stored");
    error.partner_lost = reader.optional_boolean("partner_lost").value_or(false);
  });
}

Json plain_message(std::string_view name) {
  return Json::object({{"message", name}});
}

std::string message_name(const Json& message) {
  const Json* name = message.find("message");
  return name && name->is_string() ? name->as_string() : "";
}

Result<void> read_plain_message(const Json& message) {
  struct Nothing {};
  auto read = read_message<Nothing>(message, true, [](JsonReader&, Nothing&) {});
  return read ? Result<void>() : Result<void>(read.error());
}

}  // namespace wago::harness
