#include "diff/flame_graph_script.h"

namespace wago::diff {

// State is kept in the fragment of the address (#z=frame&s=pattern), so that a view can be passed on.
std::string_view flame_graph_script() {
  return R"script((function () {
  "use strict";
  var svg = document.currentScript && document.currentScript.closest("svg") || document.documentElement;
  var byId = function (id) { return svg.querySelector("#" + id); };
  var details = byId("details"), matched = byId("matched"), input = byId("search"), resetButton = byId("reset");
  var standing = details.textContent;
  var charWidth = 7;
  var frames = Array.prototype.map.call(svg.querySelectorAll("#frames > g"), function (g) {
    var rect = g.querySelector("rect");
    var lines = g.querySelector("title").textContent.split("\n");
    return {
      g: g, rect: rect, text: g.querySelector("text"), name: lines[0], info: lines.join("   "),
      x: parseFloat(rect.getAttribute("x")), w: parseFloat(rect.getAttribute("width")),
      parent: Number(g.getAttribute("data-p")), depth: Number(g.getAttribute("aria-level")),
      left: 0, width: 0, shown: true, hit: false
    };
  });
  var zoomed = 0;
  var title = svg.querySelector(".title"), subtitle = title.nextElementSibling;
  var wholeTitle = title.textContent, wholeSubtitle = subtitle.textContent;

  function cut(text, whole, room) {
    var letters = Math.min(whole.length, Math.max(0, Math.floor(room / 3)));
    do {
      text.textContent = letters < whole.length ? whole.slice(0, letters) + "\u2026" : whole;
      letters -= 1;
    } while (letters >= 0 && text.getComputedTextLength() > room);
  }

  // Not under what stands to the title's right.
  function fitHead(total) {
    cut(title, wholeTitle, input.getBoundingClientRect().left - svg.getBoundingClientRect().left - 24);
    cut(subtitle, wholeSubtitle, total - 24);
  }

  function fit(frame, total) {
    var letters = Math.floor((frame.width / 100 * total - 6) / charWidth);
    frame.text.textContent = letters < 2 ? "" : frame.name.length <= letters ? frame.name :
      frame.name.slice(0, letters - 1) + "\u2026";
  }

  function fitAll() {
    var total = svg.getBoundingClientRect().width || 1200;
    fitHead(total);
    frames.forEach(function (frame) { if (frame.shown) fit(frame, total); });
  }

  function zoom(index) {
    zoomed = index;
    var goal = frames[index], around = {}, inside = [];
    for (var at = index; at !== 0; at = frames[at].parent) around[frames[at].parent] = true;
    frames.forEach(function (frame, i) {
      inside[i] = i === index || i !== 0 && inside[frame.parent] === true;
      frame.shown = inside[i] || around[i] === true;
      frame.g.style.display = frame.shown ? "" : "none";
      frame.g.classList.toggle("around", around[i] === true);
      if (!frame.shown) return;
      frame.left = inside[i] ? (frame.x - goal.x) * 100 / goal.w : 0;
      frame.width = inside[i] ? frame.w * 100 / goal.w : 100;
      frame.rect.setAttribute("x", frame.left + "%");
      frame.rect.setAttribute("width", frame.width + "%");
      frame.text.setAttribute("x", frame.left + "%");
    });
    fitAll();
    keep();
  }

  function search(pattern) {
    var test = null;
    if (pattern !== "") {
      try { test = new RegExp(pattern, "i"); } catch (e) {
        test = { test: function (name) { return name.toLowerCase().indexOf(pattern.toLowerCase()) >= 0; } };
      }
    }
    var sum = 0, count = 0, covered = [];
    frames.forEach(function (frame, i) {
      frame.hit = test !== null && i !== 0 && test.test(frame.name);
      frame.g.classList.toggle("hit", frame.hit);
      covered[i] = i !== 0 && (covered[frame.parent] || frames[frame.parent].hit);
      if (!frame.hit) return;
      count += 1;
      if (!covered[i]) sum += frame.w;
    });
    svg.classList.toggle("searching", test !== null);
    matched.textContent = test === null ? "" : count + (count === 1 ? " frame, " : " frames, ") + sum.toFixed(2) + " %";
    keep();
  }

  function keep() {
    var state = [];
    if (zoomed !== 0) state.push("z=" + zoomed);
    if (input.value !== "") state.push("s=" + encodeURIComponent(input.value));
    var fragment = state.length > 0 ? "#" + state.join("&") : "#";
    try { if (location.hash !== fragment && (location.hash || fragment !== "#")) history.replaceState(null, "", fragment); } catch (e) {}
  }

  function restore() {
    var state = {};
    location.hash.slice(1).split("&").forEach(function (part) {
      var at = part.indexOf("=");
      try { if (at > 0) state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1)); } catch (e) {}
    });
    var index = Number(state.z || 0);
    input.value = state.s || "";
    zoom(index >= 0 && index < frames.length && index === Math.floor(index) ? index : 0);
    search(input.value);
  }

  function reset() {
    input.value = "";
    search("");
    zoom(0);
    details.textContent = standing;
  }

  function frameOf(target) {
    var g = target.closest ? target.closest("#frames > g") : null;
    return g ? Array.prototype.indexOf.call(g.parentNode.children, g) : -1;
  }

  // The shown frame that a key leads to: up to the widest callee, down to the caller, along to a sibling.
  function neighbour(index, key) {
    if (key === "ArrowDown") return frames[index].parent;
    var best = index;
    frames.forEach(function (frame, i) {
      if (!frame.shown || i === 0 || i === index) return;
      if (key === "ArrowUp") {
        if (frame.parent === index && (best === index || frame.width > frames[best].width)) best = i;
      } else if (frame.depth === frames[index].depth) {
        var step = (frame.left - frames[index].left) * (key === "ArrowRight" ? 1 : -1);
        if (step > 0 && (best === index || step < Math.abs(frames[best].left - frames[index].left))) best = i;
      }
    });
    return best;
  }

  svg.addEventListener("click", function (event) {
    var index = frameOf(event.target);
    if (index >= 0) zoom(index);
  });
  svg.addEventListener("mouseover", function (event) {
    var index = frameOf(event.target);
    details.textContent = index >= 0 ? frames[index].info : standing;
  });
  svg.addEventListener("focusin", function (event) {
    var index = frameOf(event.target);
    if (index >= 0) details.textContent = frames[index].info;
  });
  input.addEventListener("input", function () { search(input.value); });
  resetButton.addEventListener("click", reset);
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") { reset(); frames[0].g.focus(); return; }
    if (event.target === input) return;
    if (event.key === "/" || event.key === "f" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      input.focus();
      return;
    }
    var index = frameOf(event.target);
    if (index < 0) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      zoom(index);
    } else if (event.key.indexOf("Arrow") === 0) {
      event.preventDefault();
      frames[neighbour(index, event.key)].g.focus();
    }
  });
  window.addEventListener("resize", fitAll);
  window.addEventListener("hashchange", restore);
  frames.forEach(function (frame, i) { frame.g.setAttribute("tabindex", i === 0 ? "0" : "-1"); });
  frames[0].text.textContent = "mmmmmmmmmm";
  charWidth = frames[0].text.getComputedTextLength() / 10 || charWidth;
  byId("tools").style.display = "";
  restore();
})();)script";
}

}  // namespace wago::diff
