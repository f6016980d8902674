#include "diff/evidence.h"

#include "capture/capture.h"
#include "diff/places.h"

namespace wago::diff {

base::Result<Evidence> load(const std::string& path, base::Files& files) {
  auto capture = capture::Capture::open(path, files);
  if (!capture) return capture.error();
  auto contents = capture->contents();
  if (!contents) return contents.error();
  return Evidence{path,
                  capture->manifest(),
                  std::move(contents->images),
                  std::move(contents->iterations),
                  std::move(contents->samples),
                  std::move(contents->counts),
                  std::move(contents->spans),
                  std::move(contents->code)};
}

base::Result<std::vector<Evidence>> load_all(std::span<const std::string> paths, base::Files& files) {
  std::vector<Evidence> all;
  Places places;
  for (const std::string& path : paths) {
    if (auto is_new = places.add(path); !is_new) return is_new.error();
    auto evidence = load(path, files);
    if (!evidence) return evidence.error();
    all.push_back(std::move(*evidence));
  }
  return all;
}

}  // namespace wago::diff
