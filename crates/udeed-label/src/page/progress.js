"use strict";

// Draws how far labeling is.
const progressDrawing = () => {
  const summary = (state) => {
    const parts = [`${state.labeled} of ${counted(state.rows, "row")} labeled`, `${state.answered} here`];
    if (state.notSure) parts.push(`${state.notSure} not sure`);
    if (state.skipped) parts.push(`${state.skipped} skipped`);
    byId("summary").textContent = `${parts.join(", ")}. Answers are in ${state.answers}.`;
  };

  const estimate = ({ estimate, unjudged }) => {
    const left = unjudged ? ` ${counted(unjudged, "random row")} had no prediction or no label.` : "";
    if (!estimate) {
      byId("estimate").textContent = "not yet known";
      byId("estimate-why").textContent = `Every fifth question is a random row. On these the accuracy is estimated, once there is a model.${left}`;
      return;
    }
    const interval = element("small", { textContent: ` ${percent(estimate.low)} to ${percent(estimate.high)}` });
    byId("estimate").replaceChildren(percent(estimate.share), interval);
    byId("estimate-why").textContent =
      `${estimate.right} of ${counted(estimate.of, "random row")} were predicted right, each by the model that had not seen its label; 95 % interval. Chosen rows do not count.${left}`;
  };

  // The estimate after each random row, with its interval.
  const curve = ({ curve }) => {
    if (curve.length < 2) return byId("curve").replaceChildren();
    const [width, height, left, right, top, bottom] = [340, 180, 46, 10, 8, 34];
    const [first, last] = [curve[0].labels, curve[curve.length - 1].labels];
    const x = (labels) => left + ((width - left - right) * (labels - first)) / Math.max(1, last - first);
    const y = (share) => top + (height - top - bottom) * (1 - share);
    const at = (labels, share) => `${x(labels).toFixed(1)},${y(share).toFixed(1)}`;
    const upper = curve.map((point) => at(point.labels, point.high));
    const lower = curve.map((point) => at(point.labels, point.low)).reverse();
    const words = (text, attributes) => drawn("text", attributes, text);
    const grid = [0, 0.5, 1].flatMap((share) => [
      drawn("line", { class: "grid", x1: left, x2: width - right, y1: y(share), y2: y(share) }),
      words(percent(share), { x: left - 5, y: y(share) + 4, "text-anchor": "end" }),
    ]);
    const now = curve[curve.length - 1];
    const name = `Estimated accuracy: ${percent(curve[0].share)} after ${counted(first, "label")}, ${percent(now.share)} after ${last}, between ${percent(now.low)} and ${percent(now.high)}`;
    byId("curve").replaceChildren(drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name },
      ...grid,
      drawn("polygon", { class: "interval", points: [...upper, ...lower].join(" ") }),
      drawn("polyline", { class: "curve", points: curve.map((point) => at(point.labels, point.share)).join(" ") }),
      drawn("circle", { class: "dot", cx: x(last), cy: y(now.share), r: 3.5 }),
      words(first, { x: left, y: height - 16, "text-anchor": "middle" }),
      words(last, { x: width - right, y: height - 16, "text-anchor": "end" }),
      words("labels", { x: (left + width - right) / 2, y: height - 2, "text-anchor": "middle" })));
  };

  const model = (state) => {
    const labels = state.modelLabels === null ? "" : ` of ${counted(state.modelLabels, "label")}`;
    const known = state.classes.filter((own) => own.count > 0).length;
    const which = known < 2 ? "None yet: it needs labels of two classes." : state.cold
      ? `There is one${labels}; it is too young to choose rows.` : `It has learned${labels}.`;
    byId("model").textContent = state.learning && known >= 2 ? `${which} A newer one is learning.` : which;
    const [changed, of] = state.changed ?? [0, 0];
    byId("changed").textContent = of ? `It changed ${changed} of ${counted(of, "prediction")} of unlabeled rows.` : "";
  };

  const balance = ({ classes }) => {
    const all = Math.max(1, ...classes.map((own) => own.count));
    const random = classes.reduce((sum, own) => sum + own.random, 0);
    const rows = classes.map((own) => {
      const bar = drawn("svg", { width: "100%", height: 6, "aria-hidden": "true" },
        drawn("rect", { class: "share", width: `${(100 * own.count) / all}%`, height: 6 }));
      return element("tr", {}, element("th", { scope: "row", dir: "auto" }, own.shown, bar),
        element("td", { textContent: own.count }),
        element("td", { textContent: random ? percent(own.random / random) : "–" }));
    });
    byId("balance").tBodies[0].replaceChildren(...rows);
  };

  const recent = ({ recent }) => {
    const words = ({ row, label, predicted }) => {
      const expected = predicted === null ? "" : predicted === label ? ", as predicted" : `, predicted ${predicted}`;
      return element("li", { dir: "auto", textContent: `row ${row + 1}: ${label}${expected}` });
    };
    byId("recent").replaceChildren(...recent.map(words));
  };

  return (state) => [summary, estimate, curve, model, balance, recent].forEach((draw) => draw(state));
};
