#include "diff/side_by_side.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace wago::diff {
namespace {

Annotation listing(std::vector<std::string> instructions, std::string capture = "a") {
  Annotation annotation;
  annotation.capture = std::move(capture);
  annotation.name = "f";
  annotation.has_code = true;
  uint32_t offset = 0;
  for (std::string& text : instructions) {
    AnnotatedRow row;
    row.offset = offset;
    row.size = 4;
    row.assembly = std::move(text);
    offset += row.size;
    annotation.rows.push_back(std::move(row));
  }
  annotation.bytes = offset;
  return annotation;
}

// "a b -c +d": what stayed, went and came.
std::string edits(const SideBySide& both) {
  std::string text;
  for (const AlignedRow& row : both.rows) {
    if (!text.empty()) text += " ";
    if (!row.candidate) text += "-";
    if (!row.baseline) text += "+";
    text += row.candidate ? both.candidate.rows[*row.candidate].assembly
                          : both.baseline.rows[*row.baseline].assembly;
  }
  return text;
}

TEST(SideBySide, WhatStayedIsAligned) {
  EXPECT_EQ(edits(align(listing({"a", "b", "c", "d"}), listing({"a", "c", "x", "d"}))), "a -b c +x d");
  EXPECT_EQ(edits(align(listing({"a", "b"}), listing({"a", "b"}))), "a b");
  EXPECT_EQ(edits(align(listing({}), listing({"a"}))), "+a");
  EXPECT_EQ(edits(align(listing({"a"}), listing({}))), "-a");
  EXPECT_EQ(edits(align(listing({"a", "a", "a"}), listing({"a", "a"}))), "a a -a");
  EXPECT_EQ(align(listing({"a", "b"}), listing({"b", "a"})).kept, 1u);
}

// The baseline's f may be what the candidate exports as f.
TEST(SideBySide, OtherNamesAreSaid) {
  Annotation a = listing({"a"}), b = listing({"a"});
  EXPECT_EQ(to_text(align(a, b)).find("against"), std::string::npos);
  b.name = "g";
  b.index = 3;
  EXPECT_NE(to_text(align(a, b)).find("against    f : index 3 against index 0, which may be two functions\n"),
            std::string::npos)
      << to_text(align(a, b));
}

TEST(SideBySide, WhereCodeLandedIsNoDifference) {
  SideBySide both = align(listing({"jb 0x42", "mov rax, qword ptr [rip + 0x10]", "jmp 0x7"}),
                          listing({"jb 0x52", "mov rax, qword ptr [rip + 0x99]", "jae 0x7"}));
  EXPECT_EQ(both.kept, 2u);
  Annotation a = listing({"call 0x40"}), b = listing({"call 0x80"});
  a.rows[0].target = b.rows[0].target = "callee";
  EXPECT_EQ(align(a, b).kept, 1u);
  b.rows[0].target = "other";
  EXPECT_EQ(align(a, b).kept, 0u);
  EXPECT_EQ(align(listing({"add eax, 0x1"}), listing({"add eax, 0x2"})).kept, 0u) << "a constant is one";
}

TEST(SideBySide, FunctionsThatShareNothingAreBoundedToo) {
  std::vector<std::string> a, b;
  for (int i = 0; i < 10'000; ++i) {
    a.push_back("a" + std::to_string(i));
    b.push_back("b" + std::to_string(i));
  }
  SideBySide both = align(listing(a), listing(b));
  EXPECT_EQ(both.kept, 0u);
  EXPECT_EQ(both.rows.size(), 20'000u);
}

TEST(SideBySide, TextMarksWhatWentAndCame) {
  Annotation a = listing({"a", "b"}), b = listing({"a", "c"}, "b");
  a.counted = b.counted = true;
  a.work = 10;
  b.work = 20;
  b.work_unit = "invocation";
  a.rows[0].executed = 100;
  b.rows[0].executed = 200;
  std::string text = to_text(align(a, b));
  EXPECT_NE(text.find("rows       1 the same, 1 gone, 1 new"), std::string::npos) << text;
  EXPECT_NE(text.find("      10         0        10          0     a\n"), std::string::npos) << text;
  EXPECT_NE(text.find("-  b\n"), std::string::npos) << text;
  EXPECT_NE(text.find("+  c\n"), std::string::npos) << text;
  EXPECT_NE(to_text(align(a, b), true).find("\x1b[31m"), std::string::npos);
  base::Json json = to_json(align(a, b));
  EXPECT_EQ(json.find("rows")->items().size(), 3u);
  EXPECT_TRUE(json.find("rows")->items()[1].find("candidate")->is_null());
}

// "+d 7": the rows that differ, with how often the side that has them executed them.
std::string differing(const SideBySide& both) {
  std::string text;
  for (const AlignedRow& row : differing_rows(both)) {
    const AnnotatedRow& shown =
        row.candidate ? both.candidate.rows[*row.candidate] : both.baseline.rows[*row.baseline];
    text += (text.empty() ? "" : " ") +
            std::string(!row.candidate  ? "-"
                        : !row.baseline ? "+"
                                        : "") +
            shown.assembly;
  }
  return text;
}

Annotation counted_listing(std::vector<std::string> instructions, std::vector<uint64_t> executed,
                           uint64_t work) {
  Annotation annotation = listing(std::move(instructions));
  annotation.counted = true;
  annotation.work = work;
  for (size_t i = 0; i < executed.size(); ++i) annotation.rows[i].executed = executed[i];
  return annotation;
}

TEST(SideBySide, WhatDiffersMostExecutedFirst) {
  SideBySide both = align(counted_listing({"a", "b", "c", "d"}, {10, 20, 30, 0}, 10),
                          counted_listing({"a", "x", "c", "e"}, {20, 90, 61, 0}, 20));
  EXPECT_EQ(differing(both), "+x c -b") << "a is as often per unit of work; d and e never ran";
  both = align(listing({"a", "b"}), listing({"a", "c"}));
  EXPECT_EQ(differing(both), "-b +c") << "nothing was counted";
  EXPECT_EQ(differing(align(listing({"a"}), listing({"a"}))), "");
}

}  // namespace
}  // namespace wago::diff
