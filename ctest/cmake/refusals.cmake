# Every mistake in a declaration is an error when the project is configured, which names the function, the declaration and the
# cure. Run as: cmake -DSOURCE=<root> -DWORK=<dir> -P refusals.cmake
include("${CMAKE_CURRENT_LIST_DIR}/project.cmake")

set(failures 0)
set(count 0)

function(expect_refusal name body)
  configure_project(${name} code text "${body}")
  math(EXPR n "${count} + 1")
  set(count ${n} PARENT_SCOPE)
  if(code EQUAL 0)
    message(SEND_ERROR "${name}: accepted\n${body}")
    return()
  endif()
  foreach(fragment IN LISTS ARGN)
    string(FIND "${text}" "${fragment}" at)
    if(at EQUAL -1)
      message(SEND_ERROR "${name}: no \"${fragment}\" in\n${text}")
    endif()
  endforeach()
endfunction()

set(good "MODULE fib.wasm EXPORT fib ARGS 20 WANT 6765")

expect_refusal(unknown-keyword "wago_add_workload(fib BYTES 3 ${good})"
  "wago_add_workload(fib): \"BYTES\" is neither a keyword nor a keyword's value" "MODULE")
expect_refusal(missing-value "wago_add_workload(fib ${good} DURATION)" "wago_add_workload(fib): DURATION needs a value")
expect_refusal(empty-value "wago_add_workload(fib ${good} INIT \"\")" "wago_add_workload(fib): INIT needs a value")
expect_refusal(repeated-one "wago_add_workload(fib ${good} MODE public MODE prepared)" "MODE is given twice")
expect_refusal(repeated-many "wago_add_workload(fib ${good} WANT 7)" "WANT is given twice")
expect_refusal(no-module "wago_add_workload(fib EXPORT fib WANT 1)" "MODULE is missing")
expect_refusal(no-want "wago_add_workload(fib MODULE fib.wasm EXPORT fib)" "WANT is missing")
expect_refusal(want-and-trap "wago_add_workload(fib ${good} WANT_TRAP unreachable)" "WANT and WANT_TRAP exclude one another")
expect_refusal(iterations-and-duration "wago_add_workload(fib ${good} ITERATIONS 3 DURATION 1s)"
  "ITERATIONS and DURATION exclude one another")
expect_refusal(two-of-one-name "wago_add_workload(fib ${good})\nwago_add_workload(fib ${good})"
  "wago_add_workload(fib): catalog default has a workload fib already")
expect_refusal(not-a-slot "wago_add_workload(fib MODULE fib.wasm EXPORT fib ARGS twenty WANT 1)"
  "ARGS \"twenty\" is not a slot" "i32:")
expect_refusal(negative-slot "wago_add_workload(fib MODULE fib.wasm EXPORT fib ARGS -1 WANT 1)" "ARGS \"-1\" is not a slot")
expect_refusal(absent-module "wago_add_workload(fib MODULE absent.wasm EXPORT fib WANT 1)" "absent.wasm does not exist")
expect_refusal(directory-module "wago_add_workload(fib MODULE . EXPORT fib WANT 1)" "is a directory")
expect_refusal(target-without-file "add_custom_target(guest)\nwago_add_workload(fib MODULE guest EXPORT fib WANT 1)"
  "WAGO_MODULE")
expect_refusal(unknown-backend "wago_add_workload(fib ${good} BACKEND vtune)"
  "BACKEND \"vtune\" is not one of none, count, pprof, guest, perf, perf-map, samply")
expect_refusal(unknown-phase "wago_add_workload(fib ${good} PHASE run)"
  "PHASE \"run\" is not one of compile, reload, instantiate, initialize, execute, close, all")
expect_refusal(unknown-mode "wago_add_workload(fib ${good} MODE fast)" "MODE \"fast\" is not one of public, prepared")
expect_refusal(unknown-bounds "wago_add_workload(fib ${good} BOUNDS none)" "BOUNDS \"none\" is not one of signals, explicit")
expect_refusal(unknown-trap "wago_add_workload(t MODULE fib.wasm EXPORT fib WANT_TRAP oops)" "WANT_TRAP \"oops\" is not one of"
  "integer-divide-by-zero")
