// C++ types for WebAssembly's: host functions from C++ callables, and functions called as C++ functions.
//
//   int32_t, uint32_t       i32          float, double            f32, f64
//   int64_t, uint64_t       i64          V128                     v128
//   ExternRef               externref    std::optional<Function>  funcref, counted; nullopt is null
//
// A function's results are void, one of these, or a std::tuple of them. A host callable may take a Caller
// first. It may return its results bare; as Result<...>, whose error's sentence becomes a trap; as
// TypedResult<...>, which passes a trap on; or, without results, CallResult. What it throws becomes a trap.
//
// Cost: the callable's own call, its arguments read from slots and its results written to slots; nothing is
// allocated, and only function references are looked up.
//
// Included by <wago/wago.h>.
#pragma once

#include <wago/wago.h>

#include <bit>
#include <concepts>
#include <tuple>

namespace wago {

// 16 bytes, byte 0 lowest; lanes by std::bit_cast.
struct alignas(16) V128 {
  uint64_t low = 0, high = 0;
  bool operator==(const V128&) const = default;
};
// A reference of the host's: a number the guest can only keep and give back; 0 is null.
struct ExternRef {
  Slot handle = 0;
  bool operator==(const ExternRef&) const = default;
};

namespace runtime {

// The function behind a reference in a slot that the guest gave, which therefore lives.
std::optional<Function> function_in_slot(Slot reference);
// Whether it is null or refers to a living function.
bool is_function_or_null(Slot reference);
// A call whose result is neither.
Trap dead_result();
// What the running host function gives its guest, which may keep it: links their stores.
void give_to_guest(Slot reference);
// A trap of this sentence to raise; owned by its receiver.
Trap* new_trap(std::string message);
Trap* new_trap(const Trap& trap);
// "wanted as (i32) -> (i64), but the function is (i32) -> (i32)"
Error signature_mismatch(const FuncType& wanted, const FuncType& found);
Error global_mismatch(ValueType wanted, ValueType found);

template <class T>
struct ValueTraits;  // of a type that is not listed above: there is no such WebAssembly type

template <class T, ValueType Type>
struct NumberTraits {
  static constexpr ValueType kType = Type;
  static T load(const Slot* slot) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(*slot);
    } else {
      return std::bit_cast<T>(static_cast<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>(*slot));
    }
  }
  static void store(Slot* slot, T value) {
    *slot = std::bit_cast<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>(value);
  }
};
template <class T>
requires(std::integral<T> && (sizeof(T) == 4 || sizeof(T) == 8) && !std::same_as<T, wchar_t> &&
         !std::same_as<T, char32_t>) struct ValueTraits<T>
    : NumberTraits<T, sizeof(T) == 4 ? ValueType::I32 : ValueType::I64> {
};
template <>
struct ValueTraits<float> : NumberTraits<float, ValueType::F32> {};
template <>
struct ValueTraits<double> : NumberTraits<double, ValueType::F64> {};
template <>
struct ValueTraits<V128> {
  static constexpr ValueType kType = ValueType::V128;
  static V128 load(const Slot* slots) { return {slots[0], slots[1]}; }
  static void store(Slot* slots, const V128& value) {
    slots[0] = value.low;
    slots[1] = value.high;
  }
};
template <>
struct ValueTraits<ExternRef> {
  static constexpr ValueType kType = ValueType::ExternRef;
  static ExternRef load(const Slot* slot) { return {*slot}; }
  static void store(Slot* slot, ExternRef value) { *slot = value.handle; }
};
template <>
struct ValueTraits<std::optional<Function>> {
  static constexpr ValueType kType = ValueType::FuncRef;
  static std::optional<Function> load(const Slot* slot) { return function_in_slot(*slot); }
  static void store(Slot* slot, const std::optional<Function>& value) {
    *slot = value ? value->reference() : 0;
  }
};

// A list of values as consecutive slots.
template <class... T>
struct ValueList {
  static constexpr uint32_t kSlots = (0u + ... + slots_of(ValueTraits<T>::kType));
  static std::vector<ValueType> types() { return {ValueTraits<T>::kType...}; }
  // The slot at which each value starts.
  template <size_t Index>
  static constexpr uint32_t offset() {
    constexpr uint32_t kSizes[] = {slots_of(ValueTraits<T>::kType)..., 0};
    uint32_t sum = 0;
    for (size_t i = 0; i < Index; ++i) sum += kSizes[i];
    return sum;
  }
  static std::tuple<T...> load(const Slot* slots) { return load(slots, std::index_sequence_for<T...>()); }
  static void store(Slot* slots, const T&... values) {
    store(slots, std::index_sequence_for<T...>(), values...);
  }
  static void give_functions(const Slot* slots) { give_functions(slots, std::index_sequence_for<T...>()); }
  static constexpr bool kHasFunctions = (false || ... || (ValueTraits<T>::kType == ValueType::FuncRef));
  static bool functions_live(const Slot* slots) {
    return functions_live(slots, std::index_sequence_for<T...>());
  }

