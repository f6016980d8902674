#[=======================================================================[.rst:
WagoProfile
-----------

Checked WebAssembly workloads as CTest tests and Google Benchmark programs.

::

  find_package(WagoProfile REQUIRED)            # or add_subdirectory(); same names either way
  wago_add_workload(fib MODULE fib.wasm EXPORT fib ARGS 20 WANT 6765)

``ctest -L profile`` then records every declared workload and fails on a wrong result.

::

  wago_add_workload(<name>
    MODULE <file.wasm|target> EXPORT <function>
    [ARGS <slot>...] WANT <slot>... | WANT VOID | WANT_TRAP <trap>
    [INIT <export>] [CATALOG <catalog>]
    [ITERATIONS <n> | DURATION <duration>] [WARMUP <n>]
    [MODE public|prepared] [PHASE <phase>] [BACKEND <backend>...]
    [BOUNDS explicit|signals] [LEVEL <n>] [INTERRUPTIBLE]
    [OPTIONAL] [LABELS <label>...] [TIMEOUT <seconds>]
    [PROPERTIES (<name> <value>)...])

Declares the test ``profile.<catalog>.<name>``, or one ``profile.<catalog>.<name>.<backend>`` for each ``BACKEND`` named, with
label ``profile``. It records the workload into the build tree and fails on a wrong result.

``MODULE``
  A WebAssembly file, relative to the current source directory, or a target: an executable or library, or any target whose
  property ``WAGO_MODULE`` names the file; the default build builds it. Generator expressions are allowed. A plain file must
  exist or be generated.
``EXPORT``
  The exported function that one iteration calls once.
``ARGS``, ``WANT``
  ABI slots: unsigned 64-bit numbers (decimal, ``0x``, ``0o``, ``0b``), or typed spellings such as ``i32:-1``, ``f64:1.5``,
  ``f32:nan``. ``WANT VOID`` is a function without results. The result of every iteration is compared.
``WANT_TRAP``
  The trap that must occur, instead of ``WANT``.
``INIT``
  An export called once, without arguments, before the first iteration.
``CATALOG``
  The catalog the workload joins; ``default`` when not given. Other catalogs are declared first, by ``wago_add_catalog``.
``ITERATIONS``, ``DURATION``, ``WARMUP``, ``MODE``, ``PHASE``, ``BOUNDS``, ``LEVEL``, ``INTERRUPTIBLE``
  As the flags of ``wago-profile profile record``; what is not given comes from the catalog.
``OPTIONAL``
  Skip, rather than fail, where the workload cannot be measured.
``LABELS``, ``TIMEOUT``, ``PROPERTIES``
  Further labels, the time limit in seconds, and any other properties of the test. The limit is the recording's too, which
  without one may take five minutes longer than its ``DURATION``; past CTest's own limit (1500 s, if nothing else is set)
  only ``TIMEOUT`` leads. ``PROPERTIES`` comes last: all that follows it are
  names and values. Its ``LABELS``, ``FIXTURES_REQUIRED`` and ``FIXTURES_SETUP`` are added to the test's
  own.

::

  wago_add_catalog(<catalog> [FILE <catalog.json>] [MODULE_DIRECTORY <dir>]
    [ITERATIONS <n> | DURATION <duration>] [WARMUP <n>] [MODE <mode>] [PHASE <phase>]
    [BACKEND <backend>...] [BOUNDS <bounds>] [LEVEL <n>] [INTERRUPTIBLE]
    [OPTIONAL] [LABELS <label>...] [TIMEOUT <seconds>])

Declares a catalog: a group of workloads with common defaults. With ``FILE`` the workloads of that file are declared, as if by
``wago_add_workload``; workloads with several calls an iteration are written in such a file.

``MODULE_DIRECTORY``
  Where the modules of ``FILE`` are, and relative ``MODULE`` files of workloads that join the catalog.

::

  wago_add_benchmark(<target> [CATALOG <catalog>...] [PHASE compile|reload|instantiate|execute...])

Adds a Google Benchmark executable with an entry for every phase and workload of the catalogs; all phases when none is named. It
needs the component ``benchmark`` of the package. Results are checked.

