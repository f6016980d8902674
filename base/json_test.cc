#include "base/json.h"

#include <gtest/gtest.h>

#include "base/vocabulary.h"

namespace wago::base {
namespace {

std::string refusal(std::string_view text, const JsonLimits& limits = {}) {
  auto json = parse_json(text, "f.json", limits);
  EXPECT_FALSE(json) << text;
  return json ? "" : json.error().to_string();
}

TEST(Json, KeepsOrderAndAllBitsOfIntegers) {
  const char* text = R"({"z":1,"a":[18446744073709551615,-9223372036854775808,0.5,true,null,"x"],"m":{}})";
  auto json = parse_json(text, "f.json");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->dump(), text);
  EXPECT_EQ(json->find("a")->items()[0].to_u64(), UINT64_MAX);
  EXPECT_EQ(json->find("a")->items()[1].to_i64(), INT64_MIN);
}

TEST(Json, IndentsObjectsAndKeepsVectorsOnALine) {
  Json json = Json::object({{"name", "fib"}, {"row", Json::array({1, 2})}, {"empty", Json::object()}});
  EXPECT_EQ(json.dump(2), "{\n  \"name\": \"fib\",\n  \"row\": [1, 2],\n  \"empty\": {}\n}");
}

TEST(Json, TextIsEscapedAndDamagedTextReplaced) {
  EXPECT_EQ(Json("a\"\\\n\x01").dump(), R"("a\"\\\n\u0001")");
  EXPECT_EQ(Json("\xff").dump(), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(Json("\xc3\xa9").dump(), "\"\xc3\xa9\"");
}

TEST(Json, NumbersParseBack) {
  for (double value : {0.1, 1e300, -2.5, 3.0, 5e-324}) {
    EXPECT_EQ(parse_json(Json(value).dump(), "f")->as_double(), value);
  }
  EXPECT_EQ(Json(3.0).dump(), "3.0");
  EXPECT_EQ(Json(-1).dump(), "-1");
}

TEST(Json, SyntaxErrorsNameFileLineAndColumn) {
  EXPECT_EQ(refusal("{\"a\": tru}"), "f.json: not JSON at line 1, column 10: invalid literal");
  EXPECT_EQ(refusal("{\n  \"\xc3\xa9\": 1,\n}"),
            "f.json: not JSON at line 3, column 1: unexpected '}' where this was expected: string literal");
  EXPECT_EQ(refusal("[\"\xc3\xa9\" 1]"),
            "f.json: not JSON at line 1, column 6: unexpected number literal where this was expected: ']'");
  EXPECT_EQ(refusal("{\n"),
            "f.json: not JSON at line 2, column 1: unexpected end of input where this was expected: string "
            "literal");
  for (const char* text : {"", "{", "[1,]", "{\"a\":1,}", "nul", "01", "'a'", "[1] 2", "\"\\ud800\"",
                           "\"\xff\"", "/**/1", "1e999", "{1:2}"}) {
    refusal(text);
  }
}

TEST(Json, NumbersThatNothingHoldsAreNamed) {
  EXPECT_EQ(refusal("{\"a\": [1, 1e400]}"), "f.json: a[1]: the number 1e400 is too large");
  EXPECT_EQ(refusal("-1" + std::string(400, '0')),
            "f.json: the number -1" + std::string(38, '0') + " is too large");
}

// What the library has to say stands in words of ours, with places of ours.
TEST(Json, NoMistakeIsToldAsTheLibraryTellsIt) {
  for (const char* text :
       {"",        "{",           "[1,]",    "nul",      "01",       "-",        "1e",    "1.",     "'a'",
        "[1] 2",   "\"\\ud800\"", "\"\\x\"", "\"\xff\"", "\"\x01\"", "\"",       "1e999", "-1e999", "{1:2}",
        "{\"a\"}", "[",           "]",       "NaN",      "Infinity", "\xef\xbb", "/*"}) {
    const std::string told = refusal(text);
    EXPECT_EQ(told.find("json.exception"), std::string::npos) << told;
    EXPECT_EQ(told.find("parse error"), std::string::npos) << told;
    EXPECT_EQ(told.find("syntax error"), std::string::npos) << told;
    EXPECT_EQ(told.find("last read"), std::string::npos) << told;
  }
}

TEST(Json, ANameGivenTwiceIsRefused) {
  EXPECT_EQ(refusal(R"({"a":{"b":1,"b":2}})"), "f.json: a.b: the name \"b\" is given twice");
}

TEST(Json, LimitsAreNamed) {
  EXPECT_NE(refusal("[[[[1]]]]", {.depth = 3}).find("limit depth (3)"), std::string::npos);
  EXPECT_NE(refusal(std::string(200'000, '['), {}).find("limit depth"), std::string::npos);
  EXPECT_NE(refusal("[1,2,3]", {.values = 2}).find("limit values (2)"), std::string::npos);
  EXPECT_NE(refusal("\"abc\"", {.string_bytes = 2}).find("limit string_bytes (2)"), std::string::npos);
  EXPECT_NE(refusal("[1,2,3]", {.bytes = 3}).find("limit bytes (3)"), std::string::npos);
}

TEST(JsonReader, ReadsMembersByType) {
  Json json = *parse_json(R"({"s":"x","b":true,"n":7,"d":0.5,"o":{"k":1},"a":["p","q"],"phase":"execute"})",
                          "f.json");
  JsonReader reader(json, "f.json");
  EXPECT_EQ(reader.string("s"), "x");
  EXPECT_TRUE(reader.boolean("b"));
  EXPECT_EQ(reader.u64("n"), 7u);
  EXPECT_EQ(reader.number("d"), 0.5);
  EXPECT_EQ(reader.object("o").u64("k"), 1u);
  std::vector<std::string> items;
  reader.array("a", [&](JsonReader& item) { items.push_back(item.as_string()); });
  EXPECT_EQ(items, (std::vector<std::string>{"p", "q"}));
  EXPECT_EQ(read_word<Phase>(reader, "phase", spellings<Phase>()), Phase::Execute);
  EXPECT_EQ(reader.optional_u64("absent"), std::nullopt);
  reader.refuse_unknown();
  EXPECT_FALSE(reader.failed());
}

TEST(JsonReader, MistakesNameFileAndPathAndTheFirstWins) {
  Json json = *parse_json(R"({"list":[{"n":1},{"n":"two"}],"phase":"sleep"})", "f.json");
  JsonReader reader(json, "f.json");
  reader.array("list", [](JsonReader& item) { item.u64("n", 10); });
  reader.string("missing");
  ASSERT_TRUE(reader.error());
  EXPECT_EQ(reader.error()->to_string(), "f.json: list[1].n: must be an integer from 0 to 10, not a string");

  JsonReader words(json, "f.json");
  words.word("phase", spellings<Mode>());
  EXPECT_EQ(words.error()->to_string(), "f.json: phase: 'sleep' is not one of public, prepared");
}

TEST(JsonReader, UnknownMembersAreRefusedWithTheKnownOnes) {
  Json json = *parse_json(R"({"iteration":1})", "f.json");
  JsonReader reader(json, "f.json");
  reader.optional_u64("iterations");
  reader.optional_u64("warmup");
  reader.refuse_unknown();
  EXPECT_EQ(reader.error()->to_string(),
            "f.json: iteration: is not known here; known are iterations, warmup");
}

TEST(JsonReader, WrongTypesAndMissingMembersAreErrorsNotDefaults) {
  Json json = *parse_json(R"({"a":-1,"o":[],"nothing":null,"big":300,"huge":18446744073709551616,
      "deep":-9223372036854777856,"half":1.5})",
                          "f.json");
  auto error = [&](const std::function<void(JsonReader&)>& ask) {
    JsonReader reader(json, "f");
    ask(reader);
    return reader.error() ? reader.error()->message : std::string("no error");
  };
  EXPECT_EQ(error([](auto& r) { r.u64("a", 9); }), "must be an integer from 0 to 9, not a negative integer");
  EXPECT_EQ(error([](auto& r) { r.u64("huge"); }),
            "must be an integer from 0 to 18446744073709551615, not a number above 64 bits");
  EXPECT_EQ(error([](auto& r) { r.u64("deep", 9); }),
            "must be an integer from 0 to 9, not a negative number beyond 64 bits");
  EXPECT_EQ(error([](auto& r) { r.u64("half", 9); }),
            "must be an integer from 0 to 9, not a number with a fraction");
  EXPECT_EQ(error([](auto& r) { r.u64("big", 255); }), "must be an integer from 0 to 255, not 300");
  EXPECT_EQ(error([](auto& r) { r.object("o"); }), "must be an object, not an array");
  EXPECT_EQ(error([](auto& r) { r.string("absent"); }), "is missing; it must be a string");
  EXPECT_EQ(error([](auto& r) { r.string("nothing"); }), "must be a string, not null");
  EXPECT_EQ(error([](auto& r) { r.optional_string("nothing"); }), "no error");
}

}  // namespace
}  // namespace wago::base
