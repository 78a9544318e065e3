
"use strict";
// What datasets say reaches the page as text nodes and attributes, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("filters");
  const field = form.elements;
  const list = document.getElementById("list");
  const more = document.getElementById("more");
  const tip = document.getElementById("tip");
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
    empty: "a region has no token with a surprisal",
  };

  function make(tag, name, text) {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    return node;
  }

  function signed(value, digits) {
    return (value < 0 ? "\u2212" : "+") + Math.abs(value).toFixed(digits);
  }

  // The name of a table: with its split where there are several.
  const splits = new Set(data.tables.map(([, split]) => split)).size > 1;
  const tableName = ([config, split]) => (splits ? `${config} (${split})` : config);

  // What a text search looks at, made when it is first needed.
  function words(item) {
    item.words ??= [item.id, item.d, ...item.x.flat(), ...item.c.map((c) => c.t.join(""))]
      .join("\n")
      .toLowerCase();
    return item.words;
  }

  const ORDERS = {
    lowest: (a, b) => a.m - b.m,
    highest: (a, b) => b.m - a.m,
    zero: (a, b) => Math.abs(a.m) - Math.abs(b.m),
    dataset: () => 0,
  };

  function chosen() {
    const table = field.table.value;
    const group = field.group.value;
    const kind = field.kind.value;
    const state = field.state.value;
    const text = field.text.value.trim().toLowerCase();
    const found = data.predictions.filter((one) => {
      const item = data.items[one.i];
      return (
        (!only || item.id === only) &&
        (!table || item.t === Number(table)) &&
        (!group || one.g.includes(Number(group))) &&
        (!kind || one.k === Number(kind)) &&
        (!state || (state === "too close to call" ? one.c : one.s === state)) &&
        (!text || words(item).includes(text))
      );
    });
    const order = field.order.value;
    if (order === "dataset") return found;
    // Sorting is stable; those without a margin come last.
    const measured = found.filter((one) => one.m !== null);
    return measured.sort(ORDERS[order]).concat(found.filter((one) => one.m === null));
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

  function token(text, bits) {
    const parts = [].concat(bits);
    const sum = parts.reduce((total, value) => total + value, 0);
    const node = make("span", "t");
    node.style.setProperty("--shade", ((Math.min(Math.max(sum, 0), DARKEST) / DARKEST) * 0.8).toFixed(3));
    node.dataset.bits = sum.toFixed(1);
    node.dataset.exact =
      parts.length > 1
        ? `${sum.toFixed(2)} bits: ${parts.length} tokens, ${parts.map((b) => b.toFixed(2)).join(" + ")}`
        : `${sum.toFixed(2)} bits`;
    if (!text) {
      node.classList.add("none");
      node.dataset.exact += ", a token without text";
    }
    addText(node, text);
    return node;
  }

  // Of each piece the sentence that it is in, as [number in the original, moved]; empty: no marks.
  function unitsOf(condition) {
    return (condition.u ?? []).flatMap((run) => Array(run[2]).fill(run));
  }

  function conditionText(condition, isRead) {
    const node = make("dd");
    node.dir = "auto";
    const units = unitsOf(condition);
    let place = 0;
    condition.r.forEach(([region, pieces]) => {
      const span = make("span", isRead(region) ? "region read" : "region");
      span.dataset.region = region;
      if (condition.r.length > 1) {
        const edge = make("span", "edge");
        edge.dataset.region = region;
        span.append(edge);
      }
      let into = span;
      for (const end = place + pieces; place < end; place++) {
        const [label, moved] = units[place] ?? [];
        if (label && (units[place] !== units[place - 1] || into === span)) {
          into = make("span", moved ? "unit moved" : "unit");
          if (units[place] !== units[place - 1]) into.dataset.unit = label;
          span.append(into);
        } else if (!label) into = span;
        const bits = condition.b[place];
        if (bits === null) addText(into, condition.t[place]);
        else into.append(token(condition.t[place], bits));
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
    node.dataset.item = item.id;
    const head = make("h3", "head");
    head.append(make("span", "margin", one.m === null ? "no margin" : `${signed(one.m, 3)} bits`));
    const state = { met: "state state-met", "not met": "state state-not" }[one.s] ?? "state";
    head.append(make("span", state, one.c ? `${one.s}, too close to call` : one.s));
    const link = make("a", "id");
    link.append(make("bdi", "", item.id));
    const [config, split] = data.tables[item.t];
    link.href = address({ config, split, item: item.id });
    head.append(link, make("bdi", "", tableName(data.tables[item.t])));
    const about = make("p", "about");
    about.append(make("code", "", kind));
    if (one.w) about.append(make("span", "", WHY[one.w] ?? one.w));
    if (item.cut) about.append(make("span", "", `the first ${item.cut} tokens cut to fit`));
    for (const group of one.g) about.append(make("bdi", "", data.groups[group]));
    for (const [name, value] of item.x) about.append(make("bdi", "", `${name}: ${value}`));
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

  let found = [];
  // The id of the one item that is shown; empty: all.
  let only = "";

  // The filters stand in the address of the page: after the #, as key=value.
  const SHARED = { kind: "prediction", state: "outcome", order: "order", text: "q" };

  function address(values) {
    return "#" + new URLSearchParams(Object.entries(values).filter(([, value]) => value));
  }

  function share() {
    const [config, split] = data.tables[Number(field.table.value)] ?? [];
    const values = field.table.value ? { config, ...(splits && { split }) } : {};
    if (field.group.value) values.group = data.groups[field.group.value];
    for (const [name, key] of Object.entries(SHARED)) {
      const value = field[name].value;
      const usual = name === "order" ? "lowest" : "";
      if (value !== usual) values[key] = name === "kind" ? data.kinds[value] : value;
    }
    if (field.bits.checked) values.bits = "1";
    if (only) values.item = only;
    const hash = address(values);
    history.replaceState(null, "", hash === "#" ? location.href.split("#")[0] : hash);
  }

  function setFilters(values) {
    const { config, split, group, item } = values;
    for (const control of form.querySelectorAll("select")) control.selectedIndex = 0;
    field.text.value = values.q ?? "";
    field.bits.checked = values.bits === "1";
    only = item ?? "";
    const number = data.tables.findIndex(([c, s]) => c === config && (!split || s === split));
    if (data.tables.length > 1 && number >= 0) field.table.value = String(number);
    fillByTable();
    const place = data.groups.indexOf(group);
    if (group && place >= 0) field.group.value = String(place);
    for (const [name, key] of Object.entries(SHARED)) {
      if (name === "text" || !values[key]) continue;
      const value = name === "kind" ? String(data.kinds.indexOf(values[key])) : values[key];
      field[name].value = value;
      if (field[name].selectedIndex < 0) field[name].selectedIndex = 0;
    }
    update();
    form.scrollIntoView();
  }

  function followAddress() {
    if (!location.hash.includes("=")) return;
    setFilters(Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
  }

  function showMore() {
    const there = list.childElementCount;
    list.append(...found.slice(there, there + CHUNK).map(entry));
    more.hidden = list.childElementCount >= found.length;
    const all = data.predictions.length.toLocaleString("en");
    document.getElementById("count").value =
      `${found.length.toLocaleString("en")} of ${all} predictions` +
      (only && `, ${found.length ? "those" : "none on this page"} of ${only}`) +
      (more.hidden ? "" : `, the first ${list.childElementCount} shown`);
  }

  function update() {
    found = chosen();
    list.replaceChildren();
    list.classList.toggle("show-bits", field.bits.checked);
    showMore();
  }

  // A choice, hidden where there is none; returns whether the value is still there.
  function fill(select, names, numbers) {
    const before = select.value;
    select.replaceChildren(new Option("all", ""));
    for (const number of numbers) select.append(new Option(names[number], number));
    select.value = before;
    if (select.selectedIndex < 0) select.value = "";
    select.parentElement.hidden = numbers.length < 2 && !select.value;
  }

  // Groups and predictions are those of the config that is chosen.
  function fillByTable() {
    const table = field.table.value;
    const own = data.predictions.filter((one) => !table || data.items[one.i].t === Number(table));
    fill(field.group, data.groups, [...new Set(own.flatMap((one) => one.g))]);
    fill(field.kind, data.kinds, [...new Set(own.map((one) => one.k))]);
  }

  function findScore(values) {
    setFilters(values);
    share();
    field.order.focus({ preventScroll: true });
  }

  fill(field.table, data.tables.map(tableName), data.tables.map((_, number) => number));
  fillByTable();
  if (!data.predictions.some((one) => one.c)) field.state.lastElementChild.remove();

  // What a hand changes is about all items again.
  function changed() {
    only = "";
    update();
    share();
  }

  let waiting;
  field.text.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(changed, 150);
  });
  form.addEventListener("change", (event) => {
    if (event.target === field.table) fillByTable();
    if (event.target === field.bits) {
      list.classList.toggle("show-bits", field.bits.checked);
      share();
    } else if (event.target !== field.text) changed();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => {
    setTimeout(() => {
      fillByTable();
      changed();
    });
  });
  window.addEventListener("hashchange", followAddress);
  more.addEventListener("click", () => {
    const there = list.childElementCount;
    showMore();
    // The button may be gone: the keyboard goes on where the new entries begin.
    const next = list.children[there];
    if (next) {
      next.tabIndex = -1;
      next.focus();
    }
  });
  for (const button of document.querySelectorAll("button.find"))
    button.addEventListener("click", () => findScore(button.dataset));

  // More entries before the end comes into sight.
  new IntersectionObserver(
    (seen) => {
      if (seen.some((one) => one.isIntersecting) && !more.hidden) showMore();
    },
    { rootMargin: "600px" },
  ).observe(more);

  function hideTip() {
    tip.hidden = true;
  }
  list.addEventListener("mouseover", (event) => {
    const node = event.target.closest(".t");
    if (!node) return hideTip();
    tip.textContent = `${node.dataset.exact}, region ${node.closest(".region").dataset.region}`;
    tip.hidden = false;
    const box = node.getClientRects()[0];
    const left = Math.max(4, Math.min(box.left, window.innerWidth - tip.offsetWidth - 4));
    const above = box.top - tip.offsetHeight - 5;
    tip.style.setProperty("left", `${left}px`);
    tip.style.setProperty("top", `${above > 0 ? above : box.bottom + 5}px`);
  });
  list.addEventListener("mouseleave", hideTip);
  window.addEventListener("scroll", hideTip, { passive: true });

  form.hidden = false;
  update();
  followAddress();
})();