::

  wago_add_comparison(<name> CATALOG <catalog>...
    BASELINE <wago-profile of another revision | experiment | captures>
    [BUDGET <seconds>] [PAIRS <n>] [FLOOR <percent>] [MARGIN <percent>] [CONFIDENCE <0.5..0.99999>]
    [FAIL_ON regression|change|inconclusive|instructions|never] [INSTRUCTION_FLOOR <percent>]
    [HISTORY <store> [BASELINE_AS <version>] [CANDIDATE_AS <version>]] [LABELS <label>...])

Declares the test ``profile.<name>.compare``, with label ``profile``: once the workloads of the catalogs are recorded, and all
results were right, this build's ``wago-profile`` and the baseline are measured together, in one experiment a catalog. The test
prints what was found, with measurements for CDash, and fails on a regression.

``CATALOG``
  The catalogs whose workloads are compared; ``default`` when not given.
``BASELINE``
  A ``wago-profile`` that was kept, relative to the current source directory; or the directory of an experiment that was
  recorded elsewhere, which is read instead of measuring and must have the workloads; or a directory of captures that were kept,
  such as a ``<build>/profile/<run>`` of then, which must have those of all workloads (in ``<catalog>/``, or in itself). Captures
  did not run together with those of this run: code and counts are compared in full, times decide nothing, and the test passes,
  or with ``FAIL_ON inconclusive`` fails where a workload is not the same code, or with ``FAIL_ON instructions`` where one executes
  more machine instructions in as many ``ITERATIONS``, by more than ``INSTRUCTION_FLOOR``. The other settings are refused then, and so are captures of another measurement
  contract, as of another processor. Generator expressions are allowed. Where there is nothing, the test is skipped.
``BUDGET``, ``PAIRS``
  Seconds for all catalogs together, each having its share by the number of its workloads; 150 when neither is given. So many
  pairs of each workload, rather than as many as it takes to settle them. CTest waits ten minutes longer than ``BUDGET``.
``FLOOR``, ``MARGIN``, ``CONFIDENCE``, ``FAIL_ON``, ``INSTRUCTION_FLOOR``
  As the flags of ``wago-profile profile report``.
``HISTORY``, ``BASELINE_AS``, ``CANDIDATE_AS``
  A history that the experiments are added to once they are measured, as ``wago-profile profile history add`` does, relative to
  the current source directory; made where there is none. Where workloads changed for good is shown. What cannot be added fails
  the test with a sentence, but for two sides that are one version, of which there is nothing to keep. Versions are called after
  their revisions, or as said here. Generator expressions are allowed for the store. What is added teaches the test's own verdicts no floor: ``FLOOR`` does.
``LABELS``
  Further labels of the test.

::

  wago_add_regression_report(<target> COMPARISONS <name>... OUTPUT_DIRECTORY <dir>
    [FORMAT html|markdown|json|junit|text|annotations...] [RELEASE <version>] [BASELINE_RELEASE <version>])

Declares the test ``profile.<target>.report``, with label ``profile``: it writes what the comparisons found, however they ended,
and is skipped where none of them measured anything. The files are attached for CDash.

``COMPARISONS``
  Comparisons that were declared before.
``OUTPUT_DIRECTORY``
  Relative to the current binary directory. Files are called ``<comparison>.<catalog>.html`` and so on; those of an older report
  are replaced. Generator expressions are allowed.
``FORMAT``
  ``html markdown json junit`` when not given.
``RELEASE``, ``BASELINE_RELEASE``
  What the report calls the two sides.

::

  ctest -L profile

records, compares and reports in this order. Exit codes of a comparison: 0 passes; 77 (no baseline) is skipped; 1 (a finding that
``FAIL_ON`` names, or a workload that failed on a side), 2 (used wrongly, a baseline that is none) and 5 (cannot be measured
here, or the environment was not quiet enough to claim anything) fail.

Captures land in ``<build>/profile/<run>/<catalog>/``, experiments in ``<build>/profile/<run>/<comparison>/``, a new ``<run>`` for every invocation of ctest; the symbolic
link ``<build>/profile/latest`` leads to the last one. Mistakes in a declaration are configure-time errors; those in a ``FILE`` fail
the tests of the workloads that have them, in the words of ``wago-profile profile record``.
#]=======================================================================]

include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/WagoArguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/WagoComparison.cmake")

# --- Measurement settings, which workloads and catalogs have in common ----------------------------------------------------------

