// A flame graph as SVG.
#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"
#include "diff/flame_graph.h"
#include "diff/flame_graph_script.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

constexpr int kRow = 18;       // pixels a frame is high, with the gap below
constexpr int kHeader = 74;    // above the frames
constexpr int kFooter = 78;    // below
constexpr int kKeysInRow = 3;  // of the legend, so that it fits into a narrow window
constexpr int kWidth = 1200;   // where no script tells how wide the window is
constexpr double kLetter = 7;  // pixels

std::string percent(double part) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.5g%%", 100 * part);
  return buffer;
}

// A family of hue: its letter, and hue, saturation and lightness by day and by night.
struct Family {
  char letter;
  int hue, hue_step;
  int saturation;
  int day, night;
};
constexpr Family kFamilies[] = {
    {'g', 24, 6, 92, 62, 38},   // guest: orange
    {'r', 256, 5, 62, 76, 44},  // the runtime's helpers: violet
    {'h', 160, 5, 42, 66, 30},  // host: green
    {'k', 346, 3, 55, 76, 38},  // kernel: rose
    {'u', 220, 0, 4, 78, 36},   // unknown: grey
    {'p', 16, 9, 80, 64, 38},   // nothing said: from red to yellow
};

std::string family_rules(bool night) {
  std::string rules;
  char buffer[96];
  for (const Family& family : kFamilies) {
    for (int shade = 0; shade < 5; ++shade) {
      std::snprintf(buffer, sizeof buffer, ".%c%d rect{fill:hsl(%d,%d%%,%d%%)}\n", family.letter, shade,
                    family.hue + shade * family.hue_step, family.saturation,
                    (night ? family.night : family.day) + (night ? 2 : 3) * (shade % 3));
      rules += buffer;
    }
  }
  for (int step = 1; step <= 4; ++step) {
    std::snprintf(buffer, sizeof buffer, ".m%d rect{fill:hsl(4,%d%%,%d%%)}\n", step,
                  (night ? 44 : 60) + 8 * step, night ? 26 + 6 * step : 92 - 8 * step);
    rules += buffer;
    std::snprintf(buffer, sizeof buffer, ".l%d rect{fill:hsl(214,%d%%,%d%%)}\n", step,
                  (night ? 40 : 50) + 8 * step, night ? 26 + 6 * step : 92 - 8 * step);
    rules += buffer;
  }
  return rules + (night ? ".n rect{fill:#3a3a3e}\n" : ".n rect{fill:#e6e4df}\n");
}