expect_refusal(bad-duration "wago_add_workload(fib ${good} DURATION soon)" "DURATION \"soon\" is not a duration such as 250ms")
expect_refusal(bad-iterations "wago_add_workload(fib ${good} ITERATIONS many)" "ITERATIONS \"many\" is not a whole number from 1 to")
expect_refusal(no-iterations "wago_add_workload(fib ${good} ITERATIONS 0)" "ITERATIONS \"0\" is not a whole number from 1 to 18446744073709551615")
expect_refusal(bad-name "wago_add_workload(\"a b\" ${good})" "'a b' is not a name: names have up to 200 letters")
expect_refusal(bad-catalog-name "wago_add_catalog(c++)" "wago_add_catalog(c++): 'c++' is not a name")
expect_refusal(bad-level "wago_add_workload(fib ${good} LEVEL 9)" "LEVEL \"9\" is not a whole number from 0 to 1")
expect_refusal(empty-list "wago_add_workload(fib MODULE fib.wasm EXPORT fib ARGS \"\" WANT 1)" "ARGS needs a value")
expect_refusal(slot-too-large "wago_add_workload(fib MODULE fib.wasm EXPORT fib ARGS i32:99999999999 WANT 1)"
  "ARGS \"i32:99999999999\" does not fit an i32")
expect_refusal(backend-twice "wago_add_workload(fib ${good} BACKEND none none)" "BACKEND none is named twice")
expect_refusal(property-without-value "wago_add_workload(fib ${good} PROPERTIES WILL_FAIL)"
  "PROPERTIES needs pairs of a name and a value")
expect_refusal(keyword-twice-before-properties "wago_add_workload(fib ${good} LEVEL 1 LEVEL 0 PROPERTIES LEVEL 3)"
  "LEVEL is given twice")
