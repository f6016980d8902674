# Draws flame graphs and reports and lets a browser show them: what its document says after their scripts have run must be
# what a person would see. Run as: cmake -D PROFILING=wago-profile -D MODULES=dir -D WORK=dir -P browser.cmake
cmake_minimum_required(VERSION 3.25)

find_program(browser NAMES chromium chromium-browser google-chrome google-chrome-stable)
if(NOT browser)
  message(STATUS "SKIPPED: no browser that can be asked for its document is installed (chromium, google-chrome)")
  return()
endif()
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/profile)

function(draw out)
  execute_process(COMMAND ${PROFILING} profile flamegraph ${ARGN} --out ${WORK}/${out} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The browser's sandbox needs a user of its own and kernels that let it.
set(headless ${browser} --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run
  --user-data-dir=${WORK}/profile --window-size=1200,500)
function(look_at address variable)
  execute_process(COMMAND ${headless} --virtual-time-budget=2000 --dump-dom ${address} OUTPUT_VARIABLE document
    ERROR_VARIABLE errors RESULT_VARIABLE code TIMEOUT 90)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${browser} failed (${code}) on ${address}: ${errors}")
  endif()
  set(${variable} "${document}" PARENT_SCOPE)
endfunction()
function(look at variable)
  look_at(file://${WORK}/${at} document)
  set(${variable} "${document}" PARENT_SCOPE)
endfunction()
function(expect document what)
  if(NOT document MATCHES "${what}")
    message(FATAL_ERROR "the document does not hold ${what}:\n${document}")
  endif()
endfunction()
function(refuse document what)
  if(document MATCHES "${what}")
    message(FATAL_ERROR "the document holds ${what}:\n${document}")
  endif()
endfunction()

draw(mix.svg ${MODULES}/mix.wagoprof)
look(mix.svg document)
expect("${document}" "<rect x=\"30%\" y=\"[0-9]+\" width=\"50%\" height=\"17\" rx=\"2\"/><text x=\"30%\" dx=\"3\" y=\"[0-9]+\">hot</text>")
refuse("${document}" "style=\"display: none;\"")

# Zoomed to `hot`, which is frame 4: it fills the width, `inner` lies on it, its siblings are gone, its callers stay.
look("mix.svg#z=4" document)
expect("${document}" "<title>hot\n[^<]*</title><rect x=\"0%\" y=\"[0-9]+\" width=\"100%\"")
expect("${document}" "<title>inner\n[^<]*</title><rect x=\"0%\" y=\"[0-9]+\" width=\"40%\"")
expect("${document}" "style=\"display: none;\"><title>memory_grow")
expect("${document}" "<g class=\"h[0-4] around\"[^>]*><title>main")

# Search counts what lies on a match once: `inner` is on `hot`.
look("mix.svg#s=hot|inner" document)
expect("${document}" "aria-live=\"polite\">2 frames, 50.00 %</text>")
expect("${document}" "<g class=\"g[0-4] hit\"[^>]*><title>hot")

# A pattern that is no regular expression is searched for as it is.
look("mix.svg#s=%5Bmix" document)
expect("${document}" "aria-live=\"polite\">1 frame, 10.00 %</text>")

draw(diff.svg ${MODULES}/mix_changed.wagoprof --baseline ${MODULES}/mix.wagoprof)
look(diff.svg document)
expect("${document}" "<g class=\"n\"[^>]*><title>hot\n")
expect("${document}" "self 10 ns per invocation, before 3 ns per invocation, \\+233.33 %, within sampling error")

# As many samples as tell the sides apart.
file(WRITE ${WORK}/before.folded "main;hot 1000\nmain;cold 1000\nmain;rare 1\n")
file(WRITE ${WORK}/after.folded "main;hot 3000\nmain;cold 1000\nmain;rare 1\n")
draw(clear.svg ${WORK}/after.folded --baseline ${WORK}/before.folded)
look(clear.svg document)
expect("${document}" "<g class=\"m4\"[^>]*><title>hot\n")
expect("${document}" "<g class=\"l4\"[^>]*><title>cold\n")

# In a narrow window the title ends before the search field, which a wide one has room for.
set(long "A title that is too long for a narrow window, and is cut")
draw(long.svg ${MODULES}/mix.wagoprof --title ${long})
look(long.svg document)
expect("${document}" "class=\"title\"[^>]*>${long}</text>")
set(wide "${headless}")
list(TRANSFORM headless REPLACE "window-size=1200" "window-size=500")
look(long.svg document)
expect("${document}" "class=\"title\"[^>]*>A title that[^<]*…</text>")
set(headless "${wide}")

# Names are text, whatever they look like.
file(WRITE ${WORK}/hostile.folded
  "main;</title><script>document.documentElement.id='owned'</script>]]><b onclick='x'>&amp; 7\nmain;quiet 3\n")
draw(hostile.svg ${WORK}/hostile.folded --title "<script>document.documentElement.id='owned'</script>")
look("hostile.svg#s=%3Cscript%3Edocument.documentElement.id%3D'owned'%3C%2Fscript%3E" document)
refuse("${document}" "<svg[^>]* id=\"owned\"")
expect("${document}" "&lt;script&gt;document")
expect("${document}" "aria-live=\"polite\">1 frame, 70.00 %</text>")

# Reports. What was sampled of both sides is a picture in the page of its workload; of what was not, it is said how.
execute_process(COMMAND ${PROFILING} profile report ${MODULES}/explained.wagoexp --format html --out ${WORK}/report
  OUTPUT_QUIET RESULT_VARIABLE code)
if(NOT code EQUAL 1)
  message(FATAL_ERROR "profile report of a regression ended with ${code}")
endif()
look(report/explained.html report)
expect("${report}" "<details open=\"\" id=\"w0\"><summary><span class=\"bad\">regressed</span> mix")
expect("${report}" "<iframe title=\"mix, what changed\" sandbox=\"allow-scripts\"[^>]* src=\"data:image/svg\\+xml,[^\"]*\"></iframe>")
expect("${report}" "<code>wago-profile profile explain [^ ]*explained.wagoexp quiet --catalog FILE --baseline PROGRAM --candidate PROGRAM</code>")
refuse("${report}" "explained.wagoexp mix --catalog")
refuse("${report}" "(src|href)=\"(https?:|//)")

# The picture's own document, where it lies in the page: its script runs and may not reach out of it.
string(REGEX MATCH "data:image/svg[^\"]*" picture "${report}")
look_at("${picture}" document)
expect("${document}" "<g class=\"n\"[^>]*><title>hot\n")
expect("${document}" "self 10 ns per invocation, before 3 ns per invocation, \\+233.33 %, within sampling error")
expect("${document}" "<g [^>]*tabindex=\"0\"")

# Folded out by a link.
look("report/explained.html#w1" report)
expect("${report}" "<details id=\"w1\" open=\"\">")

# Several experiments are one document, whose links lead to their own.
execute_process(COMMAND ${PROFILING} profile report ${MODULES}/nights/1.wagoexp ${MODULES}/nights/3.wagoexp --format html
  --out ${WORK}/together OUTPUT_QUIET RESULT_VARIABLE code)
if(NOT code EQUAL 1)
  message(FATAL_ERROR "profile report of two experiments ended with ${code}")
endif()
look("together/releases.html#w0" releases)
expect("${releases}" "<details id=\"w0\" open=\"\"><summary>fib \\+2.99 %")
expect("${releases}" "<td class=\"n bad\" data-key=\"0.02[0-9]*\">regressed \\+2.99 %</td>")
expect("${releases}" "<a href=\"3.html\">3</a>")
refuse("${releases}" "(src|href)=\"(https?:|//)")

# And it is drawn.
execute_process(COMMAND ${headless} --screenshot=${WORK}/mix.png file://${WORK}/mix.svg OUTPUT_QUIET ERROR_QUIET
  RESULT_VARIABLE code TIMEOUT 90)
file(SIZE ${WORK}/mix.png size)
if(NOT code EQUAL 0 OR size LESS 8000)
  message(FATAL_ERROR "the picture of mix.svg is empty: ${size} bytes")
endif()
message(STATUS "looked at with ${browser}")
