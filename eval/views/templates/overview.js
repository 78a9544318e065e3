"use strict";
// The page of an overview: sorts and filters a table that is there without it.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("filters");
  const field = form.elements;
  const table = document.querySelector("table.overview");
  const body = table.querySelector(".models");
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells].slice(1);
  const own = (row) => [...row.cells].slice(1);
  const NUMERIC = new Intl.Collator("en", { numeric: true });
  let order = "";
  let descending = true;

  // A word is found in the name of the model or in what is known of the column.
  function isFound(words, row, column) {
    const text = `${row.dataset.name.toLowerCase()} ${data.words[column]}`;
    return words.every((word) => text.includes(word));
  }

  function filter() {
    const words = field.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const asked = heads.map(
      ({ dataset }) =>
        (!field.suite.value || dataset.suite === field.suite.value) &&
        (!field.task.value || dataset.task === field.task.value),
    );
    const shown = heads.map(() => false);
    let models = 0;
    for (const row of rows) {
      let any = false;
      own(row).forEach((cell, column) => {
        const isRun = !cell.classList.contains("silent");
        const isHere = isRun && asked[column] && isFound(words, row, column);
        const left = isHere && (!field.above.checked || cell.classList.contains("above"));
        cell.classList.toggle("faint", isRun && !left);
        shown[column] ||= left;
        any ||= left;
      });
      row.hidden = !any;
      models += any;
    }
    for (const row of table.rows)
      own(row).forEach((cell, column) => {
        cell.hidden = !shown[column];
      });
    const columns = shown.filter(Boolean).length;
    document.getElementById("nothing").hidden = Boolean(models);
    table.hidden = !models;
    document.getElementById("count").value =
      `${models} of ${rows.length} models, ${columns} of ${heads.length} columns`;
  }

  function value(row) {
    const text = row.querySelector(`td[data-column="${order}"]`).dataset.value;
    return text === "" ? null : Number(text);
  }

  function compare(a, b) {
    if (order === "name") return NUMERIC.compare(a.dataset.name, b.dataset.name);
    const values = [value(a), value(b)];
    // What has no number comes last, whichever way.
    if (values.includes(null)) return (values[0] === null) - (values[1] === null);
    return values[0] - values[1];
  }

  function sort() {
    const sorted = order === "" ? rows : [...rows].sort((a, b) => {
      const place = compare(a, b);
      const empty = order !== "name" && (value(a) === null || value(b) === null);
      return descending && !empty ? -place : place;
    });
    body.append(...sorted);
    for (const head of table.tHead.rows[0].cells) {
      const is = head.dataset.column === order;
      head.setAttribute("aria-sort", is ? (descending ? "descending" : "ascending") : "none");
    }
    field.order.value = order;
  }

  function sortBy(name) {
    // The best first; models from A. Again: the other way round.
    descending = name === order ? !descending : name !== "name";
    order = name;
    sort();
    share();
  }

  // The address of the page holds the filters and the order: after the #, as key=value.
  const KEYS = { q: "text", suite: "suite", task: "task", order: "order" };
  function share() {
    const values = Object.entries(KEYS).map(([key, name]) => [key, field[name].value]);
    if (field.above.checked) values.push(["above", "1"]);
    if (order !== "" && descending === (order === "name")) values.push(["turned", "1"]);
    const hash = new URLSearchParams(values.filter(([, value]) => value)).toString();
    history.replaceState(null, "", hash ? `#${hash}` : location.href.split("#")[0]);
  }

  function follow() {
    if (location.hash && !location.hash.includes("=")) return;
    const values = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    for (const [key, name] of Object.entries(KEYS)) {
      field[name].value = values[key] ?? "";
      if (field[name].selectedIndex < 0) field[name].selectedIndex = 0;
    }
    field.above.checked = values.above === "1";
    order = field.order.value;
    descending = (order !== "name") !== (values.turned === "1");
    sort();
    filter();
  }

  for (const head of table.tHead.rows[0].cells)
    head.querySelector("button.sort").addEventListener("click", () => sortBy(head.dataset.column));
  let waiting;
  field.text.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      filter();
      share();
    }, 150);
  });
  form.addEventListener("change", (event) => {
    if (event.target === field.order) {
      order = field.order.value;
      descending = order !== "name";
      sort();
    }
    filter();
    share();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => {
    setTimeout(() => {
      order = "";
      sort();
      filter();
      share();
    });
  });
  window.addEventListener("hashchange", follow);

  form.hidden = rows.length < 2;
  follow();
})();
