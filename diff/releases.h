// Several experiments in one document: a workload a row, an experiment a column in the order of time, and
// where their versions lie against the first of them, as a picture.
//
// What an experiment found is its report's. Levels are those of a history of just these experiments
// (history.h): steps that follow one another are put together, so that ten steps of 0.3 %, none of them a
// finding, are seen to be 3 %.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diff/history.h"
#include "diff/report.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

struct ReleaseColumn {
  std::string name;                 // of the experiment's own report
  std::string baseline, candidate;  // what its sides are called
  const Report* report = nullptr;   // outlives this
};

struct ReleaseRow {
  std::string catalog;
  std::string workload;
  std::vector<const ReportedWorkload*> cells;  // by column; null: it was not measured there
  std::vector<const HistorySeries*> series;  // of Releases::history; more where contract or processor changed
};

struct Releases {
  std::vector<ReleaseColumn> columns;
  std::vector<ReleaseRow> rows;  // by catalog and workload
  std::shared_ptr<const History> history;
  // Geometric mean of the workloads that every version has a level of; nothing: there are none, or on
  // several processors.
  std::optional<HistorySeries> suite;
  size_t suite_workloads = 0;
  std::vector<std::string> remarks;  // sentences: whose versions are not known, and why
};

struct ReleaseReport {
  std::string name;
  const Report* report = nullptr;
};
Releases releases_of(std::span<const ReleaseReport> reports);

// "3 experiments of 12 workloads: 1 regressed, 35 same", and how many claim nothing
std::string headline(const Releases& releases);

// The formats, as those of report.h. `extension`: of the experiments' own documents, which lie beside it and
// are linked; empty: there are none.
std::string to_text(const Releases& releases, bool colour = false);
std::string to_markdown(const Releases& releases, std::string_view extension = {});
std::string to_html(const Releases& releases, std::string_view extension = {});
base::Json to_json(const Releases& releases);

}  // namespace wago::diff
