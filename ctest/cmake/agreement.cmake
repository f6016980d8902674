# CMake checks values when a project is configured, the programs when they read them: here both are asked about the same ones, and
# must agree. Run as: cmake -DSOURCE=<root> -DWORK=<dir> -DPROGRAM=<wago-profile> -P agreement.cmake
include("${CMAKE_CURRENT_LIST_DIR}/project.cmake")

# <what> <value>: good values, then bad ones.
set(good
  "duration 250ms" "duration 15s" "duration 1m30s" "duration 1h1m1s1ms1us1ns" "duration 1.5s" "duration 1m0.25s" "duration 1ns"
  "duration 0s1ns" "duration 2562047h47m16s854ms775us807ns" "duration 0.00000000001h" "duration 1.500000000000s" "duration 007s"
  "duration 2562047.5h" "duration 0m1s"
  "iterations 1" "iterations 18446744073709551615" "warmup 0" "warmup 18446744073709551615" "level 0" "level 1"
  "name a" "name 9" "name A.b_c-d" "name fib2"
  "slot 0" "slot 18446744073709551615" "slot 0xffffffffffffffff" "slot 0o1777777777777777777777" "slot 0b101" "slot 007"
  "slot 0x0000000000000000000001"
  "slot i32:-2147483648" "slot i32:4294967295" "slot i32:0xffffffff" "slot i32:-0x80000000" "slot i32:+7" "slot i32:0XFF"
  "slot i32:0o37777777777" "slot i32:0b11111111111111111111111111111111" "slot i32:-0b1" "slot i32:-0"
  "slot i64:-9223372036854775808" "slot i64:18446744073709551615" "slot i64:-0o1000000000000000000000"
  "slot f32:1.5" "slot f32:-.5" "slot f32:5." "slot f32:1e-3" "slot f64:1E5" "slot f64:0x1.8p-3" "slot f64:0x.8p3" "slot f64:0xap0"
  "slot f64:inf" "slot f64:-infinity" "slot f32:nan" "slot f32:-nan" "slot f32:nan:0x7fffff" "slot f64:nan:0xfffffffffffff"
  "slot v128:0x0" "slot v128:0x0f0e0d0c0b0a09080706050403020100"
  "percent 0" "percent 0.25" "percent .5" "percent 5." "percent 1%" "percent 1 %" "percent 99.99" "percent 007"
  "confidence 0.5" "confidence .99" "confidence 0.99999")
set(bad
  "duration 0s" "duration 0h0.0s" "duration 30s1m" "duration 1s1s" "duration 5" "duration s" "duration 1.5" "duration -1s"
  "duration 1.5m1s" "duration 1d" "duration 0.5ns" "duration 0.0000000001s" "duration 2562048h" "duration 9223372036854775808ns"
  "duration 2562047h47m16s854ms775us808ns" "duration 99999999999999999999999h" "duration 1 s" "duration .5s" "duration 1.s"
  "iterations 0" "iterations 18446744073709551616" "iterations 99999999999999999999999" "iterations -1" "iterations 1.5"
  "iterations 1e3" "warmup 18446744073709551616" "level 2" "level 9" "level -1"
  "name c++" "name _a" "name -x" "name .a" "name a/b" "name a:b"
  "slot -1" "slot twenty" "slot 18446744073709551616" "slot 99999999999999999999999" "slot 0x10000000000000000"
  "slot 0o2000000000000000000000" "slot 0x" "slot 0XFF" "slot 1.5" "slot i8:1" "slot i32:" "slot i32:ten" "slot i32:--1"
  "slot i32:99999999999" "slot i32:009000000000" "slot i32:4294967296" "slot i32:-2147483649" "slot i32:0x100000000" "slot i32:-0x80000001"
  "slot i64:18446744073709551616" "slot i64:-9223372036854775809" "slot i32:1.5"
  "slot f32:" "slot f32:." "slot f32:1e" "slot f32:one" "slot f32:nan:0x0" "slot f32:nan:0x800000" "slot f32:nan:8"
  "slot f64:nan:0x10000000000000" "slot f64:0x" "slot f64:1.5.5" "slot v128:0" "slot v128:0x" "slot v128:0xg"
  "slot v128:0x00f0e0d0c0b0a09080706050403020100"
  "percent -1" "percent 100" "percent 1000" "percent ." "percent %" "percent one" "percent 1e1" "percent 0x1" "percent +1" "percent 1%%"
  "percent nan" "confidence 0.4" "confidence 1" "confidence 0.999999" "confidence 99%" "confidence 9e-1" "confidence -0.9")
