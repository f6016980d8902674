#include "capture/history_store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/json.h"
#include "base/sha256.h"
#include "capture/schema.h"

namespace wago::capture {

namespace {

using base::Result;

// What makes a file of one version into one of the next. A new file is of version 0.
constexpr std::array kSteps = {
    R"(CREATE TABLE experiment(id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
start_unix_ns INTEGER NOT NULL, baseline TEXT NOT NULL, baseline_revision TEXT NOT NULL,
baseline_program TEXT NOT NULL, baseline_runner_id TEXT NOT NULL, candidate TEXT NOT NULL,
candidate_revision TEXT NOT NULL, candidate_program TEXT NOT NULL, candidate_runner_id TEXT NOT NULL,
target TEXT NOT NULL, cpu_model TEXT NOT NULL, os_version TEXT NOT NULL, logical_cpus INTEGER NOT NULL,
confidence REAL NOT NULL, floor REAL NOT NULL, margin REAL NOT NULL, content_sha256 TEXT NOT NULL) STRICT;
CREATE TABLE result(experiment INTEGER NOT NULL REFERENCES experiment(id) ON DELETE CASCADE,
position INTEGER NOT NULL, catalog TEXT NOT NULL, workload TEXT NOT NULL, labels TEXT NOT NULL,
contract_sha256 TEXT NOT NULL, control INTEGER NOT NULL, finding TEXT NOT NULL, gated INTEGER NOT NULL,
pairs INTEGER NOT NULL, cold_pairs INTEGER NOT NULL, log_ratio REAL NOT NULL, log_low REAL, log_high REAL,
log_error REAL, p_value REAL NOT NULL, holm REAL NOT NULL, layout_sensitive INTEGER NOT NULL,
same_code INTEGER, baseline_instructions REAL, candidate_instructions REAL,
PRIMARY KEY(experiment, position)) STRICT, WITHOUT ROWID;)",
};
static_assert(kSteps.size() == kHistoryVersion);

// The tables of the newest version, as SQLite keeps their text.
constexpr const char* kTables = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name";

constexpr const char* kInsertExperiment =
    "INSERT INTO experiment VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr const char* kInsertResult = "INSERT INTO result VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

constexpr off_t kSmallestPage = 512;  // of SQLite

// What is written, read and hashed of an experiment, and of a result, in the order of the columns.
template <class Visitor, class Of>
void visit_experiment(Visitor& visit, Of& experiment) {
  visit(experiment.identity);
  visit(experiment.name);
  visit(experiment.start_unix_ns);
  for (auto& side : experiment.sides) {
    visit(side.version);
    visit(side.revision);
    visit(side.program);
    visit(side.runner_id);
  }
  visit(experiment.target);
  visit(experiment.cpu_model);
  visit(experiment.os_version);
  visit(experiment.logical_cpus);
  visit(experiment.confidence);
  visit(experiment.floor);
  visit(experiment.margin);
}

template <class Visitor, class Of>
void visit_result(Visitor& visit, Of& result) {
  visit(result.catalog);
  visit(result.workload);
  visit(result.labels);
  visit(result.contract_sha256);
  visit(result.control);
  visit(result.finding);
  visit(result.gated);
  visit(result.pairs);
  visit(result.cold_pairs);
  visit(result.log_ratio);
  visit(result.log_low);
  visit(result.log_high);
  visit(result.log_error);
  visit(result.p_value);
  visit(result.holm);
  visit(result.layout_sensitive);
  visit(result.same_code);
  visit(result.baseline_instructions);
  visit(result.candidate_instructions);
}

std::string labels_text(const std::vector<std::string>& labels) {
  return base::Json::array(std::vector<base::Json>(labels.begin(), labels.end())).dump();
}