# Their keywords. A function, since variables of this file are not seen by callers in other directories.
function(_wago_setting_keywords flags ones multis)
  set(${flags} INTERRUPTIBLE OPTIONAL PARENT_SCOPE)
  set(${ones} ITERATIONS DURATION WARMUP MODE PHASE BOUNDS LEVEL TIMEOUT PARENT_SCOPE)
  set(${multis} BACKEND LABELS PARENT_SCOPE)
endfunction()

# Checks the settings in arg_*; gives the JSON members of those that a catalog file holds, each followed by a comma.
function(_wago_settings result)
  if(DEFINED arg_ITERATIONS AND DEFINED arg_DURATION)
    _wago_refuse("ITERATIONS and DURATION exclude one another")
  endif()
  set(json "")
  set(ITERATIONS_range 1 18446744073709551615)
  set(WARMUP_range 0 18446744073709551615)
  _wago_limit(Level max_level)
  set(LEVEL_range 0 ${max_level})
  foreach(keyword ITERATIONS WARMUP LEVEL)
    if(DEFINED arg_${keyword})
      _wago_check_number(${keyword} "${arg_${keyword}}" ${${keyword}_range} number)
      string(TOLOWER ${keyword} key)
      string(APPEND json "\"${key}\":${number},")
    endif()
  endforeach()
  if(DEFINED arg_DURATION)
    _wago_check_duration(DURATION "${arg_DURATION}")
    string(APPEND json "\"duration\":\"${arg_DURATION}\",")
  endif()
  foreach(keyword MODE PHASE BOUNDS)
    if(DEFINED arg_${keyword})
      _wago_check_word(${keyword} ${keyword} "${arg_${keyword}}")
      string(TOLOWER ${keyword} key)
      string(APPEND json "\"${key}\":\"${arg_${keyword}}\",")
    endif()
  endforeach()
  set(backends "")
  foreach(backend IN LISTS arg_BACKEND)
    _wago_check_word(BACKEND BACKEND "${backend}")
    if(backend IN_LIST backends)
      _wago_refuse("BACKEND ${backend} is named twice")
    endif()
    list(APPEND backends "${backend}")
  endforeach()
  if(arg_INTERRUPTIBLE)
    string(APPEND json "\"interruptible\":true,")
  endif()
  if(DEFINED arg_TIMEOUT)
    _wago_check_number(TIMEOUT "${arg_TIMEOUT}" 0 2147483647 number)
  endif()
  set(${result} "${json}" PARENT_SCOPE)
endfunction()

# --- Catalogs ---------------------------------------------------------------------------------------------------------------

# A catalog is a target, so that its properties are its only state:
#   WAGO_WORKLOADS       JSON objects
#   WAGO_WORKLOAD_NAMES  for refusing two of one name
#   WAGO_CATALOG_FILE    the generated file, which every tool reads
#   WAGO_CATALOG_SOURCE  the member of it that names the user's own file, which every tool checks
#   WAGO_MODULE_DIRECTORY, and WAGO_DEFAULT_<keyword> for what becomes a property of tests
function(_wago_create_catalog catalog json_defaults)
  set(target wago_catalog_${catalog})
  add_custom_target(${target} ALL)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${catalog}.catalog.json")
  set_target_properties(${target} PROPERTIES WAGO_CATALOG_FILE "${file}" WAGO_WORKLOADS "" WAGO_WORKLOAD_NAMES ""
    WAGO_CATALOG_SOURCE "")
  string(REGEX REPLACE ",$" "" json_defaults "${json_defaults}")
  set(workloads "$<TARGET_PROPERTY:${target},WAGO_WORKLOADS>")
  file(GENERATE OUTPUT "${file}" CONTENT
"{\"version\":1,\"catalog\":\"${catalog}\",$<TARGET_PROPERTY:${target},WAGO_CATALOG_SOURCE>\"defaults\":{${json_defaults}},\"workloads\":[
$<JOIN:$<TARGET_GENEX_EVAL:${target},${workloads}>,$<COMMA>
>
]}
")
endfunction()

# The generated file of a catalog that a declaration names.
function(_wago_catalog_file catalog result)
  if(NOT TARGET wago_catalog_${catalog})
    _wago_refuse("catalog ${catalog} is not declared")
  endif()
  get_target_property(file wago_catalog_${catalog} WAGO_CATALOG_FILE)
  set(${result} "${file}" PARENT_SCOPE)
endfunction()