string(REPEAT a 200 longest)
list(APPEND good "name ${longest}")
list(APPEND bad "name ${longest}a")

# One project asks the module about all of them: a refusal is noted and ends the check, not the project, as a macro can.
set(body "macro(_wago_refuse)\n  set_property(GLOBAL PROPERTY refused TRUE)\n  return()\nendmacro()
function(ask what value)
  set_property(GLOBAL PROPERTY refused FALSE)
  if(what STREQUAL slot)
    _wago_check_slot(ARGS \"\${value}\")
  elseif(what STREQUAL name)
    _wago_check_name(\"\${value}\")
  elseif(what STREQUAL percent)
    _wago_check_percent(FLOOR \"\${value}\" number)
  elseif(what STREQUAL confidence)
    set(arg_CONFIDENCE \"\${value}\")
    _wago_verdict_flags(flags)
  else()
    string(TOUPPER \"\${what}\" keyword)
    set(arg_\${keyword} \"\${value}\")
    _wago_settings(json)
  endif()
  get_property(refused GLOBAL PROPERTY refused)
  file(APPEND \"\${CMAKE_BINARY_DIR}/answers\" \"\${refused} \${what} \${value}\\n\")
endfunction()\n")
foreach(case IN LISTS good bad)
  string(REGEX MATCH "^([a-z]+) (.*)$" matched "${case}")
  string(APPEND body "ask(${CMAKE_MATCH_1} \"${CMAKE_MATCH_2}\")\n")
endforeach()
configure_project(agreement code text "${body}")
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${text}")
endif()
file(STRINGS "${WORK}/agreement/build/answers" answers)

# The program reads a catalog with the value. Its module does not exist: a good catalog is refused for that, and for nothing else;
# a duration that takes too long to measure is not asked for.
function(ask_program what value result)
  set(id w)
  set(args 1)
  set(setting "")
  if(what STREQUAL slot)
    set(args "\"${value}\"")
  elseif(what STREQUAL name)
    set(id "${value}")
  elseif(what STREQUAL duration)
    set(setting "\"duration\": \"${value}\",")
  else()
    set(setting "\"${what}\": ${value},")
  endif()
  file(WRITE "${WORK}/one.json" "{\"version\": 1, \"workloads\": [{\"id\": \"${id}\", ${setting} \"module\": \"absent.wasm\",
    \"calls\": [{\"export\": \"f\", \"args\": [${args}], \"want\": []}]}]}")
  execute_process(COMMAND "${PROGRAM}" profile record --catalog "${WORK}/one.json" --workload=${id} --iterations 1 --out "${WORK}/never"
    OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(text MATCHES "absent.wasm: cannot be read")
    set(${result} FALSE PARENT_SCOPE)
  else()
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Of how an experiment is read.
function(ask_reading what value result)
  if(what STREQUAL percent)
    set(flags "--floor=${value}" --margin 99.999)
  else()
    set(flags "--confidence=${value}")
  endif()
  execute_process(COMMAND "${PROGRAM}" profile report "${WORK}/absent.wagoexp" ${flags} OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(text MATCHES "absent.wagoexp: there is no such experiment")
    set(${result} FALSE PARENT_SCOPE)
  else()
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

set(count 0)
foreach(case IN LISTS good bad)
  string(REGEX MATCH "^([a-z]+) (.*)$" matched "${case}")
  set(what "${CMAKE_MATCH_1}")
  set(value "${CMAKE_MATCH_2}")
  if(what STREQUAL percent OR what STREQUAL confidence)
    ask_reading("${what}" "${value}" refused)
  else()
    ask_program("${what}" "${value}" refused)
  endif()
  list(GET answers ${count} answer)
  math(EXPR count "${count} + 1")
  if(case IN_LIST good)
    set(wanted FALSE)
  else()
    set(wanted TRUE)
  endif()
  if(NOT refused STREQUAL wanted)
    message(SEND_ERROR "the program: refused ${refused}, wanted ${wanted}: ${case}")
  endif()
  if(NOT answer STREQUAL "${wanted} ${case}")
    message(SEND_ERROR "CMake: \"${answer}\", wanted \"${wanted} ${case}\"")
  endif()
endforeach()
message(STATUS "${count} values")