 private:
  template <size_t... Index>
  static std::tuple<T...> load([[maybe_unused]] const Slot* slots, std::index_sequence<Index...>) {
    return std::tuple<T...>{ValueTraits<T>::load(slots + offset<Index>())...};
  }
  template <size_t... Index>
  static void store([[maybe_unused]] Slot* slots, std::index_sequence<Index...>, const T&... values) {
    (ValueTraits<T>::store(slots + offset<Index>(), values), ...);
  }
  template <size_t... Index>
  static void give_functions([[maybe_unused]] const Slot* slots, std::index_sequence<Index...>) {
    ((ValueTraits<T>::kType == ValueType::FuncRef ? give_to_guest(slots[offset<Index>()]) : void()), ...);
  }
  template <size_t... Index>
  static bool functions_live(const Slot* slots, std::index_sequence<Index...>) {
    return ((ValueTraits<T>::kType != ValueType::FuncRef || is_function_or_null(slots[offset<Index>()])) &&
            ...);
  }
};

// What a function returns, as a list.
template <class R>
struct ResultsOf {
  using List = ValueList<R>;
  static void store(Slot* slots, const R& value) { List::store(slots, value); }
  static R load(const Slot* slots) { return ValueTraits<R>::load(slots); }
};
template <>
struct ResultsOf<void> {
  using List = ValueList<>;
};
template <class... T>
struct ResultsOf<std::tuple<T...>> {
  using List = ValueList<T...>;
  static void store(Slot* slots, const std::tuple<T...>& values) {
    std::apply([&](const T&... each) { List::store(slots, each...); }, values);
  }
  static std::tuple<T...> load(const Slot* slots) { return List::load(slots); }
};

template <class Args, class R>
FuncType signature_of() {
  return {Args::types(), ResultsOf<R>::List::types()};
}

}  // namespace runtime

