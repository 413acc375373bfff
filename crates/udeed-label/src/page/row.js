"use strict";

// Draws the cells of a row. Their text is only ever text: nothing here makes markup of it.
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const percent = (share) => `${Math.round(100 * share)} %`;
const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

const element = (name, properties = {}, ...children) => {
  const made = document.createElement(name);
  Object.assign(made, properties);
  made.append(...children);
  return made;
};

const drawn = (name, attributes, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

// `ask` fetches text from the address, or null.
const rowDrawing = (address, ask) => {
  // A small histogram of the column, with the value marked.
  const histogram = ({ counts, at }) => {
    const [width, height] = [100, 22];
    const most = Math.max(...counts);
    const step = width / counts.length;
    const bars = counts.map((count, i) => {
      const tall = count === 0 ? 0 : Math.max(1, (height * count) / most);
      return drawn("rect", { class: "bars", x: i * step, y: height - tall, width: step - 1, height: tall });
    });
    const x = at === null ? null : Math.min(width - 1, Math.max(1, at * width));
    const mark = x === null ? [] : [drawn("line", { class: "value", x1: x, x2: x, y1: 0, y2: height })];
    return drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, ...bars, ...mark);
  };

  const place = (number) => {
    const above = number.below === null ? "missing" : `above ${percent(number.below)} of rows`;
    return element("span", { className: "place" }, histogram(number), element("span", { textContent: above }));
  };

  const shownWhole = (row, cell, text) => {
    const button = element("button", { type: "button", className: "small" });
    button.textContent = `Show all (${cell.more.toLocaleString("en")} more characters)`;
    button.addEventListener("click", async () => {
      const whole = await ask(`cell?row=${row}&column=${cell.column}`);
      if (whole === null) return;
      text.textContent = whole;
      text.tabIndex = 0;
      text.focus();
      button.remove();
    });
    return button;
  };

  const media = (row, cell) => {
    const source = `${address}media?row=${row}&column=${cell.column}`;
    if (cell.media === "image") return element("img", { src: source, alt: `${cell.name}: ${cell.text}` });
    return element("audio", { src: source, controls: true, preload: "metadata", ariaLabel: `${cell.name}: ${cell.text}` });
  };

  const drawnCell = (row, cell) => {
    const text = element("span", { className: "text", dir: "auto", textContent: cell.text });
    if (cell.text === "") Object.assign(text, { className: "text empty", textContent: "empty" });
    if (cell.number) text.classList.add("number");
    const value = element("dd", {}, text);
    if (cell.number) value.append(place(cell.number));
    if (cell.media) value.prepend(media(row, cell));
    if (cell.more) value.append(shownWhole(row, cell, text));
    return element("div", {}, element("dt", { dir: "auto", textContent: cell.name }), value);
  };

  return (row, cells) => byId("cells").replaceChildren(...cells.map((cell) => drawnCell(row, cell)));
};
