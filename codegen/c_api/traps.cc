// Traps and frames of <wasm.h>.
#include <algorithm>

#include "codegen/c_api/objects.h"

namespace wago::c_api {

wasm_trap_t* new_trap(StoreData& store, Trap trap) {
  return static_cast<wasm_trap_t*>(store.handle(Subject(std::move(trap))));
}

wasm_trap_t* new_trap(StoreData& store, std::string message) {
  Trap trap;
  trap.code = TrapCode::Host;
  trap.message = std::move(message);
  return new_trap(store, std::move(trap));
}

namespace {

// Holds the instance, which the frame of a trap does not.
wasm_frame_t* new_frame(StoreData& store, const Frame& frame) {
  auto made = std::make_unique<wasm_frame_t>();
  made->frame = frame;
  if (auto instance = frame.instance())
    made->instance.reset(static_cast<wasm_instance_t*>(store.handle(Subject(*std::move(instance)))));
  return made.release();
}

}  // namespace

}  // namespace wago::c_api

using namespace wago;
using namespace wago::c_api;

wasm_trap_t* wasm_trap_new(wasm_store_t* store, const wasm_message_t* message) {
  std::string text(message->data, message->size);
  if (!text.empty() && text.back() == '\0') text.pop_back();
  return new_trap(*store->data, std::move(text));
}

void wasm_trap_message(const wasm_trap_t* trap, wasm_message_t* out) {
  const std::string& message = trap->subject<Trap>().message;
  *out = new_name(std::string_view(message.c_str(), message.size() + 1));
}

// Host frames have no place in a module.
void wasm_trap_trace(const wasm_trap_t* trap, wasm_frame_vec_t* out) {
  std::vector<wasm_frame_t*> frames;
  for (const Frame& frame : trap->subject<Trap>().frames) {
    if (!frame.host) frames.push_back(new_frame(*trap->store, frame));
  }
  wasm_frame_vec_new(out, frames.size(), frames.data());
}

wasm_frame_t* wasm_trap_origin(const wasm_trap_t* trap) {
  const std::vector<Frame>& frames = trap->subject<Trap>().frames;
  auto origin = std::find_if(frames.begin(), frames.end(), [](const Frame& frame) { return !frame.host; });
  return origin == frames.end() ? nullptr : new_frame(*trap->store, *origin);
}

wasm_frame_t* wasm_frame_copy(const wasm_frame_t* frame) {
  return new wasm_frame_t{frame->frame,
                          std::unique_ptr<wasm_instance_t>(wasm_instance_copy(frame->instance.get()))};
}
void wasm_frame_delete(wasm_frame_t* frame) {
  delete frame;
}
wasm_instance_t* wasm_frame_instance(const wasm_frame_t* frame) {
  return frame->instance.get();
}
uint32_t wasm_frame_func_index(const wasm_frame_t* frame) {
  return frame->frame.function;
}
size_t wasm_frame_func_offset(const wasm_frame_t* frame) {
  return frame->frame.wasm_pc;
}
size_t wasm_frame_module_offset(const wasm_frame_t* frame) {
  return frame->frame.module_offset;
}
