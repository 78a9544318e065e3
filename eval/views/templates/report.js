"use strict";
// The items of a run: filters, and every token shaded by its surprisal. What datasets say reaches the
// page as text nodes and attributes, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("filters");
  const field = form.elements;
  const list = document.getElementById("list");
  const more = document.getElementById("more");
  // Entries that are put on the page at once: a screen or two.
  const CHUNK = 30;
  // Bits from which a token has the darkest shade.
  const DARKEST = 16;
  // Characters that move or hide text are spelled out: controls, line separators, directions.
  const CONTROL = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff])/;
  const WHY = {
    too_long: "too long for the model's context",
    identical: "the conditions are the same tokens for this model",
    separator: "the tokenizer has no separator",
    crossing: "a token crosses the edge of a compared region in one version only",
    empty: "a region has no token with a surprisal",
  };
  const ORDERS = {
    lowest: (a, b) => a - b,
    highest: (a, b) => b - a,
    zero: (a, b) => Math.abs(a) - Math.abs(b),
  };
  // The name of a table: with its split where there are several.
  const splits = new Set(data.tables.map(([, split]) => split)).size > 1;
  const tableName = ([config, split]) => (splits ? `${config} (${split})` : config);
  let found = [];
  // The id of the one item that is shown; empty: all.
  let only = "";

  function make(tag, name, text) {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    return node;
  }

  function signed(value, digits) {
    return (value < 0 ? "\u2212" : "+") + Math.abs(value).toFixed(digits);
  }

  // Text, with the characters that would not be seen spelled out before themselves.
  function addText(parent, text) {
    text.split(CONTROL).forEach((part, place) => {
      if (place % 2) {
        const mark = make("span", "control", part);
        mark.dataset.code = "U+" + part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
        parent.append(mark);
      } else if (part) parent.append(part);
    });
  }

  function token(text, bits, region) {
    const parts = [].concat(bits);
    const sum = parts.reduce((total, value) => total + value, 0);
    const node = make("span", text ? "t" : "t none");
    node.style.setProperty("--shade", ((Math.min(Math.max(sum, 0), DARKEST) / DARKEST) * 0.8).toFixed(3));
    node.title = `${sum.toFixed(2)} bits, region ${region}`;
    if (parts.length > 1) node.title += `: ${parts.map((b) => b.toFixed(2)).join(" + ")}`;
    addText(node, text);
    return node;
  }

  function conditionText(condition, isRead) {
    const node = make("dd");
    node.dir = "auto";
    let place = 0;
    condition.r.forEach(([region, pieces]) => {
      const span = make("span", isRead(region) ? "region read" : "region");
      span.dataset.region = region;
      if (condition.r.length > 1) {
        const edge = make("span", "edge");
        edge.dataset.region = region;
        span.append(edge);
      }
      for (const end = place + pieces; place < end; place++) {
        const bits = condition.b[place];
        if (bits === null) addText(span, condition.t[place]);
        else span.append(token(condition.t[place], bits, region));
      }
      node.append(span);
    });
    return node;
  }

  function value([region, , bits, tokens], metric) {
    const node = make("span", "value");
    node.append(make("b", "", bits === null ? "no value" : `${bits.toFixed(3)} bits`));
    const where = region === "*" ? "whole text" : `region ${region}`;
    node.append(make("small", "", `${where}, ${metric} of ${tokens} token${tokens === 1 ? "" : "s"}`));
    return node;
  }

  function entry(one) {
    const item = data.items[one.i];
    const kind = data.kinds[one.k];
    const metric = kind.slice(kind.lastIndexOf(" ") + 1);
    const node = make("li");
    const head = make("h3", "head");
    head.append(make("span", "margin", one.m === null ? "no margin" : `${signed(one.m, 3)} bits`));
    const state = { met: "state state-met", "not met": "state state-not" }[one.s] ?? "state";
    head.append(make("span", state, one.c ? `${one.s}, too close to call` : one.s));
    head.append(make("bdi", "id", item.id), make("bdi", "", tableName(data.tables[item.t])));
    const about = make("p", "about");
    about.append(make("code", "", kind));
    if (one.w) about.append(make("span", "", WHY[one.w] ?? one.w));
    if (item.cut) about.append(make("span", "", `the first ${item.cut} tokens cut to fit`));
    for (const group of one.g.map((number) => data.groups[number]))
      if (!group.endsWith("=")) about.append(make("bdi", "", group)); // else a column without value
    const conditions = make("dl", "conditions");
    const names = new Set(one.v.map(([, name]) => name));
    for (const condition of item.c.filter((c) => names.has(c.n))) {
      const values = one.v.filter(([, name]) => name === condition.n);
      const term = make("dt");
      term.append(make("bdi", "", condition.n), " ");
      term.append(...values.map((own) => value(own, metric)));
      const isRead = (number) => values.some(([region]) => region === "*" || region === number);
      const both = make("div");
      both.append(term, conditionText(condition, isRead));
      conditions.append(both);
    }
    node.append(head, about, conditions);
    return node;
  }

  // What a text search of an item looks at.
  function words(item) {
    const texts = [item.id, item.d, ...item.c.map((c) => c.t.join(""))];
    return (item.words ??= texts.join("\n").toLowerCase());
  }

  function isIn(one, state) {
    return !state || (state === "too close to call" ? one.c : one.s === state);
  }

  function chosen() {
    const [table, group, kind] = [field.table.value, field.group.value, field.kind.value];
    const text = field.text.value.trim().toLowerCase();
    const left = data.predictions.filter((one) => {
      const item = data.items[one.i];
      return (
        (!only || item.id === only) &&
        (!table || item.t === Number(table)) &&
        (!group || one.g.includes(Number(group))) &&
        (!kind || one.k === Number(kind)) &&
        isIn(one, field.state.value) &&
        (!text || words(item).includes(text))
      );
    });
    const order = ORDERS[field.order.value];
    if (!order) return left;
    // Sorting is stable; those that have no margin come last.
    const measured = left.filter((one) => one.m !== null);
    return measured.sort((a, b) => order(a.m, b.m)).concat(left.filter((one) => one.m === null));
  }

  function showMore() {
    const there = list.childElementCount;
    list.append(...found.slice(there, there + CHUNK).map(entry));
    more.hidden = list.childElementCount >= found.length;
    const total = data.predictions.length.toLocaleString("en");
    document.getElementById("count").value =
      `${found.length.toLocaleString("en")} of ${total} predictions` +
      (only && `, ${found.length ? "those" : "none on this page"} of ${only}`) +
      (more.hidden ? "" : `, the first ${list.childElementCount} shown`);
  }

  function update() {
    found = chosen();
    list.replaceChildren();
    showMore();
  }

  // A choice, hidden where there is none.
  function fill(select, names, numbers) {
    const before = select.value;
    select.replaceChildren(new Option("all", ""));
    for (const number of numbers) select.append(new Option(names[number], number));
    select.value = before;
    if (select.selectedIndex < 0) select.selectedIndex = 0;
    select.parentElement.hidden = numbers.length < 2 && !select.value;
  }

  // Groups and predictions are those of the config that is chosen.
  function fillByTable() {
    const table = field.table.value;
    const own = data.predictions.filter((one) => !table || data.items[one.i].t === Number(table));
    fill(field.group, data.groups, [...new Set(own.flatMap((one) => one.g))]);
    fill(field.kind, data.kinds, [...new Set(own.map((one) => one.k))]);
  }

  // The items of a row of scores, or the one of the example.
  function find({ config, split, group, item }) {
    form.reset();
    only = item ?? "";
    const number = data.tables.findIndex(([c, s]) => c === config && (!split || s === split));
    if (data.tables.length > 1 && number >= 0) field.table.value = String(number);
    fillByTable();
    const place = data.groups.indexOf(group);
    if (group && place >= 0) field.group.value = String(place);
    update();
    form.scrollIntoView();
    field.order.focus({ preventScroll: true });
  }

  fill(field.table, data.tables.map(tableName), data.tables.map((_, number) => number));
  fillByTable();
  if (!data.predictions.some((one) => one.c)) field.state.lastElementChild.remove();
  // What a hand changes is about all items again.
  function changed(event) {
    only = "";
    if (event.target === field.table) fillByTable();
    update();
  }
  form.addEventListener("change", changed);
  field.text.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("button[type=reset]").addEventListener("click", (event) => {
    event.preventDefault();
    find({});
  });
  more.addEventListener("click", showMore);
  for (const button of document.querySelectorAll("button.find"))
    button.addEventListener("click", () => find(button.dataset));
  form.hidden = false;
  update();
})();
