// Graphs: drawn when they come near the window, saved as SVG and PNG, with their rows as a table behind them.
"use strict";
(() => {
  const { byId, cell, data, node, pause, visible } = focuseval;
  const views = new Map();
  const PAPER = 620; // of a saved figure
  const COLUMN = 330; // of a printed page, which has two
  const MANY = 4000; // marks that a browser still moves about smoothly as elements
  const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#1b1b1b", "#E69F00", "#56B4E9"];
  const DARK = ["#56B4E9", "#FF9A52", "#2CCB9F", "#E8A3C9", "#f4f1ea", "#F2C14E", "#7FA7FF"];

  const theme = (width, light) => {
    const dark = !light && matchMedia("(prefers-color-scheme: dark)").matches;
    const [ink, soft, line] = dark ? ["#ebe7df", "#b3ac9f", "#4a453d"] : ["#1d1c1a", "#5a564e", "#d9d4c9"];
    const accent = dark ? "#56B4E9" : "#0072B2";
    const narrow = width < 480;
    const columns = width < 360 ? 1 : narrow ? 2 : 3;
    return {
      font: "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif",
      background: null,
      padding: { left: 2, right: 8, top: 6, bottom: 2 },
      range: { category: dark ? DARK : LIGHT },
      axis: { labelColor: soft, titleColor: ink, gridColor: line, domainColor: soft, tickColor: soft, labelFontSize: 11,
        titleFontSize: 12, titleFontWeight: "normal", gridOpacity: 0.7, labelLimit: narrow ? 110 : 200 },
      header: { labelColor: ink, titleColor: ink, labelFontSize: 12 },
      legend: { orient: "bottom", columns, labelColor: ink, titleColor: soft, labelLimit: Math.max(120, width / columns - 30),
        symbolStrokeWidth: 2.5, symbolSize: 160, labelFontSize: 12, titleFontWeight: "normal", offset: 12 },
      mark: { color: accent }, text: { color: ink }, rule: { color: accent }, tick: { color: accent }, point: { color: accent },
      boxplot: { median: { color: ink, strokeWidth: 2 } },
      view: { stroke: null },
    };
  };

  /** Put names into the strings of a specification; what a name says is not looked at again. */
  const filled = (form, names) => {
    if (typeof form === "string") return form.replace(/\{(\w+)\}/g, (all, name) => names[name] ?? all);
    if (Array.isArray(form)) return form.map((one) => filled(one, names));
    if (form === null || typeof form !== "object") return form;
    return Object.fromEntries(Object.entries(form).map(([key, value]) => [key, filled(value, names)]));
  };

  /** A figure's graph; one that follows the chosen pair and measure gets its rows and names now. */
  const chartOf = (figure) => {
    const chart = data("report-data").charts.find((one) => one.id === figure.dataset.chart);
    if (!chart.form) return chart;
    const { names, rows } = focuseval.followed[chart.id](chart);
    return { ...chart, rows, spec: filled(chart.form.spec, names), caption: filled(chart.form.caption, names) };
  };

  const records = (chart) => chart.rows.map((row) => Object.fromEntries(chart.columns.map((name, i) => [name, row[i]])));

  /** A graph as Vega understands it, as wide as its place; for paper in light colours and of a fixed width. */
  const parsed = (chart, width, light) => {
    const spec = structuredClone(chart.spec);
    const least = spec.usermeta?.least ?? 0; // a narrower place scrolls
    if (spec.width === "container" && (light || width < least)) spec.width = Math.max(light ? width : 0, least);
    if (light) spec.autosize = { type: "fit-x", contains: "padding" };
    if (width === COLUMN && light && spec.height > 0) spec.height *= 0.75;
    if (spec.facet) spec.columns = Math.max(1, Math.floor(width / spec.usermeta.facet));
    for (const { field, legend, scale } of Object.values(spec.encoding ?? {})) {
      const at = chart.columns.indexOf(field); // a legend names only what is drawn
      if (legend && scale?.domain) legend.values = scale.domain.filter((kind) => chart.rows.some((row) => row[at] === kind));
    }
    const config = theme(width, light);
    return vega.parse(vegaLite.compile({ ...spec, data: { name: "rows", values: records(chart) } }, { config }).spec);
  };

  /** Draw a figure now; a second call draws it again in the colours of the moment. */
  const draw = (figure, paper = 0) => {
    const chart = chartOf(figure);
    const plot = figure.querySelector(".plot");
    views.get(figure)?.finalize();
    const renderer = chart.rows.length > MANY ? "canvas" : "svg";
    const view = new vega.View(parsed(chart, paper || plot.clientWidth, paper > 0), { renderer, container: plot, hover: true, logLevel: vega.Error });
    view.tooltip((_handler, _event, _item, value) => tell(figure, value));
    view.addEventListener("click", (_event, item) => {
      if (item?.tooltip) tell(figure, item.tooltip); // a finger leaves no pointer on the mark
      if (item?.datum?.topic !== undefined) openTopic(item.datum.topic);
    });
    view.run();
    views.set(figure, view);
    figure.dataset.drawn = "";
    if (chart.form) retell(figure, chart);
  };

  /** What a mark stands for, below the graph: by pointer, by touch, and by arrow keys. */
  const tell = (figure, value) => {
    const text = value && typeof value === "object" ? Object.entries(value).map(([name, one]) => `${name}: ${one}`).join(", ") : value ?? "";
    figure.querySelector(".tip").textContent = visible(text);
  };

  const retell = (figure, chart) => {
    figure.querySelector("figcaption").textContent = visible(chart.caption);
    figure.querySelector(".plot").setAttribute("aria-label", `${chart.title}. ${visible(chart.caption)}`);
    const holder = figure.querySelector("details .wide");
    if (figure.querySelector("details").open) holder.replaceChildren(...tables(chart));
    else holder.replaceChildren();
  };

  const openTopic = (name) => {
    const topic = focuseval.choice?.choices().topics.indexOf(String(name)) ?? -1;
    if (topic >= 0) location.hash = focuseval.choice.address({ topic, doc: "", at: "" });
  };

  /** Arrow keys go from row to row of the graph; Enter opens the row's topic. */
  const onKey = (figure, event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by && event.key !== "Enter") return;
    const chart = chartOf(figure);
    const place = Number(figure.dataset.row ?? -1);
    const topic = chart.columns.indexOf("topic");
    if (event.key === "Enter") {
      if (topic >= 0 && place >= 0) openTopic(chart.rows[place][topic]);
      return;
    }
    event.preventDefault();
    const next = (place + by + chart.rows.length) % chart.rows.length;
    figure.dataset.row = String(next);
    tell(figure, chart.columns.map((name, i) => `${name}: ${cell(chart.rows[next][i])}`).join(", "));
  };

  /** The graph for a paper: light, on white, whatever the page looks like. */
  const forPaper = (figure) => new vega.View(parsed(chartOf(figure), PAPER, true), { renderer: "none", logLevel: vega.Error }).background("white");

  const save = async (figure, kind) => {
    const view = forPaper(figure);
    const address = kind === "svg"
      ? URL.createObjectURL(new Blob([await view.toSVG()], { type: "image/svg+xml" }))
      : await view.toImageURL("png", 2);
    const link = node("a", { href: address, download: `${figure.dataset.chart}.${kind}` });
    link.click();
    if (kind === "svg") setTimeout(() => URL.revokeObjectURL(address), 1000);
    return address;
  };

  const line = (tag, cells, first) => {
    const tr = node("tr");
    cells.forEach((value, i) => {
      const head = tag === "th" || (i === 0 && first);
      const text = i === 0 ? visible(value ?? "–") : cell(value);
      tr.append(node(head ? "th" : "td", { class: i ? "number" : null, scope: head ? (tag === "th" ? "col" : "row") : null }, text));
    });
    return tr;
  };

  const plain = (columns, rows, caption) => {
    const table = node("table", {});
    if (caption) table.append(node("caption", {}, visible(caption)));
    table.append(node("thead", {}, line("th", columns)), node("tbody", {}, ...rows.map((row) => line("td", row, true))));
    return table;
  };

  const pivoted = (chart, rows, caption) => {
    const [down, across, value] = chart.pivot.map((name) => chart.columns.indexOf(name));
    const names = [...new Set(rows.map((row) => row[across]))];
    const lines = new Map();
    for (const row of rows) {
      if (!lines.has(row[down])) lines.set(row[down], new Map());
      lines.get(row[down]).set(row[across], row[value]);
    }
    const keys = [...lines.keys()];
    if (keys.every((key) => typeof key === "number")) keys.sort((a, b) => a - b);
    return plain([chart.head || chart.pivot[0], ...names], keys.map((key) => [key, ...names.map((name) => lines.get(key).get(name) ?? null)]), caption);
  };

  /** The rows of a graph as one table, or one for each value of the column that it is divided by. */
  const tables = (chart) => {
    const make = chart.pivot ? (rows, caption) => pivoted(chart, rows, caption) : (rows, caption) => plain(chart.columns, rows, caption);
    if (!chart.by) return [make(chart.rows)];
    const by = chart.columns.indexOf(chart.by);
    return [...new Set(chart.rows.map((row) => row[by]))].map((name) => make(chart.rows.filter((row) => row[by] === name), name));
  };

  focuseval.startCharts = () => {
    const figures = [...document.querySelectorAll("figure[data-chart]")];
    const near = new IntersectionObserver(async (entries) => {
      for (const { target } of entries.filter((one) => one.isIntersecting)) {
        near.unobserve(target);
        await pause(); // one graph a task: the page answers in between
        if (!views.has(target)) draw(target); // unless a change has drawn it meanwhile
      }
    }, { rootMargin: "300px" });
    for (const figure of figures) {
      const { form, spec } = data("report-data").charts.find((one) => one.id === figure.dataset.chart);
      const { height } = form?.spec ?? spec;
      if (height > 0) figure.querySelector(".plot").style.setProperty("--reserved", `${height + 100}px`); // so that a jump below it lands where it should
      near.observe(figure);
      figure.querySelector(".plot").addEventListener("keydown", (event) => onKey(figure, event));
      figure.querySelector("details").addEventListener("toggle", (event) => {
        const holder = event.target.querySelector(".wide");
        if (!holder.hasChildNodes()) holder.append(...tables(chartOf(figure)));
      });
      for (const button of figure.querySelectorAll("[data-save]")) button.addEventListener("click", () => save(figure, button.dataset.save));
    }
    const followers = figures.filter((figure) => data("report-data").charts.find((one) => one.id === figure.dataset.chart).form);
    focuseval.choice?.listen((changed) => {
      if (!["a", "b", "measure"].some((key) => changed.has(key))) return;
      for (const figure of followers.filter((one) => views.has(one))) {
        delete figure.dataset.row;
        views.get(figure).finalize();
        views.delete(figure);
        near.observe(figure); // drawn again at once where it is in view, else when it comes near
      }
    });
    const again = () => figures.filter((figure) => views.has(figure)).forEach((figure) => draw(figure));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    addEventListener("beforeprint", () => figures.forEach((figure) => draw(figure, figure.closest(".charts") ? COLUMN : PAPER)));
    addEventListener("afterprint", again);
    focuseval.charts = { draw, forPaper, save, views, byId: (id) => byId(`chart-${id}`) };
  };
})();
