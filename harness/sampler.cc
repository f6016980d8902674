#include "harness/sampler.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>

#include "base/check.h"
#include "base/clock.h"
#include "base/process.h"
#include "harness/stack_walk.h"
#include "runtime/abi.h"

namespace wago::harness {

namespace {

// Before a sample's addresses: when, CPU time, and how many with kCompleteBit.
constexpr size_t kHeaderWords = 3;
constexpr uint64_t kCompleteBit = uint64_t{1} << 32;
// Deeper stacks are cut off at their root.
constexpr size_t kMaxFrames = 8192;

int open_event_of_kernel(perf_event_attr& attributes) {
  constexpr int kThisThread = 0, kAnyProcessor = -1, kNoGroup = -1;
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, kThisThread, kAnyProcessor, kNoGroup,
                                    PERF_FLAG_FD_CLOEXEC));
}

std::string reason() {
  return std::strerror(errno);
}

StackMemory stack_of_this_thread() {
  StackMemory stack;
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return stack;
  void* low = nullptr;
  size_t bytes = 0;
  if (::pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
    stack.low = reinterpret_cast<uint64_t>(low);
    stack.high = stack.low + bytes;
  }
  ::pthread_attr_destroy(&attributes);
  return stack;
}

// Where this function's caller is, to begin a walk.
__attribute__((always_inline)) inline FrameRegisters here() {
  FrameRegisters frame;
  asm volatile("lea 0(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2"
               : "=&r"(frame.pc), "=&r"(frame.sp), "=&r"(frame.fp));
  frame.interrupted = true;
  return frame;
}

struct sigaction previous_action;

// A perf event's SIGTRAP: TRAP_PERF of <asm-generic/siginfo.h>, which the C library's headers lack.
constexpr int kTrapOfEvent = 6;
// What ours carry, to tell them from others': this address.
constexpr char kOurEvents = 0;

// The word that an event asked for as sig_data. The C library has no name for it: it lies behind the address
// (<asm-generic/siginfo.h>, _sigfault._perf._data).
uint64_t event_data_of(const siginfo_t& info) {
  uint64_t data;
  std::memcpy(&data, reinterpret_cast<const char*>(&info) + offsetof(siginfo_t, si_addr) + sizeof(void*),
              sizeof data);
  return data;
}

// Whether the kernel sends an event's SIGTRAP without an interrupt of its own. It does since 6.11. From 5.13
// on it can be asked for, but gains nothing, and ends the process where the thread had blocked it (5.17).
bool traps_are_cheap() {
  utsname system{};
  unsigned major = 0, minor = 0;
  return ::uname(&system) == 0 && std::sscanf(system.release, "%u.%u", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 11));
}

// What waited for it comes at once, rather than later when nobody expects it any more.
void unblock(int signal, sigset_t* before = nullptr) {
  sigset_t ours;
  ::sigemptyset(&ours);
  ::sigaddset(&ours, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &ours, before);
}

}  // namespace

struct Sampler::Thread {
  ~Thread() {
    if (words) ::munmap(words, capacity * 8);
  }

  static void handle(int signal, siginfo_t* info, void* context);
  // In the handler, on this thread.
  void take(const ucontext_t& context);
  StackMemory stack_around(uint64_t sp) const;

  // What the handler uses, on this thread while it is sampled.
  const NativeUnwinder* native = nullptr;
  uint64_t root_end = 0;
  StackMemory stack;
  uint64_t* words = nullptr;
  size_t capacity = 0;
  size_t used = 0;
  uint64_t last_cpu_ns = 0;
  uint64_t lost = 0;
  int event = -1;

  uint32_t number = 0;  // of threads_
  bool in_use = false;
  timer_t timer{};
  sigset_t mask_before{};
  uint64_t begun_cpu_ns = 0;
  uint64_t cpu_ns = 0;
};

namespace {
// Of the thread that is sampled; read by the handler.
constinit thread_local void* sampled_thread __attribute__((tls_model("initial-exec"))) = nullptr;
}  // namespace

