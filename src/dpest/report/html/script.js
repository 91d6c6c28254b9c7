"use strict";

/* Tables whose headers hold buttons sort by the cells' data-sort. */
for (const table of document.querySelectorAll("table.sortable")) {
  const headers = [...table.tHead.rows[0].cells];
  for (const [column, header] of headers.entries()) {
    header.querySelector("button")?.addEventListener("click", () => {
      const rising = header.getAttribute("aria-sort") !== "ascending";
      for (const other of headers) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => compare(key(a, column), key(b, column), rising)));
    });
  }
}

function key(row, column) {
  const text = row.cells[column].dataset.sort ?? row.cells[column].textContent;
  if (text === "") return null;
  return text === "inf" ? Infinity : Number.isNaN(Number(text)) ? text : Number(text);
}

/* Cells without a value stay last, whichever way the others are sorted. */
function compare(a, b, rising) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === "number" && typeof b === "number"
    ? (a === b ? 0 : a - b) : String(a).localeCompare(String(b), "en", { numeric: true });
  return rising ? order : -order;
}

/* The form .filter hides the rows of the table that it names. */
for (const form of document.querySelectorAll("form.filter")) {
  const rows = [...document.getElementById(form.dataset.table).tBodies[0].rows];
  const show = () => {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdict = form.elements.verdict?.value ?? "";
    let shown = 0;
    for (const row of rows) {
      const text = row.dataset.words;
      row.hidden = !words.every((word) => text.includes(word))
        || (verdict !== "" && row.dataset.verdict !== verdict);
      shown += !row.hidden;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length} shown`;
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
}