# One test a ctest invocation opens the directory that its captures land in.
function(_wago_ensure_run_fixture)
  if(TARGET wago_profile_run)
    return()
  endif()
  add_custom_target(wago_profile_run)
  add_test(NAME profile.run COMMAND WagoProfile::wago-profile profile test --begin --runs "${CMAKE_BINARY_DIR}/profile")
  set_tests_properties(profile.run PROPERTIES FIXTURES_SETUP wago_profile_run LABELS profile RUN_SERIAL ON)
endfunction()

# The test is the caller's, or another declaration's already: a workload "compare" of catalog c, and comparison c. That the run's
# fixture is there is what makes a place for whose it is.
function(_wago_claim_test test)
  _wago_ensure_run_fixture()
  get_target_property(owner wago_profile_run WAGO_TEST_${test})
  if(owner)
    _wago_refuse("its test would be called ${test}, as that of ${owner} is: give one of them another name")
  endif()
  set_target_properties(wago_profile_run PROPERTIES WAGO_TEST_${test} "${_wago_function}(${_wago_name})")
endfunction()

# Adds the JSON object of a workload and declares its tests. Takes arg_* of the declaration.
function(_wago_declare catalog name json)
  set(target wago_catalog_${catalog})
  get_target_property(names ${target} WAGO_WORKLOAD_NAMES)
  if(name IN_LIST names)
    _wago_refuse("catalog ${catalog} has a workload ${name} already")
  endif()
  set_property(TARGET ${target} APPEND PROPERTY WAGO_WORKLOAD_NAMES "${name}")
  set_property(TARGET ${target} APPEND PROPERTY WAGO_WORKLOADS "${json}")

  # What the declaration does not say, the catalog does.
  foreach(keyword BACKEND TIMEOUT OPTIONAL LABELS)
    get_target_property(default ${target} WAGO_DEFAULT_${keyword})
    if(default AND NOT arg_${keyword})
      set(arg_${keyword} "${default}")
    endif()
  endforeach()

  get_target_property(file ${target} WAGO_CATALOG_FILE)
  set(command WagoProfile::wago-profile profile test --catalog "${file}" --workload "${name}"
      --runs "${CMAKE_BINARY_DIR}/profile")
  if(arg_OPTIONAL)
    list(APPEND command --optional)
  endif()
  if(arg_TIMEOUT)
    list(APPEND command --collection-timeout "${arg_TIMEOUT}s")
  endif()
  if(arg_BACKEND)
    foreach(backend IN LISTS arg_BACKEND)
      _wago_add_profile_test(profile.${catalog}.${name}.${backend} ${command} --backend ${backend})
    endforeach()
  else()
    _wago_add_profile_test(profile.${catalog}.${name} ${command})
  endif()
endfunction()

function(_wago_add_profile_test test)
  _wago_claim_test(${test})
  add_test(NAME ${test} COMMAND ${ARGN})
  # Comparisons of the catalog come after its recordings.
  set_tests_properties(${test} PROPERTIES RUN_SERIAL ON SKIP_RETURN_CODE 77 FIXTURES_REQUIRED wago_profile_run
    FIXTURES_SETUP wago_catalog_${catalog} LABELS "profile;${arg_LABELS}")
  if(arg_TIMEOUT)
    set_tests_properties(${test} PROPERTIES TIMEOUT ${arg_TIMEOUT})
  endif()
  foreach(name IN LISTS _wago_properties)
    # Lists of which the test has a part already.
    if(name MATCHES "^(LABELS|FIXTURES_REQUIRED|FIXTURES_SETUP)$")
      set_property(TEST ${test} APPEND PROPERTY ${name} "${_wago_property_${name}}")
    else()
      set_property(TEST ${test} PROPERTY ${name} "${_wago_property_${name}}")
    endif()
  endforeach()
endfunction()

# A path, or a generator expression for one, made absolute: an expression relative to the same directory as a plain name, once it
# is known.
function(_wago_absolute path directory result)
  if(path MATCHES "\\$<")
    string(REPLACE "," "$<COMMA>" base "${directory}")
    string(REPLACE ">" "$<ANGLE-R>" base "${base}")
    set(path "$<PATH:ABSOLUTE_PATH,NORMALIZE,${path},${base}>")
  else()
    get_filename_component(path "${path}" ABSOLUTE BASE_DIR "${directory}")
  endif()
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

