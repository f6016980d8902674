#include "codegen/build/scan.h"

#include "runtime/code_reader.h"

namespace wago::codegen {

using runtime::Instruction;
using runtime::Opcode;

void BodyScan::run(const runtime::Module& module, const runtime::FunctionBody& body, uint32_t local_count) {
  constructs_.clear();
  found_.clear();
  open_.clear();
  auto mark = [this](uint32_t depth) {
    if (depth < open_.size()) constructs_[open_[open_.size() - 1 - depth]].branched = true;
  };
  runtime::BodyReader reader = runtime::read_body(module, body);
  for (Instruction instruction; !reader.at_end();) {
    reader.next(instruction);
    switch (instruction.opcode) {
      case Opcode::Block:
      case Opcode::Loop:
      case Opcode::If:
        open_.push_back(static_cast<uint32_t>(constructs_.size()));
        constructs_.emplace_back();
        break;
      case Opcode::Else:
        constructs_[open_.back()].has_else = true;
        break;
      case Opcode::End:
        if (open_.empty()) break;
        constructs_[open_.back()].end_pc = instruction.pc;
        open_.pop_back();
        break;
      case Opcode::Br:
      case Opcode::BrIf:
        mark(instruction.a);
        break;
      case Opcode::BrTable: {
        runtime::Labels labels(instruction);
        for (uint64_t i = 0; i <= instruction.a; ++i) mark(labels.next());
        break;
      }
      case Opcode::LocalSet:
      case Opcode::LocalTee:
        found_.push_back({instruction.a, instruction.pc});
        break;
      default:
        break;
    }
  }
  sort_assignments(local_count);
}

// Counting sort by local; order within a local stays.
void BodyScan::sort_assignments(uint32_t local_count) {
  begin_.assign(local_count + 1, 0);
  for (const Assignment& a : found_) ++begin_[a.local + 1];
  for (uint32_t i = 0; i < local_count; ++i) begin_[i + 1] += begin_[i];
  pcs_.resize(found_.size());
  // begin_[x] moves to x's end while it fills, which is where x + 1 begins: shifted back afterwards.
  for (const Assignment& a : found_) pcs_[begin_[a.local]++] = a.pc;
  for (uint32_t i = local_count; i > 0; --i) begin_[i] = begin_[i - 1];
  begin_[0] = 0;
}

}  // namespace wago::codegen
