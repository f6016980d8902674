// A series as a picture, for the report: a dot a version with its interval, the levels between changes.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "diff/history.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

using base::as_markup;

constexpr double kWidth = 640, kHeight = 190;
constexpr double kLeft = 64, kTop = 8, kBottom = 150;  // of the plot; names of versions stand below
constexpr double kTextHeight = 14;
constexpr double kLeastReach = 0.01;  // so that noise does not look like a mountain range

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

const char* tone(ChangeState state) {
  return state == ChangeState::Confirmed ? "bad" : state == ChangeState::Refuted ? "good" : "doubt";
}

// The versions that have a level, and where they lie in the picture.
class Plot {
 public:
  explicit Plot(const HistorySeries& series) : series_(series) {
    low_ = -kLeastReach;
    high_ = kLeastReach;
    for (size_t i = 0; i < series.points.size(); ++i) {
      const auto& level = series.points[i].level;
      if (!level) continue;
      shown_.push_back(i);
      low_ = std::min(low_, level->interval.low);
      high_ = std::max(high_, level->interval.high);
    }
  }

  std::string draw() const {
    std::string svg = "<svg viewBox=\"0 0 " + number(kWidth) + " " + number(kHeight) +
                      "\" style=\"max-width:" + number(kWidth) +
                      "px;width:100%\" role=\"img\" aria-label=\"CPU time of each version against " +
                      name(series_.anchor) + "\">";
    for (double line : {low_, 0.0, high_}) {
      svg += "<line class=\"" + std::string(line == 0 ? "zero" : "axis") + "\" x1=\"" + number(kLeft) +
             "\" x2=\"" + number(kWidth) + "\" y1=\"" + number(y(line)) + "\" y2=\"" + number(y(line)) +
             "\"/>";
      if (line != 0 && std::abs(y(line) - y(0)) < kTextHeight) continue;
      svg += "<text x=\"0\" y=\"" + number(y(line) + 4) + "\">" + as_markup(format_change(line)) + "</text>";
    }
    for (const HistoryChange& change : series_.changes) svg += draw(change);
    // In a mean of several workloads no changes were looked for.
    if (!series_.links.empty()) svg += levels();
    for (size_t at = 0; at < shown_.size(); ++at) svg += draw_point(at);
    svg += label(0, "start");
    if (shown_.size() > 1) svg += label(shown_.size() - 1, "end");
    return svg + "</svg>";
  }

 private:
  double x(double at) const {
    return kLeft + (kWidth - kLeft) * (at + 0.5) / static_cast<double>(shown_.size());
  }
  double y(double change) const { return kTop + (kBottom - kTop) * (high_ - change) / (high_ - low_); }
  std::string name(size_t point) const { return as_markup(base::printable(series_.points[point].version)); }
  size_t index_of(size_t point) const {
    return static_cast<size_t>(std::find(shown_.begin(), shown_.end(), point) - shown_.begin());
  }

  std::string draw(const HistoryChange& change) const {
    const double at = x(static_cast<double>(index_of(change.point)) - 0.5);
    return "<g class=\"" + std::string(tone(change.state)) + "\"><title>" +
           as_markup(format_change(change.change)) + " from " + name(change.point) + " on, " +
           std::string(spelling(change.state)) +
           "</title><line stroke=\"currentColor\" stroke-dasharray=\"4 3\" x1=\"" + number(at) + "\" x2=\"" +
           number(at) + "\" y1=\"" + number(kTop) + "\" y2=\"" + number(kBottom) + "\"/></g>";
  }

  // The mean level from each change to the next.
  std::string levels() const {
    std::vector<size_t> edges = {0};
    for (const HistoryChange& change : series_.changes) edges.push_back(index_of(change.point));
    edges.push_back(shown_.size());
    std::string svg;
    for (size_t i = 0; i + 1 < edges.size(); ++i) {
      double sum = 0;
      for (size_t at = edges[i]; at < edges[i + 1]; ++at) sum += series_.points[shown_[at]].level->change;
      const double mean = sum / static_cast<double>(edges[i + 1] - edges[i]);
      svg += "<line stroke=\"var(--mark)\" stroke-width=\"2\" opacity=\".5\" x1=\"" +
             number(x(static_cast<double>(edges[i]) - 0.5)) + "\" x2=\"" +
             number(x(static_cast<double>(edges[i + 1]) - 0.5)) + "\" y1=\"" + number(y(mean)) + "\" y2=\"" +
             number(y(mean)) + "\"/>";
    }
    return svg;
  }

  std::string draw_point(size_t at) const {
    const HistoryPoint& point = series_.points[shown_[at]];
    const HistoryLevel& level = *point.level;
    const std::string centre = number(x(static_cast<double>(at)));
    return "<g stroke=\"var(--mark)\" fill=\"var(--mark)\"><title>" + name(shown_[at]) + ": " +
           as_markup(format_change(level.change) + " [" + format_change(level.interval.low) + ", " +
                     format_change(level.interval.high) + "]") +
           ", first measured " + base::utc_text(point.first_unix_ns, "%Y-%m-%d") + "</title><line x1=\"" +
           centre + "\" x2=\"" + centre + "\" y1=\"" + number(y(level.interval.low)) + "\" y2=\"" +
           number(y(level.interval.high)) + "\"/><circle cx=\"" + centre + "\" cy=\"" +
           number(y(level.change)) + "\" r=\"3.5\"/></g>";
  }

  std::string label(size_t at, const char* side) const {
    const double edge = side[0] == 's' ? kLeft : kWidth;
    return "<text x=\"" + number(edge) + "\" y=\"" + number(kBottom + 22) + "\" text-anchor=\"" + side +
           "\">" + name(shown_[at]) + "</text>";
  }

  const HistorySeries& series_;
  std::vector<size_t> shown_;  // indexes into points; the anchor is always there
  double low_, high_;
};

}  // namespace

std::string history_svg(const HistorySeries& series) {
  return Plot(series).draw();
}

}  // namespace wago::diff
