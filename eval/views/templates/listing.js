"use strict";
// What pages of items share: filters, the address that holds them, and the entries of what they leave.
// What datasets say reaches the page as text nodes and attributes, never as markup.
const listing = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("filters");
  const field = form.elements;
  const list = document.getElementById("list");
  const more = document.getElementById("more");
  // Entries that are put on the page at once: a screen or two.
  const CHUNK = 30;
  // Characters that move or hide text are spelled out: controls, line separators, directions.
  const CONTROL = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff])/;

  const WHY = {
    too_long: "too long for the model's context",
    identical: "the conditions are the same tokens for this model",
    separator: "the tokenizer has no separator",
    crossing: "a token crosses the edge of a compared region in one version only",
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

  // The name of a table: with its split where there are several.
  const splits = new Set(data.tables.map(([, split]) => split)).size > 1;
  const tableName = ([config, split]) => (splits ? `${config} (${split})` : config);

  function address(values) {
    return "#" + new URLSearchParams(Object.entries(values).filter(([, value]) => value));
  }

  const ORDERS = {
    lowest: (a, b) => a - b,
    highest: (a, b) => b - a,
    zero: (a, b) => Math.abs(a) - Math.abs(b),
    largest: (a, b) => Math.abs(b) - Math.abs(a),
  };
  // The filters stand in the address of the page: after the #, as key=value.
  const SHARED = { kind: "prediction", state: "outcome", order: "order", text: "q" };
  const KEYS = Object.entries(SHARED).filter(([name]) => field[name]);
  // Of selects whose values are numbers, what these count.
  const COUNTED = { kind: data.kinds };

  // `entry` makes the node of a prediction, `measure` is what it is sorted by (or null), `isIn` says
  // whether it has a state, `words` is what a text search of its item looks at; `all`: predictions
  // of several kinds may stand beside each other.
  function start({ entry, measure, isIn, words, all = true }) {
    let found = [];
    // The id of the one item that is shown; empty: all.
    let only = "";

    function chosen() {
      const table = field.table.value;
      const group = field.group.value;
      const kind = field.kind.value;
      const text = field.text.value.trim().toLowerCase();
      const left = data.predictions.filter((one) => {
        const item = data.items[one.i];
        return (
          (!only || item.id === only) &&
          (!table || item.t === Number(table)) &&
          (!group || one.g.includes(Number(group))) &&
          (!kind || one.k === Number(kind)) &&
          isIn(one, field.state.value) &&
          (!text || (item.words ??= words(item).join("\n").toLowerCase()).includes(text))
        );
      });
      const order = ORDERS[field.order.value];
      if (!order) return left;
      // Sorting is stable; those that have nothing to sort by come last.
      const measured = left.filter((one) => measure(one) !== null);
      const others = left.filter((one) => measure(one) === null);
      return measured.sort((a, b) => order(measure(a), measure(b))).concat(others);
    }

    function share() {
      const [config, split] = data.tables[Number(field.table.value)] ?? [];
      const values = field.table.value ? { config, ...(splits && { split }) } : {};
      if (field.group.value) values.group = data.groups[field.group.value];
      for (const [name, key] of KEYS) {
        const value = field[name].value;
        const usual = field[name].options?.[0].value ?? "";
        if (value !== usual) values[key] = COUNTED[name]?.[value] ?? value;
      }
      if (field.bits?.checked) values.bits = "1";
      if (only) values.item = only;
      const hash = address(values);
      history.replaceState(null, "", hash === "#" ? location.href.split("#")[0] : hash);
    }

    function setFilters(values) {
      const { config, split, group, item } = values;
      for (const control of form.querySelectorAll("select")) control.selectedIndex = 0;
      field.text.value = values.q ?? "";
      if (field.bits) field.bits.checked = values.bits === "1";
      only = item ?? "";
      const number = data.tables.findIndex(([c, s]) => c === config && (!split || s === split));
      if (data.tables.length > 1 && number >= 0) field.table.value = String(number);
      fillByTable();
      const place = data.groups.indexOf(group);
      if (group && place >= 0) field.group.value = String(place);
      for (const [name, key] of KEYS) {
        if (name === "text" || !values[key]) continue;
        const counted = COUNTED[name];
        field[name].value = counted ? String(counted.indexOf(values[key])) : values[key];
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
      const total = data.predictions.length.toLocaleString("en");
      document.getElementById("count").value =
        `${found.length.toLocaleString("en")} of ${total} ${form.dataset.what}` +
        (only && `, ${found.length ? "those" : "none on this page"} of ${only}`) +
        (more.hidden ? "" : `, the first ${list.childElementCount} shown`);
    }

    function update() {
      found = chosen();
      list.replaceChildren();
      list.classList.toggle("show-bits", Boolean(field.bits?.checked));
      showMore();
    }

    // A choice, hidden where there is none.
    function fill(select, names, numbers, withAll = true) {
      const before = select.value;
      select.replaceChildren(...(withAll ? [new Option("all", "")] : []));
      for (const number of numbers) select.append(new Option(names[number], number));
      select.value = before;
      if (select.selectedIndex < 0) select.selectedIndex = 0;
      select.parentElement.hidden = numbers.length < 2 && !(withAll && select.value);
    }

    // Groups and predictions are those of the config that is chosen.
    function fillByTable() {
      const table = field.table.value;
      const own = data.predictions.filter((one) => !table || data.items[one.i].t === Number(table));
      fill(field.group, data.groups, [...new Set(own.flatMap((one) => one.g))]);
      fill(field.kind, data.kinds, [...new Set(own.map((one) => one.k))], all);
    }

    function findScore(values) {
      setFilters(values);
      share();
      field.order.focus({ preventScroll: true });
    }

    // What a hand changes is about all items again.
    function changed() {
      only = "";
      update();
      share();
    }

    fill(field.table, data.tables.map(tableName), data.tables.map((_, number) => number));
    fillByTable();

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

    form.hidden = false;
    update();
    followAddress();
  }

  return { WHY, data, field, list, make, signed, addText, tableName, address, start };
})();
