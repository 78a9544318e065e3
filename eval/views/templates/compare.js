// The items of two runs: what became of each with either, and its texts with the difference marked.
(() => {
  const { WHY, data, field, make, signed, addText, tableName, address } = listing;
  // Margins are drawn on a line from minus to plus the largest of the page.
  const REACH = data.predictions.reduce(
    (most, one) => Math.max(most, ...one.m.map(Math.abs)),
    1e-9,
  );
  const OUTCOMES = {
    model: ([, model]) => `right only for ${model}`,
    baseline: ([baseline]) => `right only for ${baseline}`,
    both: () => "right for both",
    neither: () => "right for neither",
    undefined: () => "no outcome",
  };

  function draw(tag, attributes) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  }

  // A ring is the baseline's margin, a dot the model's; the middle is 0 bits.
  function strip(margins) {
    const svg = draw("svg", { class: "strip", "aria-hidden": "true" });
    const [left, right] = margins.map((margin) => `${(50 + (49 * margin) / REACH).toFixed(2)}%`);
    svg.append(
      draw("line", { class: "axis", x1: "0", x2: "100%", y1: "50%", y2: "50%" }),
      draw("line", { class: "chance", x1: "50%", x2: "50%", y1: "0", y2: "100%" }),
      draw("line", { class: "interval", x1: left, x2: right, y1: "50%", y2: "50%" }),
      draw("circle", { cx: left, cy: "50%", r: "4" }),
      draw("circle", { class: "full", cx: right, cy: "50%", r: "4" }),
    );
    return svg;
  }

  // What became of the prediction with one of the runs, which leads to the item on its page.
  function met(one, place, where) {
    const page = data.pages[one.p][place];
    const node = make("span", "met");
    const name = make(page ? "a" : "span", "run");
    name.append(make("bdi", "", data.runs[one.p][place]));
    const { config, split, item } = where;
    if (page) name.href = page + (one.v ? address(where) : `#${encodeURIComponent([config, split, item].join("/"))}`);
    const state = { met: "state-met", right: "state-met", "not met": "state-not", wrong: "state-not" };
    node.append(name, " ", make("span", `state ${state[one.s[place].split(",")[0]] ?? ""}`, one.s[place]));
    if (one.w[place]) node.append(" ", make("small", "", WHY[one.w[place]] ?? one.w[place]));
    if (one.m[place] !== null) node.append(" ", make("span", "margin", `${signed(one.m[place], 3)} bits`));
    return node;
  }

  function segments(parts) {
    const node = make("dd");
    node.dir = "auto";
    for (const [text, kind, label] of parts) {
      const into = kind ? make(kind === "different" ? "mark" : "span", kind === "different" ? "" : `unit ${kind}`) : node;
      if (label) into.dataset.unit = label;
      addText(into, text);
      if (into !== node) node.append(into);
    }
    return node;
  }

  // The bits of a condition with either run, where the folders of results have them.
  function values(one, condition) {
    return one.v
      .filter(([name, , ...bits]) => name === condition && bits.every((value) => value !== null))
      .map(([, region, ...bits]) => {
        const node = make("span", "value");
        bits.forEach((value, place) => {
          node.append(place ? ", " : "", make("bdi", "", data.runs[one.p][place]), ` ${value.toFixed(3)}`);
        });
        node.append(make("small", "", `bits, region ${region}`));
        return node;
      });
  }

  function conditions(one, item) {
    const node = make("dl", "conditions");
    const texts = item.c ?? [...new Set(one.v.map(([name]) => name))].map((name) => [name, null]);
    for (const [name, parts] of texts) {
      const term = make("dt");
      term.append(make("bdi", "", name), " ", ...values(one, name));
      const both = make("div");
      both.append(term, ...(parts ? [segments(parts)] : []));
      node.append(both);
    }
    return node;
  }

  // The sentences of a document: both scores of each, its text where it is there, and what it is.
  function sentences(one, item) {
    const node = make("ol", "sentences");
    const count = Math.max(item.d?.length ?? 0, ...one.e.map((scores) => scores.length));
    for (let place = 0; place < count; place++) {
      const line = make("li", place === item.l ? "intruder" : "");
      const scores = make("span", "scores");
      for (const run of [0, 1]) {
        const score = one.e[run][place] ?? null;
        const own = make("span", "score");
        own.append(make("bdi", "", data.runs[one.p][run]), score === null ? " –" : ` ${signed(score, 3)}`);
        if (one.c[run].includes(place)) own.append(make("b", "called", "called"));
        scores.append(own);
      }
      const text = make("span", "text");
      text.dir = "auto";
      if (place === item.l) line.append(make("b", "truth", "intruder"));
      addText(text, item.d?.[place] ?? `sentence ${place + 1}`);
      line.append(text, ...(place ? [scores] : []));
      node.append(line);
    }
    return node;
  }

  function entry(one) {
    const item = data.items[one.i];
    const [config, split] = data.tables[item.t];
    const where = { config, split, item: item.id };
    const node = make("li");
    node.dataset.item = item.id;
    const head = make("h3", "head");
    head.append(make("span", "outcome", OUTCOMES[one.o](data.runs[one.p])));
    const link = make("a", "id");
    link.append(make("bdi", "", item.id));
    link.href = address({ ...where, outcome: "any" });
    head.append(link, make("bdi", "", tableName(data.tables[item.t])));
    const about = make("p", "about");
    about.append(make("code", "", data.kinds[one.k]));
    for (const group of one.g.map((number) => data.groups[number]))
      if (!group.endsWith("=")) about.append(make("bdi", "", group)); // else a column without value
    const runs = make("p", "runs");
    runs.append(met(one, 0, where), met(one, 1, where));
    const measured = one.m.every((margin) => margin !== null);
    if (measured) {
      const difference = make("span", "met");
      difference.append("difference ", make("b", "margin", `${signed(one.m[1] - one.m[0], 3)} bits`));
      runs.append(difference, strip(one.m));
    }
    node.append(head, about, runs);
    if (one.v) node.append(conditions(one, item));
    else if (one.e) node.append(sentences(one, item));
    return node;
  }

  listing.runs.forEach((name, number) => field.part.append(new Option(name, number)));
  field.part.parentElement.hidden = listing.runs.length < 2;
  listing.start({
    entry,
    measure: (one) => (one.m.every((margin) => margin !== null) ? one.m[1] - one.m[0] : null),
    isIn: (one, state) =>
      state === "any" || (state ? one.o === state : one.o === "model" || one.o === "baseline"),
    words: (item) => [
      item.id,
      ...(item.c ?? []).map(([, parts]) => parts.map(([text]) => text).join("")),
      ...(item.d ?? []),
    ],
    all: data.predictions.some((one) => one.v),
  });
})();
