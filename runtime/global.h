// A global: its type, and the cell generated code reads and writes. The cell of a global that an instance
// defines lies in that instance's context; of one made by the host, here.
#pragma once

#include <span>

#include "runtime/abi.h"
#include "runtime/store.h"

namespace wago::runtime {

class GlobalData final : public StoreMember {
 public:
  explicit GlobalData(const GlobalType& type) : type_(type), cell_(&own_cell_) {}
  GlobalData(const GlobalType& type, GlobalCell* cell) : type_(type), cell_(cell) {}

  const GlobalType& type() const { return type_; }
  GlobalCell* cell() { return cell_; }

 private:
  GlobalType type_;
  GlobalCell own_cell_;
  GlobalCell* cell_;
};

}  // namespace wago::runtime