# The module's file, absolute, or a generator expression for it. A target that builds it is built before the catalog's users.
function(_wago_module_file catalog module directory result)
  if(TARGET "${module}")
    add_dependencies(wago_catalog_${catalog} "${module}")
    get_target_property(type "${module}" TYPE)
    get_target_property(file "${module}" WAGO_MODULE)
    if(file)
      set(file "$<TARGET_GENEX_EVAL:${module},$<TARGET_PROPERTY:${module},WAGO_MODULE>>")
    elseif(type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$")
      set(file "$<TARGET_FILE:${module}>")
    else()
      _wago_refuse("MODULE target ${module} builds no file: set its property WAGO_MODULE to the .wasm it makes")
    endif()
  elseif(module MATCHES "\\$<")
    _wago_absolute("${module}" "${directory}" file)
  else()
    _wago_absolute("${module}" "${directory}" file)
    get_source_file_property(generated "${file}" GENERATED)
    if(NOT EXISTS "${file}" AND NOT generated)
      _wago_refuse("MODULE ${file} does not exist")
    endif()
    if(IS_DIRECTORY "${file}")
      _wago_refuse("MODULE ${file} is a directory")
    endif()
  endif()
  set(${result} "${file}" PARENT_SCOPE)
endfunction()

# --- The functions users call -------------------------------------------------------------------------------------------------

function(wago_add_workload name)
  set(_wago_function wago_add_workload)
  set(_wago_name "${name}")
  _wago_setting_keywords(flags ones multis)
  list(APPEND ones MODULE EXPORT WANT_TRAP INIT CATALOG)
  list(APPEND multis ARGS WANT)
  # What follows PROPERTIES are the caller's names and values, whatever they are called: not for the parser, which goes by ARGC.
  set(_wago_properties "")
  set(arguments ${ARGN})
  foreach(at RANGE 1 ${ARGC})
    if(at LESS ARGC AND ARGV${at} STREQUAL "PROPERTIES")
      math(EXPR first "${at} + 1")
      math(EXPR odd "(${ARGC} - ${first}) % 2")
      if(first EQUAL ARGC OR odd)
        _wago_refuse("PROPERTIES needs pairs of a name and a value")
      endif()
      math(EXPR last "${ARGC} - 1")
      foreach(name_at RANGE ${first} ${last} 2)
        math(EXPR value_at "${name_at} + 1")
        list(APPEND _wago_properties "${ARGV${name_at}}")
        set(_wago_property_${ARGV${name_at}} "${ARGV${value_at}}")
      endforeach()
      set(ARGC ${at})
      list(FIND arguments PROPERTIES at)
      list(SUBLIST arguments 0 ${at} arguments)
      break()
    endif()
  endforeach()
  cmake_parse_arguments(PARSE_ARGV 1 arg "${flags}" "${ones}" "${multis}")
  _wago_check_arguments(arg "${flags}" "${ones}" "${multis}" ${arguments})
  _wago_check_name("${name}")
  foreach(keyword MODULE EXPORT)
    if(NOT DEFINED arg_${keyword})
      _wago_refuse("${keyword} is missing")
    endif()
  endforeach()
  if(DEFINED arg_WANT AND DEFINED arg_WANT_TRAP)
    _wago_refuse("WANT and WANT_TRAP exclude one another")
  elseif(NOT DEFINED arg_WANT AND NOT DEFINED arg_WANT_TRAP)
    _wago_refuse("WANT is missing: a workload says its result (WANT <slot>..., WANT VOID or WANT_TRAP <trap>)")
  endif()

  if(NOT DEFINED arg_CATALOG)
    set(arg_CATALOG default)
    if(NOT TARGET wago_catalog_default)
      _wago_create_catalog(default "")
    endif()
  elseif(NOT TARGET wago_catalog_${arg_CATALOG})
    _wago_refuse("catalog ${arg_CATALOG} is not declared: call wago_add_catalog(${arg_CATALOG}) first")
  endif()
  get_target_property(directory wago_catalog_${arg_CATALOG} WAGO_MODULE_DIRECTORY)
  if(NOT directory)
    set(directory "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()

  foreach(slot IN LISTS arg_ARGS)
    _wago_check_slot(ARGS "${slot}")
  endforeach()
  _wago_json_strings(args ${arg_ARGS})
  if(DEFINED arg_WANT_TRAP)
    _wago_check_word(WANT_TRAP TRAP "${arg_WANT_TRAP}")
    set(want "\"want_trap\":\"${arg_WANT_TRAP}\"")
  elseif(arg_WANT STREQUAL "VOID")
    set(want "\"want\":[]")
  else()
    foreach(slot IN LISTS arg_WANT)
      _wago_check_slot(WANT "${slot}")
    endforeach()
    _wago_json_strings(want ${arg_WANT})
    set(want "\"want\":${want}")
  endif()

  _wago_settings(settings)
  _wago_module_file("${arg_CATALOG}" "${arg_MODULE}" "${directory}" module)
  _wago_json_string("${module}" module)
  _wago_json_string("${arg_EXPORT}" export)
  set(json "{\"id\":\"${name}\",\"module\":${module},${settings}")
  if(DEFINED arg_INIT)
    _wago_json_string("${arg_INIT}" init)
    string(APPEND json "\"init\":${init},")
  endif()
  string(APPEND json "\"calls\":[{\"export\":${export},\"args\":${args},${want}}]}")
  _wago_declare("${arg_CATALOG}" "${name}" "${json}")
endfunction()

function(wago_add_catalog catalog)
  set(_wago_function wago_add_catalog)
  set(_wago_name "${catalog}")
  _wago_setting_keywords(flags ones multis)
  list(APPEND ones FILE MODULE_DIRECTORY)
  cmake_parse_arguments(PARSE_ARGV 1 arg "${flags}" "${ones}" "${multis}")
  _wago_check_arguments(arg "${flags}" "${ones}" "${multis}" ${ARGN})
  _wago_check_name("${catalog}")
  if(TARGET wago_catalog_${catalog})
    _wago_refuse("this catalog is declared already")
  endif()
  _wago_settings(settings)
  _wago_create_catalog("${catalog}" "${settings}")
  set(target wago_catalog_${catalog})
  foreach(keyword BACKEND TIMEOUT OPTIONAL LABELS)
    if(arg_${keyword})
      set_target_properties(${target} PROPERTIES WAGO_DEFAULT_${keyword} "${arg_${keyword}}")
    endif()
  endforeach()
  if(DEFINED arg_MODULE_DIRECTORY)
    get_filename_component(arg_MODULE_DIRECTORY "${arg_MODULE_DIRECTORY}" ABSOLUTE)
    if(NOT IS_DIRECTORY "${arg_MODULE_DIRECTORY}")
      _wago_refuse("MODULE_DIRECTORY ${arg_MODULE_DIRECTORY} is not a directory")
    endif()
    set_target_properties(${target} PROPERTIES WAGO_MODULE_DIRECTORY "${arg_MODULE_DIRECTORY}")
  endif()
  if(DEFINED arg_FILE)
    _wago_import_catalog("${catalog}" "${arg_FILE}" "${arg_MODULE_DIRECTORY}")
  endif()
endfunction()

# Declares the workloads of a catalog file. Here only what tests need is read: the tools find the file's name in the generated
# catalog and check it with their own reader, so that every mistake is refused as it is when the file is given to them.
function(_wago_import_catalog catalog file directory)
  get_filename_component(file "${file}" ABSOLUTE)
  if(NOT EXISTS "${file}" OR IS_DIRECTORY "${file}")
    _wago_refuse("FILE ${file} does not exist")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  _wago_json_string("${file}" source)
  set_target_properties(wago_catalog_${catalog} PROPERTIES WAGO_CATALOG_SOURCE "\"source\":${source},")
  file(READ "${file}" text)
  string(JSON type ERROR_VARIABLE problem TYPE "${text}" workloads)
  if(problem)
    _wago_refuse("FILE ${file} is not a catalog: ${problem}")
  endif()
  if(NOT type STREQUAL "ARRAY")
    _wago_refuse("FILE ${file}: workloads must be an array")
  endif()
  string(JSON count LENGTH "${text}" workloads)
  if(count EQUAL 0)
    _wago_refuse("FILE ${file} declares no workload")
  endif()
  string(JSON type ERROR_VARIABLE no_defaults TYPE "${text}" defaults)
  if(no_defaults OR type STREQUAL "NULL")
    set(defaults "{}")
  elseif(type STREQUAL "OBJECT")
    string(JSON defaults GET "${text}" defaults)
  else()
    _wago_refuse("FILE ${file}: defaults must be an object")
  endif()
  if(directory STREQUAL "")
    get_filename_component(directory "${file}" DIRECTORY)
    string(JSON below ERROR_VARIABLE no_directory GET "${text}" module_directory)
    if(NOT no_directory)
      get_filename_component(directory "${below}" ABSOLUTE BASE_DIR "${directory}")
    endif()
  endif()
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON workload GET "${text}" workloads ${i})
    string(JSON name ERROR_VARIABLE no_name GET "${workload}" id)
    string(JSON module ERROR_VARIABLE no_module GET "${workload}" module)
    if(no_name OR no_module)
      _wago_refuse("FILE ${file}: workloads[${i}] needs \"id\" and \"module\"")
    endif()
    set(_wago_place "FILE ${file}: workloads[${i}]: ")
    _wago_check_name("${name}")
    _wago_module_file("${catalog}" "${module}" "${directory}" module)
    _wago_json_string("${module}" module)
    string(JSON workload SET "${workload}" module "${module}")
    _wago_merge_defaults("${workload}" "${defaults}" workload)
    string(REPLACE ";" "\\u003b" workload "${workload}")
    _wago_declare("${catalog}" "${name}" "${workload}")
  endforeach()
endfunction()

# Adds to a workload what the file's defaults say and neither the workload nor the declaration of the catalog does.
function(_wago_merge_defaults workload defaults result)
  string(JSON count LENGTH "${defaults}")
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      string(JSON key MEMBER "${defaults}" ${i})
      set(rivals ${key})
      if(key MATCHES "^(iterations|duration)$")
        set(rivals iterations duration)  # naming one drops the other
      endif()
      set(said FALSE)
      foreach(rival IN LISTS rivals)
        string(JSON present ERROR_VARIABLE absent GET "${workload}" ${rival})
        string(TOUPPER ${rival} keyword)
        if(NOT absent OR arg_${keyword})
          set(said TRUE)
        endif()
      endforeach()
      string(JSON type TYPE "${defaults}" ${key})
      if(NOT said AND NOT type STREQUAL "NULL")
        _wago_json_member("${defaults}" ${key} value)
        string(JSON workload SET "${workload}" ${key} "${value}")
      endif()
    endforeach()
  endif()
  set(${result} "${workload}" PARENT_SCOPE)
endfunction()

# A member as JSON text: string(JSON GET) strips the quotes of strings.
function(_wago_json_member json key result)
  string(JSON value GET "${json}" "${key}")
  string(JSON type TYPE "${json}" "${key}")
  if(type STREQUAL "STRING")
    _wago_json_string("${value}" value)
  elseif(type STREQUAL "BOOLEAN")
    if(value)
      set(value true)
    else()
      set(value false)
    endif()
  endif()
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

function(wago_add_benchmark target)
  set(_wago_function wago_add_benchmark)
  set(_wago_name "${target}")
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "CATALOG;PHASE")
  _wago_check_arguments(arg "" "" "CATALOG;PHASE" ${ARGN})
  if(TARGET "${target}")
    _wago_refuse("a target of this name exists already")
  endif()
  if(NOT TARGET WagoProfile::benchmark)
    _wago_refuse("the component benchmark is missing: install Google Benchmark and ask for it "
                 "(find_package(WagoProfile COMPONENTS benchmark))")
  endif()
  if(NOT arg_CATALOG)
    set(arg_CATALOG default)
  endif()
  set(catalogs "")
  foreach(catalog IN LISTS arg_CATALOG)
    _wago_catalog_file("${catalog}" file)
    string(APPEND catalogs "R\"wago(${file})wago\", ")
  endforeach()
  set(phases "")
  foreach(phase IN LISTS arg_PHASE)
    if(NOT phase MATCHES "^(compile|reload|instantiate|execute)$")
      _wago_refuse("PHASE \"${phase}\" is not one of compile, reload, instantiate, execute")
    endif()
    string(APPEND phases "\"${phase}\", ")
  endforeach()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}.benchmark.cc")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
[[// Written by wago_add_benchmark(); do not edit.
#include <string>
#include <vector>

#include "harness/benchmark_main.h"

int main(int argc, char** argv) {
  const std::vector<std::string> catalogs = {@catalogs@};
  const std::vector<std::string> phases = {@phases@};
  return wago::harness::benchmark_main(argc, argv, catalogs, phases);
}
]])
  add_executable(${target} "${source}")
  target_link_libraries(${target} PRIVATE WagoProfile::benchmark)
  foreach(catalog IN LISTS arg_CATALOG)
    add_dependencies(${target} wago_catalog_${catalog})
  endforeach()
endfunction()