class Hasher {
 public:
  void operator()(const std::string& text) { hash_.update_field(text); }
  void operator()(uint64_t number) { hash_.update_u64(number); }
  void operator()(bool is) { hash_.update_u64(is ? 1 : 0); }
  void operator()(double number) { hash_.update_u64(std::bit_cast<uint64_t>(number)); }
  void operator()(const std::vector<std::string>& labels) { (*this)(labels_text(labels)); }
  template <class T>
  void operator()(const std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  std::string finish() { return base::to_hex(hash_.finish()); }

 private:
  base::Sha256 hash_;
};

std::string content_sha256(const HistoryExperiment& experiment) {
  Hasher hasher;
  visit_experiment(hasher, experiment);
  hasher(uint64_t{experiment.results.size()});
  for (const HistoryResult& result : experiment.results) visit_result(hasher, result);
  return hasher.finish();
}

// One statement. Steps and errors are its database's, which looks at `code` when all is done.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql) {
    code_ = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // The next parameter. An index or memory that is not there makes the step fail.
  void operator()(const std::string& text) {
    bound(sqlite3_bind_text64(statement_, ++at_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  void operator()(uint64_t number) {
    bound(sqlite3_bind_int64(statement_, ++at_, static_cast<int64_t>(number)));
  }
  void operator()(bool is) { bound(sqlite3_bind_int(statement_, ++at_, is ? 1 : 0)); }
  void operator()(double number) { bound(sqlite3_bind_double(statement_, ++at_, number)); }
  void operator()(const std::vector<std::string>& labels) { (*this)(labels_text(labels)); }
  template <class T>
  void operator()(const std::optional<T>& value) {
    if (value) return (*this)(*value);
    bound(sqlite3_bind_null(statement_, ++at_));
  }

  // Whether there is a row. After the last one the statement may be bound anew.
  bool step() {
    if (code_ == SQLITE_OK || code_ == SQLITE_ROW) code_ = sqlite3_step(statement_);
    if (code_ == SQLITE_ROW) return true;
    if (code_ == SQLITE_DONE) code_ = sqlite3_reset(statement_);
    at_ = 0;
    return false;
  }
  int code() const { return code_ == SQLITE_ROW ? SQLITE_OK : code_; }

  uint64_t number(int column) const {
    return static_cast<uint64_t>(sqlite3_column_int64(statement_, column));
  }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string text(int column) const {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    if (!data) return {};
    return std::string(data, static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
  }

 private:
  void bound(int code) {
    if (code_ == SQLITE_OK) code_ = code;
  }
  sqlite3_stmt* statement_ = nullptr;
  int code_ = SQLITE_OK;
  int at_ = 0;
};

// Reads a row, column by column.
class RowReader {
 public:
  RowReader(const Statement& row, int first) : row_(row), column_(first) {}
  void operator()(std::string& text) { text = row_.text(column_++); }
  void operator()(uint64_t& number) { number = row_.number(column_++); }
  void operator()(bool& is) { is = row_.number(column_++) != 0; }
  void operator()(double& number) { number = row_.real(column_++); }
  // What is not a list of labels gives other labels, which the hash notices.
  void operator()(std::vector<std::string>& labels) {
    auto json = base::parse_json(row_.text(column_++), "labels", {.bytes = 1 << 20, .depth = 2});
    if (!json || !json->is_array()) return;
    for (const base::Json& label : json->items()) {
      if (label.is_string()) labels.push_back(label.as_string());
    }
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    if (row_.is_null(column_)) {
      ++column_;
      return;
    }
    (*this)(value.emplace());
  }

 private:
  const Statement& row_;
  int column_;
};

base::Error not_a_history(const std::string& path) {
  return base::usage_error("is not a history", {.file = path});
}

// An open file, in a transaction from begin() to commit(); what is not committed never happened.
class Database {
 public:
  explicit Database(const std::string& path) : path_(path) {}
  ~Database() { sqlite3_close_v2(database_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  sqlite3* get() { return database_; }

  Result<void> open(const HistoryLimits& limits) {
    // "file:x" and ":memory:" are names of files here.
    const std::string name = path_.starts_with('/') ? path_ : "./" + path_;
    int code =
        sqlite3_open_v2(name.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    if (code != SQLITE_OK) return error(code);
    sqlite3_extended_result_codes(database_, 1);
    sqlite3_busy_timeout(database_, limits.patience_ms);
    // A stranger's file brings no code along and no values out of proportion.
    sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, 1 << 20);
    return run("PRAGMA foreign_keys=ON");
  }

  Result<void> run(const std::string& sql) {
    const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return error(code);
    return {};
  }
  Result<uint64_t> number(const std::string& sql) {
    Statement statement(database_, sql);
    if (statement.step()) return statement.number(0);
    return error(statement.code());
  }
  Result<std::string> text(const std::string& sql) {
    Statement statement(database_, sql);
    std::string all;
    while (statement.step()) all += statement.text(0) + "\n";
    if (statement.code() != SQLITE_OK) return error(statement.code());
    return all;
  }
  Result<void> finish(Statement& statement) {
    while (statement.step()) {
    }
    if (statement.code() != SQLITE_OK) return error(statement.code());
    return {};
  }

  base::Error damaged() const {
    return base::usage_error(
        "is damaged or was changed by hand: restore a copy, or add its experiments to a new one",
        {.file = path_});
  }

  base::Error error(int code) const {
    const base::Place place = {.file = path_};
    const int reason = database_ ? sqlite3_system_errno(database_) : 0;
    const std::string system = reason ? std::string(": ") + std::strerror(reason) : "";
    switch (code & 0xff) {
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        return base::failed("is in use by another process: try again when it is done", place);
      case SQLITE_FULL:
        return base::failed("there is no room for more: the disk is full, or the history at its limit",
                            place);
      case SQLITE_READONLY:
        return base::usage_error("cannot be written: the file or its directory is read-only", place);
      case SQLITE_CANTOPEN:
      case SQLITE_PERM:
      case SQLITE_AUTH:
        return base::usage_error("cannot be opened" + system, place);
      case SQLITE_NOTADB:
        return not_a_history(path_);
      case SQLITE_CORRUPT:
      case SQLITE_CONSTRAINT:
      case SQLITE_MISMATCH:
      case SQLITE_ERROR:
        return damaged();
      case SQLITE_TOOBIG:
        return base::usage_error("names of up to 1 MiB are kept, and one is longer", place);
      case SQLITE_IOERR:
        return base::failed("cannot be read or written" + system, place);
      default:
        return base::failed(std::string("cannot be used: ") + sqlite3_errstr(code), place);
    }
  }

 private:
  const std::string& path_;
  sqlite3* database_ = nullptr;
};

// What the newest version's tables look like, from a database that was just made.
Result<std::string> wanted_tables() {
  static const std::string path = "memory";
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> owner(database, sqlite3_close);
  std::string all;
  if (code == SQLITE_OK) {
    for (const char* step : kSteps) sqlite3_exec(database, step, nullptr, nullptr, nullptr);
    Statement statement(database, kTables);
    while (statement.step()) all += statement.text(0) + "\n";
    if (statement.code() == SQLITE_OK) return all;
  }
  return base::failed("SQLite cannot make the tables of a history");
}

// The version of the schema; 0 of a file with nothing in it, such as a killed addition leaves.
Result<uint64_t> version_of(Database& database, const std::string& path) {
  auto application = database.number("PRAGMA application_id");
  if (!application) return application.error();
  auto version = database.number("PRAGMA user_version");
  if (!version) return version.error();
  auto objects = database.number("SELECT count(*) FROM sqlite_master");
  if (!objects) return objects.error();
  if (*application == 0 && *version == 0 && *objects == 0) return uint64_t{0};
  if (*application != kHistoryApplicationId || *version == 0) return not_a_history(path);
  if (auto known = check_version(*version, path, 1, kHistoryVersion); !known) return known.error();
  return *version;
}

// Precondition: of the newest version.
Result<void> check_whole(Database& database) {
  auto wanted = wanted_tables();
  if (!wanted) return wanted.error();
  auto tables = database.text(kTables);
  if (!tables) return tables.error();
  if (*tables != *wanted) return database.damaged();
  auto whole = database.text("PRAGMA integrity_check(1)");
  if (!whole) return whole.error();
  if (*whole != "ok\n") return database.damaged();
  return {};
}

Result<void> bring_up_to_date(Database& database, uint64_t version) {
  if (version == 0) {
    if (auto done = database.run("PRAGMA application_id=" + std::to_string(kHistoryApplicationId)); !done)
      return done;
  }
  for (; version < kHistoryVersion; ++version) {
    if (auto done = database.run(kSteps[version]); !done) return done;
  }
  return database.run("PRAGMA user_version=" + std::to_string(kHistoryVersion));
}

// That were measured, cold ones included: an experiment only ever gets more of them.
double pairs_of(const HistoryExperiment& experiment) {
  double pairs = 0;
  for (const HistoryResult& result : experiment.results)
    pairs += static_cast<double>(result.pairs) + static_cast<double>(result.cold_pairs);
  return pairs;
}

Result<HistoryAddition> add(Database& database, const HistoryExperiment& experiment) {
  const std::string content = content_sha256(experiment);
  HistoryAddition addition = HistoryAddition::Added;
  {
    Statement known(database.get(),
                    "SELECT content_sha256, (SELECT total(pairs) + total(cold_pairs) FROM result WHERE "
                    "result.experiment = experiment.id) FROM experiment WHERE identity=?");
    known(experiment.identity);
    if (known.step()) {
      if (known.text(0) == content) return HistoryAddition::Present;
      if (pairs_of(experiment) < known.real(1)) return HistoryAddition::Older;
      addition = HistoryAddition::Replaced;
    }
    if (known.code() != SQLITE_OK) return database.error(known.code());
  }
  if (addition == HistoryAddition::Replaced) {
    Statement remove(database.get(), "DELETE FROM experiment WHERE identity=?");
    remove(experiment.identity);
    if (auto removed = database.finish(remove); !removed) return removed.error();
  }
  Statement insert(database.get(), kInsertExperiment);
  visit_experiment(insert, experiment);
  insert(content);
  if (auto inserted = database.finish(insert); !inserted) return inserted.error();
  const auto row = static_cast<uint64_t>(sqlite3_last_insert_rowid(database.get()));
  Statement insert_result(database.get(), kInsertResult);
  for (uint64_t position = 0; position < experiment.results.size(); ++position) {
    insert_result(row);
    insert_result(position);
    visit_result(insert_result, experiment.results[position]);
    if (auto inserted = database.finish(insert_result); !inserted) return inserted.error();
  }
  return addition;
}

Result<std::vector<HistoryAddition>> add_all(Database& database, const std::string& path,
                                             std::span<const HistoryExperiment> experiments,
                                             const HistoryLimits& limits) {
  if (auto opened = database.open(limits); !opened) return opened.error();
  if (auto begun = database.run("BEGIN IMMEDIATE"); !begun) return begun.error();
  auto version = version_of(database, path);
  if (!version) return version.error();
  auto page_bytes = database.number("PRAGMA page_size");
  if (!page_bytes) return page_bytes.error();
  auto limited = database.number("PRAGMA max_page_count=" + std::to_string(limits.bytes / *page_bytes));
  if (!limited) return limited.error();
  if (*version != kHistoryVersion) {
    if (auto done = bring_up_to_date(database, *version); !done) return done.error();
  }
  if (auto whole = check_whole(database); !whole) return whole.error();
  std::vector<HistoryAddition> additions;
  for (const HistoryExperiment& experiment : experiments) {
    auto addition = add(database, experiment);
    if (!addition) return addition.error();
    additions.push_back(*addition);
  }
  auto count = database.number("SELECT count(*) FROM experiment");
  if (!count) return count.error();
  if (*count > limits.experiments) {
    return base::usage_error(
        "a history holds up to " + std::to_string(limits.experiments) + " experiments: start another one",
        {.file = path});
  }
  if (auto committed = database.run("COMMIT"); !committed) return committed.error();
  return additions;
}

// A file, or nothing yet: nothing else may be opened, since a pipe would block.
Result<void> check_file(const std::string& path, bool may_be_missing) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT && may_be_missing) return {};
    return base::usage_error(std::string("cannot be opened: ") + std::strerror(errno), {.file = path});
  }
  if (!S_ISREG(status.st_mode)) return base::usage_error("is not a file", {.file = path});
  // SQLite would take it for a file with nothing in it.
  if (status.st_size > 0 && status.st_size < kSmallestPage) return not_a_history(path);
  return {};
}

}  // namespace

Result<std::vector<HistoryAddition>> add_to_history(const std::string& path,
                                                    std::span<const HistoryExperiment> experiments,
                                                    const HistoryLimits& limits) {
  if (auto fit = check_file(path, true); !fit) return fit.error();
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) {
    ::close(made);
  } else if (errno != EEXIST) {
    return base::usage_error(std::string("cannot be created: ") + std::strerror(errno), {.file = path});
  }
  auto additions = [&] {
    Database database(path);
    return add_all(database, path, experiments, limits);
  }();
  struct stat status = {};
  if (!additions && made >= 0 && ::stat(path.c_str(), &status) == 0 && status.st_size == 0)
    ::unlink(path.c_str());
  return additions;
}

Result<std::vector<HistoryExperiment>> read_history(const std::string& path, const HistoryLimits& limits) {
  if (auto fit = check_file(path, false); !fit) return fit.error();
  Database database(path);
  if (auto opened = database.open(limits); !opened) return opened.error();
  if (auto begun = database.run("BEGIN"); !begun) return begun.error();
  auto version = version_of(database, path);
  if (!version) return version.error();
  if (*version == 0) return base::usage_error("is empty: `profile history add` fills it", {.file = path});
  if (auto whole = check_whole(database); !whole) return whole.error();
  auto count = database.number("SELECT count(*) FROM experiment");
  if (!count) return count.error();
  if (*count > limits.experiments) {
    return base::usage_error("holds " + std::to_string(*count) + " experiments; up to " +
                                 std::to_string(limits.experiments) + " are read",
                             {.file = path});
  }
  std::vector<HistoryExperiment> experiments;
  Statement rows(database.get(), "SELECT * FROM experiment ORDER BY id");
  Statement results(database.get(), "SELECT * FROM result ORDER BY experiment, position");
  bool more = results.step();
  while (rows.step()) {
    HistoryExperiment& experiment = experiments.emplace_back();
    RowReader read(rows, 1);
    visit_experiment(read, experiment);
    std::string content;
    read(content);
    for (; more && results.number(0) == rows.number(0); more = results.step()) {
      RowReader read_result(results, 2);
      visit_result(read_result, experiment.results.emplace_back());
    }
    if (content_sha256(experiment) != content) return database.damaged();
  }
  for (const Statement* statement : {&rows, &results}) {
    if (statement->code() != SQLITE_OK) return database.error(statement->code());
  }
  if (more) return database.damaged();
  std::stable_sort(experiments.begin(), experiments.end(),
                   [](const auto& a, const auto& b) { return a.start_unix_ns < b.start_unix_ns; });
  return experiments;
}

}  // namespace wago::capture
