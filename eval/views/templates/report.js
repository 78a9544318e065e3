// The items of one run: every token shaded by its surprisal.
(() => {
  const { WHY, data, field, list, make, signed, addText, tableName, address } = listing;
  const tip = document.getElementById("tip");
  // Bits from which a token has the darkest shade.
  const DARKEST = 16;

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
    for (const group of one.g.map((number) => data.groups[number]))
      if (!group.endsWith("=")) about.append(make("bdi", "", group)); // else a column without value
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

  if (!data.predictions.some((one) => one.c)) field.state.lastElementChild.remove();
  listing.start({
    entry,
    measure: (one) => one.m,
    isIn: (one, state) => !state || (state === "too close to call" ? one.c : one.s === state),
    words: (item) => [item.id, item.d, ...item.x.flat(), ...item.c.map((c) => c.t.join(""))],
  });
})();
