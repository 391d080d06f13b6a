// Follows the events of the run: says where it stands, and puts in each new report where the last one was.
(function () {
  "use strict";
  var report = document.getElementById("report");
  var shown = Number(report.dataset.version);
  var fetching = false, wanted = shown;

  function text(id, value) {
    var e = document.getElementById(id);
    if (e.textContent !== value) { e.textContent = value; }
  }

  function show(state) {
    var says = state.doing + (state.left && !state.over ? ", about " + state.left + " left" : "");
    text("status", says);
    text("now", state.now || "");
    document.getElementById("now").hidden = !state.now;
    text("count", state.done + " of " + (state.total || "an unknown number of") + " trials");
    var bar = document.getElementById("bar");
    bar.max = state.total || 1;
    bar.value = state.total ? state.done : 0;
    text("failure", state.failure || "");
    document.getElementById("failure").hidden = !state.failure;
    document.getElementById("troubles").hidden = state.errors.length === 0;
    var list = document.getElementById("errors");
    if (JSON.stringify(Array.from(list.children, function (li) { return li.textContent; })) !== JSON.stringify(state.errors)) {
      list.replaceChildren.apply(list, state.errors.map(function (e) {
        var li = document.createElement("li");
        li.textContent = e;
        return li;
      }));
    }
    wanted = state.version;
    renew();
  }

  function renew() {
    if (fetching || wanted === shown) { return; }
    fetching = true;
    var version = wanted;
    fetch("body").then(function (r) {
      if (!r.ok) { throw new Error(r.statusText); }
      return r.text();
    }).then(function (html) {
      var focused = document.activeElement && document.activeElement.closest("#report th") ? document.activeElement : null;
      var at = focused && Array.from(report.querySelectorAll("th button")).indexOf(focused);
      var y = window.scrollY;
      report.innerHTML = html;
      report.dataset.version = version;
      shown = version;
      document.dispatchEvent(new Event("report"));
      if (focused) {
        var again = report.querySelectorAll("th button")[at];
        if (again) { again.focus({ preventScroll: true }); }
      }
      window.scrollTo(0, y);
    }).catch(function () {
      // The next event asks again.
    }).finally(function () {
      fetching = false;
      if (wanted !== version) { renew(); }
    });
  }

  var events = new EventSource("events");
  events.addEventListener("state", function (e) { show(JSON.parse(e.data)); });
  events.addEventListener("error", function () { text("status", "the connection is lost: the run has ended, or its machine is gone; what is shown is the last report"); });
})();
