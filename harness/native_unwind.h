// Unwinding native frames by the tables that compilers leave in every object for exceptions (.eh_frame), so
// that code without frame pointers - the C library, libraries that were linked in - is walked as exactly as
// our own.
//
// The tables are found when the object is created and read where they lie; what is read then is memory of
// loaded objects, which are kept loaded, and words of a stack between given bounds. A step takes no lock and
// allocates nothing: it may be taken in a signal handler. Only rip, rsp and rbp are followed; a frame that
// can be found by no means of theirs is not stepped out of.
//
// Encoding: "DWARF Extensions" and "The .eh_frame section" of the Linux Standard Base, DWARF 5 section 6.4.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wago::harness {

// Stack memory that may be read: [low, high), and the alternate signal stack if there is one.
struct StackMemory {
  uint64_t low = 0, high = 0;
  uint64_t signal_low = 0, signal_high = 0;

  bool holds(uint64_t address) const {
    return (low <= address && address < high && high - address >= 8) ||
           (signal_low <= address && address < signal_high && signal_high - address >= 8);
  }
  // The word at `address`; false outside the stack.
  bool load(uint64_t address, uint64_t& word) const;
};

// What a frame is known by.
struct FrameRegisters {
  uint64_t pc = 0;
  uint64_t sp = 0;
  uint64_t fp = 0;
  // pc is the next instruction of the frame, not the return address of a call that it made: it is where a
  // signal interrupted it.
  bool interrupted = false;

  // An address inside the instruction that the frame is executing.
  uint64_t at() const { return interrupted ? pc : pc - 1; }
};

// An object that is loaded: the program, a library, the kernel's page.
struct LoadedObject {
  std::string path;             // empty: the program itself
  uint64_t base = 0;            // what is added to addresses in the file
  uint64_t begin = 0, end = 0;  // its executable addresses
  // Its table of .eh_frame_hdr: pairs of code address and entry, relative to the header; sorted.
  const uint8_t* header = nullptr;
  const uint8_t* table = nullptr;
  uint64_t entries = 0;
  uint64_t low = 0, high = 0;  // all its addresses
};

class NativeUnwinder {
 public:
  // Of the objects that are loaded now.
  NativeUnwinder();
  ~NativeUnwinder();
  NativeUnwinder(const NativeUnwinder&) = delete;
  NativeUnwinder& operator=(const NativeUnwinder&) = delete;

  // Makes `frame` its caller's. False, with `frame` as it was: not known.
  bool step(FrameRegisters& frame, const StackMemory& stack) const;
  // The object that holds the code, or nullptr.
  const LoadedObject* object_of(uint64_t pc) const;

 private:
  std::vector<LoadedObject> objects_;  // sorted by begin
  std::vector<void*> kept_;            // dlopen handles
};

}  // namespace wago::harness