std::string style() {
  return R"(svg{font:12px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;color-scheme:light dark;background:#fcfbf8}
text{fill:#1c1b19}
.title{font:600 17px system-ui,"DejaVu Sans",sans-serif}
.quiet{font:12px system-ui,"DejaVu Sans",sans-serif;fill:#5d5a54}
#frames>g{cursor:pointer;outline:none}
#frames rect{stroke:#fcfbf8;stroke-width:.5}
#frames text{pointer-events:none}
#frames .i text{font-style:italic}
#frames>g:hover rect,#frames>g:focus rect{stroke:#1c1b19;stroke-width:1.5}
#frames>g.around{opacity:.5}
.searching #frames>g:not(.hit){opacity:.45}
#frames>g.hit rect{fill:hsl(312,85%,52%)}
#frames>g.hit text{fill:#fff}
#tools input,#tools button{font:12px system-ui,sans-serif;padding:3px 7px;border:1px solid #b9b5ac;border-radius:4px;background:#fff;color:#1c1b19}
#tools input{width:190px}
@media (max-width:700px){#tools input{width:100px}}
)" + family_rules(false) +
         "@media (prefers-color-scheme:dark){\n" + R"(svg{background:#19191c}
text{fill:#ececea}
.quiet{fill:#a5a29b}
#frames rect{stroke:#19191c}
#frames>g:hover rect,#frames>g:focus rect{stroke:#fff}
#frames>g.hit rect{fill:hsl(312,75%,46%)}
#tools input,#tools button{background:#29292d;color:#ececea;border-color:#55555c}
)" + family_rules(true) +
         "}\n";
}

int frames_height(const FlameGraph& graph) {
  return kRow * static_cast<int>(graph.depth + 1);
}

std::string fitted(const std::string& name, double width) {
  const auto letters = static_cast<long>((width * kWidth - 6) / kLetter);
  if (letters < 2) return {};
  // Cut between characters of UTF-8.
  if (name.size() <= static_cast<size_t>(letters)) return name;
  size_t end = static_cast<size_t>(letters) - 1;
  while (end > 0 && (static_cast<uint8_t>(name[end]) & 0xc0) == 0x80) --end;
  return name.substr(0, end) + "\xe2\x80\xa6";
}

void append_frame(const FlameFrame& frame, uint32_t deepest, std::string& svg) {
  const int y = kHeader + kRow * static_cast<int>(deepest - frame.depth);
  const std::string x = percent(frame.x);
  svg += "<g class=\"" + frame.style + (frame.inlined ? " i" : "") + "\" role=\"treeitem\" aria-level=\"" +
         std::to_string(frame.depth + 1) + "\" data-p=\"" + std::to_string(frame.parent) + "\"><title>" +
         base::as_markup(frame.name + "\n" + frame.info) + "</title><rect x=\"" + x + "\" y=\"" +
         std::to_string(y) + "\" width=\"" + percent(frame.width) + "\" height=\"" +
         std::to_string(kRow - 1) + "\" rx=\"2\"/><text x=\"" + x + "\" dx=\"3\" y=\"" +
         std::to_string(y + 13) + "\">" + base::as_markup(fitted(frame.name, frame.width)) + "</text></g>\n";
}

struct Key {
  const char* style;
  std::string text;
};

void append_key(const Key& key, int x, int y, std::string& svg) {
  svg += "<g class=\"" + std::string(key.style) + "\"><rect x=\"" + std::to_string(x) + "\" y=\"" +
         std::to_string(y - 10) + "\" width=\"12\" height=\"12\" rx=\"2\"/></g><text class=\"quiet\" x=\"" +
         std::to_string(x + 18) + "\" y=\"" + std::to_string(y) + "\">" + base::as_markup(key.text) +
         "</text>\n";
}

std::vector<Key> keys_of(const FlameGraph& graph) {
  if (graph.differential) {
    return {{"l4", "costs less itself"},
            {"l2", "a little less"},
            {"n", "as before, within sampling error"},
            {"m2", "a little more"},
            {"m4", "costs more itself"}};
  }
  std::vector<Key> keys;
  if (!graph.knows_sides) return keys;
  static constexpr const char* kStyles[kSides] = {"g2", "r2", "h2", "k2", "u2"};
  static constexpr const char* kNames[kSides] = {"guest", "runtime", "host", "kernel", "unknown"};
  for (size_t side = 0; side < kSides; ++side)
    keys.push_back({kStyles[side], std::string(kNames[side]) + " " + format_share(graph.shares[side])});
  return keys;
}

std::string legend(const FlameGraph& graph, int y) {
  constexpr int kLeft = 12, kKeyRow = 20;
  std::string svg = "<g id=\"legend\">\n";
  int x = kLeft, placed = 0;
  for (const Key& key : keys_of(graph)) {
    if (placed++ == kKeysInRow) {
      x = kLeft;
      y += kKeyRow;
    }
    append_key(key, x, y, svg);
    x += 40 + static_cast<int>(kLetter * static_cast<double>(key.text.size()));
  }
  return svg + "</g>\n";
}

std::string head(const FlameGraph& graph, int height) {
  const std::string title = base::as_markup(graph.title);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%\" height=\"" +
         std::to_string(height) + "\" role=\"figure\" aria-label=\"" + title + "\">\n<title>" + title +
         "</title>\n<desc>" + base::as_markup(graph.subtitle) + "</desc>\n<style>\n" + style() +
         "</style>\n"
         "<text class=\"title\" x=\"12\" y=\"27\">" +
         title + "</text>\n<text class=\"quiet\" x=\"12\" y=\"47\">" + base::as_markup(graph.subtitle) +
         "</text>\n";
}

// Shown by the script, without which it does nothing.
constexpr const char* kTools =
    R"(<text id="matched" class="quiet" x="100%" dx="-12" y="62" text-anchor="end" aria-live="polite"></text>
<svg id="tools" x="100%" y="10" width="310" height="36" overflow="visible" style="display:none"><foreignObject x="-310" width="300" height="36"><div xmlns="http://www.w3.org/1999/xhtml" style="text-align:right;white-space:nowrap"><input id="search" type="search" placeholder="search  /" aria-label="Search functions by a regular expression"/> <button id="reset" type="button" title="Escape">reset</button></div></foreignObject></svg>
)";

}  // namespace

int svg_height(const FlameGraph& graph) {
  return kHeader + frames_height(graph) + kFooter;
}

std::string to_svg(const FlameGraph& graph) {
  std::string svg = head(graph, svg_height(graph));
  svg += kTools;
  svg += "<g id=\"frames\" role=\"tree\" aria-label=\"Stacks: callees above their callers\">\n";
  for (const FlameFrame& frame : graph.frames) append_frame(frame, graph.depth, svg);
  svg += "</g>\n<text id=\"details\" x=\"12\" y=\"" + std::to_string(kHeader + frames_height(graph) + 20) +
         "\" aria-live=\"polite\">click a frame to zoom, / searches, Escape resets, arrows walk</text>\n";
  svg += legend(graph, kHeader + frames_height(graph) + 44);
  svg += "<script><![CDATA[\n" + std::string(flame_graph_script()) + "\n]]></script>\n</svg>\n";
  return svg;
}

}  // namespace wago::diff
