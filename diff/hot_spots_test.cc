#include "diff/hot_spots.h"

#include <gtest/gtest.h>

#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

using capture::kNone;
using capture::Side;

const HotSpot* find(const HotSpots& spots, std::string_view name) {
  for (const HotSpot& spot : spots.rows) {
    if (spot.label.name == name) return &spot;
  }
  return nullptr;
}

// self, total, or -1 -1 where there is no such row.
std::pair<int, int> cost(const HotSpots& spots, std::string_view name) {
  const HotSpot* spot = find(spots, name);
  return spot ? std::pair(static_cast<int>(spot->self), static_cast<int>(spot->total)) : std::pair(-1, -1);
}

TEST(Locations, AnOffsetIsAFunctionWithWhatWasInlinedThere) {
  Evidence evidence = mix_evidence();
  Locations locations(evidence);
  Location at = locations.locate(0, 69);
  EXPECT_EQ(at.side, Side::Guest);
  EXPECT_EQ(at.holder->name, "hot");
  EXPECT_EQ(at.places, (std::vector<WasmPlace>{{2, 2}, {1, 5}}));
  EXPECT_EQ(locations.instruction(0, at.places[0]), "i32.add");
  EXPECT_EQ(locations.instruction(0, at.places[1]), "call 1");
  EXPECT_EQ(locations.source(0, at.places[0]),
            (std::vector<SourcePlace>{{"step", "step.c", 7}, {"inner", "mix.c", 3}}));
  EXPECT_EQ(at.site, std::nullopt);
  EXPECT_EQ(locations.locate(0, 66).site, capture::SiteKind::BoundsCheck);
  EXPECT_EQ(locations.locate(0, 68).site, capture::SiteKind::BoundsCheck);
  EXPECT_EQ(locations.locate(0, 64).site, std::nullopt) << "the site before it is of another function";
}

TEST(Locations, NothingGoesToANeighbour) {
  Evidence evidence = mix_evidence();
  Locations locations(evidence);
  Location padding = locations.locate(0, 136);
  EXPECT_EQ(padding.side, Side::Unknown);
  EXPECT_EQ(padding.holder, nullptr);
  EXPECT_TRUE(padding.places.empty());
  // A position of the function before this one says nothing of it.
  evidence.images.images[0].metadata.positions.pop_back();
  EXPECT_EQ(locations.locate(0, 128).places, (std::vector<WasmPlace>{{2, kNone}}));
  // A range that ends without a frame is unknown, and so is what comes after it.
  EXPECT_TRUE(locations.source(0, {1, 8}).empty());
  EXPECT_TRUE(locations.source(0, {1, 10}).empty());
  EXPECT_TRUE(locations.source(0, {7, 0}).empty());
  EXPECT_EQ(locations.instruction(0, {1, 3}), "");
  EXPECT_EQ(locations.function_name(0, 9), "func[9]");
}

TEST(Locations, WithoutSourceMapsPositionsHoldWhereTheyAreAndForCallers) {
  Evidence evidence = mix_evidence();
  evidence.manifest.effective_settings.source_maps = false;
  Locations locations(evidence);
  EXPECT_EQ(locations.locate(0, 74).places, (std::vector<WasmPlace>{{1, kNone}}));
  EXPECT_EQ(locations.locate(0, 72).places, (std::vector<WasmPlace>{{1, 8}}));
  EXPECT_EQ(locations.locate(0, 8, true).places, (std::vector<WasmPlace>{{0, 2}}));
}

TEST(Locations, ACallersSiteIsThatOfItsCall) {
  Evidence evidence = mix_evidence();
  evidence.images.images[0].metadata.sites = {{4, capture::SiteKind::HelperCall},
                                              {9, capture::SiteKind::None}};
  Locations locations(evidence);
  EXPECT_EQ(locations.locate(0, 8, true).site, capture::SiteKind::HelperCall);
  EXPECT_EQ(locations.locate(0, 10, true).site, std::nullopt);
}

