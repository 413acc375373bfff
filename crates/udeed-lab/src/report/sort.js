"use strict";

// Sorts tables by the heads of their columns. A head becomes a button, so that a mouse, a keyboard and a screen reader can
// use it: the first press sorts (numbers from the highest, words from A), the second turns the order round, the third gives
// back the order in which the table was written. Cells without a value stay below.
{
  const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const key = (row, column) => {
    const cell = row.cells[column];
    const value = cell.dataset.value;
    return value === undefined ? cell.textContent.trim() : Number(value);
  };
  const compare = (a, b) => {
    if (typeof a === typeof b) return typeof a === "number" ? a - b : words.compare(a, b);
    return 0;
  };

  const sort = (table, written, column) => {
    const heads = [...table.tHead.rows[0].cells];
    const isNumber = written.some((row) => row.cells[column].dataset.value !== undefined);
    const orders = isNumber ? ["descending", "ascending"] : ["ascending", "descending"];
    const next = orders[orders.indexOf(heads[column].getAttribute("aria-sort")) + 1];
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    let rows = written;
    if (next) {
      heads[column].setAttribute("aria-sort", next);
      const sign = next === "ascending" ? 1 : -1;
      const isMissing = (row) => isNumber && typeof key(row, column) !== "number";
      const present = written.filter((row) => !isMissing(row));
      present.sort((a, b) => sign * compare(key(a, column), key(b, column)));
      rows = [...present, ...written.filter(isMissing)];
    }
    table.tBodies[0].append(...rows);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    const written = [...table.tBodies[0].rows];
    if (written.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, written, column));
      head.append(button);
    });
  }
}