// The outcome of a typed call: a value, or the guest trapped.
template <class T>
class [[nodiscard]] TypedResult {
 public:
  TypedResult(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  TypedResult(Trap trap) : state_(std::in_place_index<1>, std::move(trap)) {}
  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const T& value() const {
    WAGO_CHECK_MSG(ok(), ok() ? nullptr : std::get<1>(state_).message.c_str());
    return std::get<0>(state_);
  }
  const T& operator*() const { return value(); }
  const Trap& trap() const {
    WAGO_CHECK_MSG(!ok(), "the call did not trap");
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Trap> state_;
};

// A function called as R(Args...). Calling it costs what Function::call costs. Functions among the results
// live when they are given, though a host function may drop every other handle to them meanwhile; one that
// only a host function held, called without a guest between, is gone when that returns, and the outcome is a
// trap.
template <class R, class... Args>
class TypedFunction<R(Args...)> {
 public:
  using Outcome = std::conditional_t<std::is_void_v<R>, CallResult, TypedResult<R>>;

  Outcome operator()(const Args&... args) const {
    using ArgList = runtime::ValueList<Args...>;
    using Results = runtime::ResultsOf<R>;
    Slot arg_slots[ArgList::kSlots + 1];
    Slot result_slots[Results::List::kSlots + 1];
    ArgList::store(arg_slots, args...);
    // Keeps what the results refer to until they are handles.
    [[maybe_unused]] std::conditional_t<Results::List::kHasFunctions, std::shared_ptr<runtime::Store>, bool>
        kept{};
    if constexpr (Results::List::kHasFunctions) kept = function_.store();
    CallResult outcome = function_.call({arg_slots, ArgList::kSlots}, {result_slots, Results::List::kSlots});
    if constexpr (std::is_void_v<R>) {
      return outcome;
    } else {
      if (!outcome) return outcome.trap();
      if constexpr (Results::List::kHasFunctions) {
        if (!Results::List::functions_live(result_slots)) return runtime::dead_result();
      }
      return Results::load(result_slots);
    }
  }
  const Function& function() const { return function_; }

 private:
  friend class Function;
  explicit TypedFunction(Function function) : function_(std::move(function)) {}
  Function function_;
};

template <class Signature>
Result<TypedFunction<Signature>> Function::typed() const {
  const FuncType wanted = []<class R, class... Args>(std::type_identity<R(Args...)>) {
    return runtime::signature_of<runtime::ValueList<Args...>, R>();
  }(std::type_identity<Signature>());
  if (wanted != type()) return runtime::signature_mismatch(wanted, type());
  return TypedFunction<Signature>(*this);
}

template <class T>
Result<T> Global::get() const {
  using Traits = runtime::ValueTraits<T>;
  if (type().value != Traits::kType) return runtime::global_mismatch(Traits::kType, type().value);
  Slot slots[slots_of(Traits::kType)];
  get(std::span<Slot>(slots));
  return Traits::load(slots);
}

template <class T>
Result<void> Global::set(const T& value) const {
  using Traits = runtime::ValueTraits<T>;
  if (type().value != Traits::kType) return runtime::global_mismatch(Traits::kType, type().value);
  Slot slots[slots_of(Traits::kType)];
  Traits::store(slots, value);
  return set(std::span<const Slot>(slots));
}

namespace runtime {

// What a host callable may return: results bare, or results or a reason to trap. Both write the results and
// give the trap.
template <class R>
struct Returned {
  using Results = R;
  static Trap* finish(Slot* slots, const R& value) {
    ResultsOf<R>::store(slots, value);
    return nullptr;
  }
};
template <class R>
struct Returned<Result<R>> {
  using Results = R;
  static Trap* finish(Slot* slots, const Result<R>& result) {
    if (!result.ok()) return new_trap(result.error().to_string());
    if constexpr (!std::is_void_v<R>) ResultsOf<R>::store(slots, *result);
    return nullptr;
  }
};
template <class R>
struct Returned<TypedResult<R>> {
  using Results = R;
  static Trap* finish(Slot* slots, const TypedResult<R>& result) {
    if (!result.ok()) return new_trap(result.trap());
    ResultsOf<R>::store(slots, *result);
    return nullptr;
  }
};
template <>
struct Returned<CallResult> {
  using Results = void;
  static Trap* finish(Slot*, const CallResult& result) {
    return result.ok() ? nullptr : new_trap(result.trap());
  }
};

// A callable's parameters and results, from the type of its only operator().
template <class T>
struct CallableTraits : CallableTraits<decltype(&T::operator())> {};
template <class R, class... Args>
struct CallableTraits<R (*)(Args...)> {
  using Return = R;
  using Params = std::tuple<Args...>;
};
template <class R, class... Args>
struct CallableTraits<R (*)(Args...) noexcept> : CallableTraits<R (*)(Args...)> {};
template <class T, class R, class... Args>
struct CallableTraits<R (T::*)(Args...)> : CallableTraits<R (*)(Args...)> {};
template <class T, class R, class... Args>
struct CallableTraits<R (T::*)(Args...) const> : CallableTraits<R (*)(Args...)> {};
template <class T, class R, class... Args>
struct CallableTraits<R (T::*)(Args...) noexcept> : CallableTraits<R (*)(Args...)> {};
template <class T, class R, class... Args>
struct CallableTraits<R (T::*)(Args...) const noexcept> : CallableTraits<R (*)(Args...)> {};

// The thunk between slots and a callable with these parameters, behind a Caller or not.
template <class Callable, class R, bool WithCaller, class... Args>
struct HostThunk {
  using List = ValueList<std::remove_cvref_t<Args>...>;

  static FuncType type() {
    if constexpr (std::is_void_v<R>) {
      return signature_of<List, void>();
    } else {
      return signature_of<List, typename Returned<R>::Results>();
    }
  }
  static Trap* invoke(void* state, const Caller& caller, Slot* slots) {
    return call(*static_cast<Callable*>(state), caller, slots, std::index_sequence_for<Args...>());
  }

 private:
  template <size_t... Index>
  static Trap* call(Callable& callable, [[maybe_unused]] const Caller& caller, [[maybe_unused]] Slot* slots,
                    std::index_sequence<Index...>) {
    auto run = [&]() -> R {
      if constexpr (WithCaller) {
        return callable(
            caller, ValueTraits<std::remove_cvref_t<Args>>::load(slots + List::template offset<Index>())...);
      } else {
        return callable(
            ValueTraits<std::remove_cvref_t<Args>>::load(slots + List::template offset<Index>())...);
      }
    };
    if constexpr (std::is_void_v<R>) {
      run();
      return nullptr;
    } else {
      const R returned = run();
      Trap* trap = Returned<R>::finish(slots, returned);
      // While what was returned still holds them.
      if (!trap) ResultsOf<typename Returned<R>::Results>::List::give_functions(slots);
      return trap;
    }
  }
};

template <class Callable, class R, class Params>
struct ThunkFor;
template <class Callable, class R, class... Args>
struct ThunkFor<Callable, R, std::tuple<Args...>> {
  using Type = HostThunk<Callable, R, false, Args...>;
};
template <class Callable, class R, class First, class... Args>
requires std::same_as<std::remove_cvref_t<First>, Caller>
struct ThunkFor<Callable, R, std::tuple<First, Args...>> {
  using Type = HostThunk<Callable, R, true, Args...>;
};

template <class Callable>
Result<Function> make_typed_host_function(const std::shared_ptr<EngineData>& engine, Callable callable,
                                          std::string name) {
  using Traits = CallableTraits<Callable>;
  using Thunk = typename ThunkFor<Callable, typename Traits::Return, typename Traits::Params>::Type;
  HostBody body;
  body.invoke = Thunk::invoke;
  body.state = {new Callable(std::move(callable)), [](void* state) { delete static_cast<Callable*>(state); }};
  return make_host_function(engine, Thunk::type(), std::move(body), std::move(name));
}

}  // namespace runtime

template <class Callable>
Result<Function> Function::host(const Engine& engine, Callable callable) {
  return runtime::make_typed_host_function(engine.data(), std::move(callable), "host function");
}

template <class Callable>
Result<void> Linker::define_host(std::string module, std::string name, Callable callable) {
  auto function = runtime::make_typed_host_function(engine(), std::move(callable), module + "." + name);
  if (!function) return function.error();
  define(std::move(module), std::move(name), *std::move(function));
  return {};
}

}  // namespace wago