TEST(HotSpots, CostOfFunctionsAloneAndWithWhatTheyCall) {
  HotSpots spots = hot_spots(mix_evidence(), Grouping::Function);
  EXPECT_EQ(spots.samples, 10u);
  EXPECT_EQ(spots.weight, 1000u);
  EXPECT_EQ(cost(spots, "hot"), std::pair(300, 500));
  EXPECT_EQ(cost(spots, "inner"), std::pair(200, 200));
  EXPECT_EQ(cost(spots, "memory_grow"), std::pair(100, 100));
  EXPECT_EQ(cost(spots, "entry-adapter (i32) -> (i32)"), std::pair(0, 700));
  EXPECT_EQ(cost(spots, "[kernel]"), std::pair(100, 100));
  EXPECT_EQ(cost(spots, "0x7f0012345678"), std::pair(100, 100));
  EXPECT_EQ(cost(spots, "[mix.wasm+0x88]"), std::pair(100, 100));
  EXPECT_EQ(spots.rows[0].label.name, "hot");
  EXPECT_EQ(spots.rows[0].samples, 3u);
}

TEST(HotSpots, RecursionCountsOnceAndNamesAloneDoNotMakeAFunction) {
  HotSpots spots = hot_spots(mix_evidence(), Grouping::Function);
  int mains = 0;
  for (const HotSpot& spot : spots.rows) {
    if (spot.label.name != "main") continue;
    ++mains;
    if (spot.label.side == Side::Guest) {
      EXPECT_EQ(spot.total, 600u);
    } else {
      EXPECT_EQ(spot.label.side, Side::Host);
      EXPECT_EQ(spot.self, 100u);
      EXPECT_EQ(spot.total, 900u);
    }
  }
  EXPECT_EQ(mains, 2);
}

TEST(HotSpots, KindsAddUpToEverything) {
  for (size_t by = 0; by < 4; ++by) {
    HotSpots spots = hot_spots(mix_evidence(), static_cast<Grouping>(by));
    EXPECT_EQ(spots.of(Side::Guest), 500u);
    EXPECT_EQ(spots.of(Side::Helper), 100u);
    EXPECT_EQ(spots.of(Side::Host), 100u);
    EXPECT_EQ(spots.of(Side::Kernel), 100u);
    EXPECT_EQ(spots.of(Side::Unknown), 200u);
    uint64_t self = 0;
    for (const HotSpot& spot : spots.rows) self += spot.self;
    EXPECT_EQ(self, 1000u);
  }
}

TEST(HotSpots, LinesAreThoseOfTheGuestsOwnInliningToo) {
  HotSpots spots = hot_spots(mix_evidence(), Grouping::Line);
  EXPECT_EQ(cost(spots, "mix.c:11"), std::pair(200, 400));
  EXPECT_EQ(cost(spots, "step.c:7"), std::pair(200, 200));
  EXPECT_EQ(cost(spots, "mix.c:3"), std::pair(0, 200));
  EXPECT_EQ(cost(spots, "mix.c:21"), std::pair(0, 600));
  const HotSpot* unknown = find(spots, "hot");
  ASSERT_NE(unknown, nullptr);
  EXPECT_EQ(unknown->label.detail, "line not known");
  EXPECT_EQ(unknown->self, 100u);
}

TEST(HotSpots, SitesAreWhatTheCompilerEmittedThemFor) {
  HotSpots spots = hot_spots(mix_evidence(), Grouping::Site);
  EXPECT_EQ(cost(spots, "bounds-check"), std::pair(200, 200));
  EXPECT_EQ(cost(spots, "no emitted site"), std::pair(300, 600));
  EXPECT_EQ(cost(spots, "kernel"), std::pair(100, 100));
}

TEST(HotSpots, TheSameCodeCompiledAgainIsTheSameFunction) {
  Evidence evidence = mix_evidence();
  evidence.images.images.push_back(evidence.images.images[0]);
  for (capture::Frame& frame : evidence.samples->frames) {
    if (frame.image == 0 && frame.offset == 72) frame.image = 2;
  }
  EXPECT_EQ(cost(hot_spots(evidence, Grouping::Function), "hot"), std::pair(300, 500));
}

TEST(HotSpots, ManyAndDeepStacksCostLinearTime) {
  Evidence evidence = mix_evidence();
  capture::Samples& samples = *evidence.samples;
  samples.stacks.clear();
  samples.samples.clear();
  constexpr uint32_t kDepth = 300'000;
  for (uint32_t i = 0; i < kDepth; ++i) {
    samples.stacks.push_back({i % static_cast<uint32_t>(samples.frames.size()), i == 0 ? kNone : i - 1});
    samples.samples.push_back({i, 1, 0, i});
  }
  HotSpots spots = hot_spots(evidence, Grouping::Function);
  EXPECT_EQ(spots.weight, kDepth);
  EXPECT_EQ(find(spots, "main")->total, kDepth);
}

}  // namespace
}  // namespace wago::diff