expect_refusal(unknown-catalog "wago_add_workload(fib ${good} CATALOG mine)" "call wago_add_catalog(mine) first")
expect_refusal(catalog-twice "wago_add_catalog(mine)\nwago_add_catalog(mine)" "wago_add_catalog(mine): this catalog is declared")
expect_refusal(catalog-absent "wago_add_catalog(mine FILE absent.json)" "absent.json does not exist")
expect_refusal(catalog-not-json "file(WRITE \${CMAKE_BINARY_DIR}/x.json nonsense)
wago_add_catalog(mine FILE \${CMAKE_BINARY_DIR}/x.json)" "is not a catalog")
expect_refusal(catalog-empty "file(WRITE \${CMAKE_BINARY_DIR}/x.json [=[{\"version\": 1, \"workloads\": []}]=])
wago_add_catalog(mine FILE \${CMAKE_BINARY_DIR}/x.json)" "x.json declares no workload")
expect_refusal(catalog-of-another-shape "file(WRITE \${CMAKE_BINARY_DIR}/x.json [=[{\"version\": 1, \"workloads\": {\"a\": 1}}]=])
wago_add_catalog(mine FILE \${CMAKE_BINARY_DIR}/x.json)" "x.json: workloads must be an array")
expect_refusal(catalog-entry "file(WRITE \${CMAKE_BINARY_DIR}/x.json
  [=[{\"version\": 1, \"workloads\": [{\"id\": \"_a\", \"module\": \"fib.wasm\"}]}]=])
wago_add_catalog(mine FILE \${CMAKE_BINARY_DIR}/x.json)" "x.json: workloads[0]: '_a' is not a name")
expect_refusal(benchmark-without-component "wago_add_benchmark(bench)" "wago_add_benchmark(bench): the component benchmark is missing")

# Comparisons and reports.
set(fib "wago_add_workload(fib ${good})\n")
set(one "${fib}wago_add_comparison(c BASELINE old)\n")
expect_refusal(comparison-without-baseline "${fib}wago_add_comparison(c PAIRS 2)"
  "wago_add_comparison(c): BASELINE is missing: a wago-profile of another revision, an experiment, or captures")
expect_refusal(comparison-unknown-keyword "${fib}wago_add_comparison(c BASELINE old CANDIDATE new)"
  "wago_add_comparison(c): \"CANDIDATE\" is neither a keyword nor a keyword's value" "BASELINE, BASELINE_AS, BUDGET, CANDIDATE_AS, CATALOG")
expect_refusal(comparison-empty-baseline "${fib}wago_add_comparison(c BASELINE \"\")" "wago_add_comparison(c): BASELINE needs a value")
expect_refusal(comparison-missing-value "${fib}wago_add_comparison(c BASELINE old BUDGET)" "BUDGET needs a value")
expect_refusal(comparison-repeated "${fib}wago_add_comparison(c BASELINE old BASELINE older)" "BASELINE is given twice")
expect_refusal(comparison-of-nothing "wago_add_comparison(c BASELINE old)" "wago_add_comparison(c): catalog default is not declared")
expect_refusal(comparison-catalog "${fib}wago_add_comparison(c CATALOG mine BASELINE old)" "catalog mine is not declared")
expect_refusal(comparison-catalog-twice "${fib}wago_add_comparison(c CATALOG default default BASELINE old)"
  "CATALOG default is named twice")
expect_refusal(comparison-twice "${one}wago_add_comparison(c BASELINE old)" "wago_add_comparison(c): this comparison is declared already")
expect_refusal(comparison-name "${fib}wago_add_comparison(a/b BASELINE old)" "wago_add_comparison(a/b): 'a/b' is not a name")
expect_refusal(comparison-budget "${fib}wago_add_comparison(c BASELINE old BUDGET 5m)"
  "BUDGET \"5m\" is not a whole number from 1 to 2147480000")
expect_refusal(comparison-pairs "${fib}wago_add_comparison(c BASELINE old PAIRS 10001)"
  "PAIRS \"10001\" is not a whole number from 1 to 10000")
expect_refusal(comparison-floor "${fib}wago_add_comparison(c BASELINE old FLOOR -1)"
  "FLOOR \"-1\" is not a percentage from 0 to below 100, such as 0.25")
expect_refusal(comparison-margin "${fib}wago_add_comparison(c BASELINE old FLOOR 2% MARGIN 1)" "MARGIN 1 is below FLOOR 2")
expect_refusal(comparison-confidence "${fib}wago_add_comparison(c BASELINE old CONFIDENCE 99)"
  "CONFIDENCE \"99\" is not a number from 0.5 to 0.99999")
expect_refusal(comparison-fail-on "${fib}wago_add_comparison(c BASELINE old FAIL_ON slower)"
  "FAIL_ON \"slower\" is not one of regression, change, inconclusive, instructions, never")
expect_refusal(comparison-history "${fib}wago_add_comparison(c BASELINE old HISTORY)" "HISTORY needs a value")
expect_refusal(comparison-version "${fib}wago_add_comparison(c BASELINE old CANDIDATE_AS 1.1)"
  "wago_add_comparison(c): CANDIDATE_AS names a version in a HISTORY, which is missing")
# The sides differ in the program alone.
expect_refusal(comparison-modules "${fib}wago_add_comparison(c BASELINE old BASELINE_MODULES dir)"
  "\"BASELINE_MODULES\" is neither a keyword nor a keyword's value")
# Tests of one name.
set(compare "wago_add_workload(compare ${good})\n")
expect_refusal(compare-workload-first "${compare}wago_add_comparison(default BASELINE old)"
  "wago_add_comparison(default): its test would be called profile.default.compare, as that of wago_add_workload(compare) is:"
  "give one of them another name")
expect_refusal(compare-workload-last "${fib}wago_add_comparison(default BASELINE old)\n${compare}"
  "wago_add_workload(compare): its test would be called profile.default.compare, as that of wago_add_comparison(default) is:")
expect_refusal(report-workload "${one}wago_add_catalog(r)\nwago_add_workload(report ${good} CATALOG r)
wago_add_regression_report(r COMPARISONS c OUTPUT_DIRECTORY out)"
  "wago_add_regression_report(r): its test would be called profile.r.report, as that of wago_add_workload(report) is:")
expect_refusal(backend-workload "wago_add_workload(fib ${good} BACKEND count)\nwago_add_workload(fib.count ${good})"
  "wago_add_workload(fib.count): its test would be called profile.default.fib.count, as that of wago_add_workload(fib) is:")
expect_refusal(report-of-nothing "${one}wago_add_regression_report(r OUTPUT_DIRECTORY out)"
  "wago_add_regression_report(r): COMPARISONS is missing")
expect_refusal(report-nowhere "${one}wago_add_regression_report(r COMPARISONS c)"
  "wago_add_regression_report(r): OUTPUT_DIRECTORY is missing")
expect_refusal(report-unknown-comparison "${one}wago_add_regression_report(r COMPARISONS d OUTPUT_DIRECTORY out)"
  "comparison d is not declared: call wago_add_comparison(d) first")
expect_refusal(report-comparison-twice "${one}wago_add_regression_report(r COMPARISONS c c OUTPUT_DIRECTORY out)"
  "COMPARISONS c is named twice")
expect_refusal(report-format "${one}wago_add_regression_report(r COMPARISONS c OUTPUT_DIRECTORY out FORMAT pdf)"
  "FORMAT \"pdf\" is not one of text, html, markdown, json, junit, annotations")
expect_refusal(report-format-twice "${one}wago_add_regression_report(r COMPARISONS c OUTPUT_DIRECTORY out FORMAT html html)"
  "FORMAT html is named twice")
expect_refusal(report-twice "${one}wago_add_regression_report(r COMPARISONS c OUTPUT_DIRECTORY out)
wago_add_regression_report(r COMPARISONS c OUTPUT_DIRECTORY out)" "wago_add_regression_report(r): this report is declared already")
expect_refusal(report-unknown-keyword "${one}wago_add_regression_report(r COMPARISON c OUTPUT_DIRECTORY out)"
  "\"COMPARISON\" is neither a keyword nor a keyword's value" "COMPARISONS")

message(STATUS "${count} declarations refused")