StackMemory Sampler::Thread::stack_around(uint64_t sp) const {
  StackMemory around = stack;
  if (around.holds(sp)) return around;
  // A guest on a stack that its host switched to.
  const runtime::ThreadState& state = runtime::thread_state;
  const StackMemory entered{state.stack_low, state.stack_low + state.stack_bytes};
  if (entered.holds(sp)) return entered;
  // Another signal's handler was interrupted.
  stack_t alternate{};
  if (::sigaltstack(nullptr, &alternate) == 0 && !(alternate.ss_flags & SS_DISABLE)) {
    if (state.stack_bytes > 0) around = entered;
    around.signal_low = reinterpret_cast<uint64_t>(alternate.ss_sp);
    around.signal_high = around.signal_low + alternate.ss_size;
  }
  return around;
}

void Sampler::Thread::take(const ucontext_t& context) {
  const uint64_t cpu = base::thread_cpu_ns();
  const uint64_t since = cpu - last_cpu_ns;
  last_cpu_ns = cpu;
  if (capacity - used < kHeaderWords + kMaxFrames) {
    ++lost;
    return;
  }
  const auto& registers = context.uc_mcontext.gregs;
  const FrameRegisters from{static_cast<uint64_t>(registers[REG_RIP]),
                            static_cast<uint64_t>(registers[REG_RSP]),
                            static_cast<uint64_t>(registers[REG_RBP]), true};
  const StackWalk walk =
      walk_stack(from, root_end, stack_around(from.sp), *native, {words + used + kHeaderWords, kMaxFrames});
  words[used] = base::monotonic_ns();
  words[used + 1] = since;
  words[used + 2] = walk.frames | (walk.complete ? kCompleteBit : 0);
  used += kHeaderWords + walk.frames;
}

void Sampler::Thread::handle(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  auto* thread = static_cast<Thread*>(sampled_thread);
  const bool trapped = signal == SIGTRAP && info->si_code == kTrapOfEvent &&
                       event_data_of(*info) == reinterpret_cast<uint64_t>(&kOurEvents);
  const bool ticked =
      trapped || (thread && ((info->si_code == POLL_IN && info->si_fd == thread->event) ||
                             (info->si_code == SI_TIMER && info->si_value.sival_ptr == thread)));
  if (ticked) {
    if (thread) thread->take(*static_cast<const ucontext_t*>(context));
  } else if (previous_action.sa_flags & SA_SIGINFO) {
    previous_action.sa_sigaction(signal, info, context);
  } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal);
  } else if (signal == SIGTRAP && previous_action.sa_handler == SIG_DFL) {
    // A breakpoint: ends the process as it would have without us.
    ::sigaction(signal, &previous_action, nullptr);
    ::raise(signal);
  }
  errno = saved_errno;
}

base::Result<std::unique_ptr<Sampler>> Sampler::create(SamplerSettings settings) {
  WAGO_CHECK(settings.period_ns > 0);
  if (!settings.open_event) settings.open_event = open_event_of_kernel;
  std::unique_ptr<Sampler> sampler(new Sampler(std::move(settings)));
  if (auto chosen = sampler->choose_clock(); !chosen) return chosen.error();
  struct sigaction action {};
  action.sa_sigaction = Thread::handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  sampler->handling_ = ::sigaction(sampler->signal_, &action, &previous_action) == 0;
  return sampler;
}

Sampler::Sampler(SamplerSettings settings)
    : settings_(std::move(settings)), signal_(traps_are_cheap() ? SIGTRAP : SIGPROF) {}

Sampler::~Sampler() {
  if (in_phase_) (void)end_phase();
  if (handling_) ::sigaction(signal_, &previous_action, nullptr);
}

namespace {

perf_event_attr event_attributes(uint64_t period_ns, int signal) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = period_ns;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;  // what an ordinary user may ask for
  attributes.exclude_hv = 1;
  if (signal == SIGTRAP) {
    attributes.sigtrap = 1;
    attributes.remove_on_exec = 1;  // goes with it
    attributes.sig_data = reinterpret_cast<uint64_t>(&kOurEvents);
  } else {
    attributes.wakeup_events = 1;
  }
  return attributes;
}

