// Sorts a table by a column, by buttons in its head. What was chosen is kept when the page's contents are replaced.
(function () {
  "use strict";
  var chosen = new Map();

  // A cell sorts by the number that it begins with, "29.7 [28.7, 30.3]" by 29.7; what has none is text, and comes last.
  function number(text) {
    var m = /^[*=]?\s*([+-]?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)(?=$|[\s%])/.exec(text);
    return m ? Number(m[1]) : NaN;
  }

  function sort(table, column, descending) {
    var body = table.tBodies[0];
    var rows = Array.from(body.rows).map(function (row) {
      var text = row.cells[column].textContent.trim();
      return { row: row, text: text, n: number(text) };
    });
    rows.sort(function (a, b) {
      var an = Number.isNaN(a.n), bn = Number.isNaN(b.n);
      if (an !== bn && column > 0) { return an ? 1 : -1; }
      var c = an || bn || column === 0 ? a.text.localeCompare(b.text, "en", { numeric: true }) : a.n - b.n;
      return descending ? -c : c;
    });
    rows.forEach(function (r) { body.appendChild(r.row); });
    Array.from(table.tHead.rows[0].cells).forEach(function (th, i) {
      if (th.classList.contains("plain")) { return; }
      th.setAttribute("aria-sort", i !== column ? "none" : descending ? "descending" : "ascending");
    });
  }

  function enhance() {
    document.querySelectorAll("table.sortable").forEach(function (table, place) {
      var key = place + " " + table.caption.textContent;
      Array.from(table.tHead.rows[0].cells).forEach(function (th, column) {
        if (th.querySelector("button") || th.classList.contains("plain")) { return; }
        var button = document.createElement("button");
        button.type = "button";
        button.textContent = th.textContent;
        th.textContent = "";
        th.appendChild(button);
        th.setAttribute("aria-sort", "none");
        button.addEventListener("click", function () {
          var descending = th.getAttribute("aria-sort") === "ascending";
          chosen.set(key, { column: column, descending: descending });
          sort(table, column, descending);
        });
      });
      var was = chosen.get(key);
      if (was && was.column < table.tHead.rows[0].cells.length) { sort(table, was.column, was.descending); }
    });
  }

  enhance();
  document.addEventListener("report", enhance);
})();
