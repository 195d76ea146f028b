"use strict";
(() => {
  // A cell's own fields: a value has four (value, lower, upper, n), any other one.
  const fields = (cell) => (cell.dataset.x === undefined ? [cell.textContent.trim()] : cell.dataset.x.split(";"));
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

  // CSV as other programs read it. What a spreadsheet would run as a formula gets an apostrophe in front;
  // numbers, negative ones too, stay as they are.
  const neutral = (s) => (/^[=@\t\r\n]/.test(s) || (/^[+-]/.test(s) && !number.test(s)) ? "'" + s : s);
  const quote = (s) => (/[",\r\n]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s);
  const csv = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const title = (th) => th.dataset.title;
    const rows = [heads.flatMap((th) => (th.dataset.k ? ["", " lower", " upper", " n"].map((end) => title(th) + end) : [title(th)]))];
    for (const row of table.tBodies[0].rows) {
      rows.push([...row.cells].flatMap((cell, i) => {
        const all = fields(cell);
        return heads[i].dataset.k ? [0, 1, 2, 3].map((k) => all[k] ?? "") : [all[0]];
      }));
    }
    return rows.map((row) => row.map((s) => quote(neutral(s))).join(",") + "\n").join("");
  };
  const download = (table) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv;charset=utf-8" }));
    link.download = table.dataset.name.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 100) + ".csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // Numbers before texts, what is missing always last.
  const text = new Intl.Collator("en", { numeric: true });
  const sort = (table, column, way) => {
    const key = (row) => fields(row.cells[column])[0];
    const rank = (s) => (s === "" ? 2 : number.test(s) ? 0 : 1);
    const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
    rows.sort(([a], [b]) => {
      const [x, y] = [rank(a), rank(b)];
      if (x !== y) return x === 2 || y === 2 ? x - y : way * (x - y);
      return x === 2 ? 0 : way * (x === 0 ? a - b : text.compare(a, b));
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
    for (const th of table.tHead.rows[0].cells) th.removeAttribute("aria-sort");
    table.tHead.rows[0].cells[column].setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
  };

  const button = (label, name, click) => {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = label;
    if (name) b.setAttribute("aria-label", name);
    b.addEventListener("click", click);
    return b;
  };
  const ready = (table) => {
    [...table.tHead.rows[0].cells].forEach((th, i) => {
      const title = (th.dataset.title = th.textContent.trim());
      if (table.tBodies[0].rows.length < 2) return;
      const b = button("↕", "Sort by " + title, () => {
        const way = th.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const other of table.tHead.querySelectorAll("button")) other.textContent = "↕";
        sort(table, i, way);
        b.textContent = way > 0 ? "↑" : "↓";
      });
      th.append(" ", b);
    });
    const caption = table.closest("figure").querySelector("figcaption");
    caption.append(button("CSV", "Download as CSV: " + caption.textContent, () => download(table)));
  };
  // Tables in folded parts are made ready when they are unfolded, so that a page of many settings opens at once.
  const open = (root) => {
    for (const table of root.querySelectorAll("table.data:not([data-ready])")) {
      if (table.closest("details:not([open])")) continue;
      table.dataset.ready = "";
      ready(table);
    }
  };
  open(document);
  // Of a page of very many settings, each is packed until it is unfolded. What is unpacked is the same
  // HTML that a smaller page has in the open.
  const unpack = async (packed) => {
    const bytes = Uint8Array.from(atob(packed.content.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const holder = document.createElement("div");
    holder.innerHTML = await new Response(stream).text();
    packed.replaceWith(...holder.childNodes);
  };
  document.addEventListener("toggle", async (e) => {
    if (!e.target.open) return;
    const packed = e.target.querySelector(":scope > template.packed:not([data-taken])");
    if (packed) {
      packed.dataset.taken = "";
      await unpack(packed);
    }
    open(e.target);
  }, true);

  // A link to a folded part unfolds it; printing unfolds all of a small page.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let d = target && target.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
  let folded = [];
  addEventListener("beforeprint", () => {
    if (document.querySelectorAll("details.setting").length > 6) return;
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const d of folded) d.open = true;
  });
  addEventListener("afterprint", () => {
    for (const d of folded) d.open = false;
    folded = [];
  });
})();