// 0, or why not.
int create_timer(timer_t& timer, int signal, void* value) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_value.sival_ptr = value;
  event._sigev_un._tid = ::gettid();
  return ::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0 ? 0 : errno;
}

}  // namespace

base::Result<void> Sampler::choose_clock() {
  for (const int signal : {signal_, SIGPROF}) {
    signal_ = signal;
    perf_event_attr attributes = event_attributes(settings_.period_ns, signal);
    const int event = settings_.open_event(attributes);
    if (event < 0) continue;
    ::close(event);
    return {};
  }
  refusal_ = reason();
  clock_ = SampleClock::ThreadTimer;
  timer_t timer{};
  if (const int refused = create_timer(timer, signal_, nullptr)) {
    return base::unmeasurable("the kernel gives no clock to sample by: perf events: " + refusal_ +
                              "; timers: " + std::strerror(refused));
  }
  ::timer_delete(timer);
  return {};
}

base::Result<void> Sampler::arm(Thread& thread) {
  if (clock_ == SampleClock::ThreadTimer) {
    if (const int refused = create_timer(thread.timer, signal_, &thread)) {
      return base::unmeasurable(std::string("the kernel refuses a timer for a thread: ") +
                                std::strerror(refused));
    }
    itimerspec every{};
    const auto period_ns = static_cast<int64_t>(settings_.period_ns);
    every.it_interval = every.it_value = {period_ns / 1'000'000'000, period_ns % 1'000'000'000};
    ::timer_settime(thread.timer, 0, &every, nullptr);
    return {};
  }
  perf_event_attr attributes = event_attributes(settings_.period_ns, signal_);
  thread.event = settings_.open_event(attributes);
  if (thread.event < 0) {
    return base::unmeasurable("the kernel refuses a perf event for a thread: " + reason());
  }
  const f_owner_ex owner{F_OWNER_TID, ::gettid()};
  const bool by_descriptor = signal_ != SIGTRAP;
  const bool delivered = (!by_descriptor || (::fcntl(thread.event, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 &&
                                             ::fcntl(thread.event, F_SETSIG, signal_) == 0 &&
                                             ::fcntl(thread.event, F_SETOWN_EX, &owner) == 0)) &&
                         ::ioctl(thread.event, PERF_EVENT_IOC_ENABLE, 0) == 0;
  if (delivered) return {};
  const std::string why = reason();
  ::close(thread.event);
  thread.event = -1;
  return base::unmeasurable("the kernel does not signal a perf event: " + why);
}

// Memory for a thread of that name: of one that has ended, or new.
base::Result<Sampler::Thread*> Sampler::claim(const std::string& name) {
  std::lock_guard lock(mutex_);
  uint32_t number = 0;
  while (number < threads_.size() && threads_[number].name != name) ++number;
  if (number == threads_.size()) threads_.push_back({static_cast<uint64_t>(::gettid()), name});
  for (const auto& known : all_) {
    if (known->number != number || known->in_use) continue;
    known->in_use = true;
    return known.get();
  }
  auto thread = std::make_unique<Thread>();
  thread->number = number;
  thread->native = &native_;
  void* memory = ::mmap(nullptr, settings_.bytes_per_thread, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return base::unmeasurable("no memory for samples: " + reason());
  thread->words = static_cast<uint64_t*>(memory);
  thread->capacity = settings_.bytes_per_thread / 8;
  thread->in_use = true;
  all_.push_back(std::move(thread));
  return all_.back().get();
}

base::Result<void> Sampler::start(Thread& thread, uint64_t root_end) {
  thread.root_end = root_end;
  thread.stack = stack_of_this_thread();
  // Whoever started this process may have left the signal blocked.
  unblock(signal_, &thread.mask_before);
  thread.last_cpu_ns = thread.begun_cpu_ns = base::thread_cpu_ns();
  sampled_thread = &thread;
  auto armed = arm(thread);
  if (!armed) {
    sampled_thread = nullptr;
    ::pthread_sigmask(SIG_SETMASK, &thread.mask_before, nullptr);
  }
  return armed;
}

void Sampler::stop(Thread& thread) {
  if (clock_ == SampleClock::ThreadTimer) {
    ::timer_delete(thread.timer);
  } else {
    ::ioctl(thread.event, PERF_EVENT_IOC_DISABLE, 0);
  }
  thread.cpu_ns += base::thread_cpu_ns() - thread.begun_cpu_ns;
  sampled_thread = nullptr;
  unblock(signal_);
  ::pthread_sigmask(SIG_SETMASK, &thread.mask_before, nullptr);
  if (thread.event >= 0) ::close(thread.event);
  thread.event = -1;
  std::lock_guard lock(mutex_);
  thread.in_use = false;
}

__attribute__((noinline)) base::Result<void> Sampler::begin_phase() {
  FrameRegisters frame = here();
  const StackMemory stack = stack_of_this_thread();
  if (!native_.step(frame, stack) || !native_.step(frame, stack)) {
    return base::unmeasurable("stacks cannot be walked: the program has no unwind tables");
  }
  auto thread = claim(settings_.first_thread);
  if (!thread) return thread.error();
  main_ = *thread;
  in_phase_ = true;
  base::observe_threads(this);
  auto started = start(*main_, frame.sp);
  if (started) return {};
  base::observe_threads(nullptr);
  in_phase_ = false;
  main_->in_use = false;
  return started;
}

base::Result<void> Sampler::end_phase() {
  stop(*main_);
  base::observe_threads(nullptr);
  in_phase_ = false;
  if (unsampled_threads_ == 0) return {};
  return base::unmeasurable(std::to_string(unsampled_threads_) +
                            " threads that worked in the phase could not be sampled");
}

// The root of a worker's stacks.
__attribute__((noinline)) void Sampler::run(const char* kind, unsigned worker,
                                            const std::function<void()>& work) {
  FrameRegisters frame = here();
  auto thread = claim(kind + (" " + std::to_string(worker)));
  const bool sampled =
      thread && native_.step(frame, stack_of_this_thread()) && start(**thread, frame.sp).ok();
  work();
  if (sampled) {
    stop(**thread);
    return;
  }
  std::lock_guard lock(mutex_);
  ++unsampled_threads_;
  if (thread) (*thread)->in_use = false;
}

std::vector<RawSample> Sampler::samples() const {
  const uint64_t period_ns = settings_.period_ns;
  std::vector<RawSample> samples;
  for (const auto& thread : all_) {
    for (size_t at = 0; at < thread->used;) {
      const uint64_t* words = thread->words + at;
      const auto frames = static_cast<uint32_t>(words[2]);
      RawSample sample{words[0],
                       words[1],
                       0,
                       thread->number,
                       (words[2] & kCompleteBit) != 0,
                       {words + kHeaderWords, frames}};
      // Ticks that fell into the kernel left nothing but their time.
      if (clock_ == SampleClock::PerfEvent && sample.cpu_ns >= period_ns + period_ns / 2) {
        sample.kernel_ns = sample.cpu_ns - period_ns;
        sample.cpu_ns = period_ns;
      }
      samples.push_back(sample);
      at += kHeaderWords + frames;
    }
  }
  std::stable_sort(samples.begin(), samples.end(),
                   [](const RawSample& a, const RawSample& b) { return a.monotonic_ns < b.monotonic_ns; });
  return samples;
}

uint64_t Sampler::lost_samples() const {
  uint64_t lost = 0;
  for (const auto& thread : all_) lost += thread->lost;
  return lost;
}

uint64_t Sampler::sampled_cpu_ns() const {
  uint64_t sum = 0;
  for (const auto& thread : all_) sum += thread->cpu_ns;
  return sum;
}

}  // namespace wago::harness
