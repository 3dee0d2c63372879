"use strict";
// What reading does not need: search, the why of a node on hover and focus, copying, the theme.
(() => {
  const MOST_MARKED = 2000;  // Nodes that are marked as found in a card: marking all tells nothing, and takes its time.
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const search = byId("search"), found = byId("found"), tip = byId("tip");
  const suffix = byId("cards").dataset.suffix;  // What all nodes' names end in, and is not written in their cells.
  const cards = [...document.querySelectorAll(".card")];
  const undrawn = document.querySelectorAll(".card:has(.undrawn)").length;
  const once = (make) => { const made = new Map(); return (key) => made.get(key) ?? made.set(key, make(key)).get(key); };
  const line = (name, content) => Object.assign(document.createElement(name), { textContent: content });
  const states = [...document.querySelectorAll("button.count")];

  // Nodes: of large clusters they are lines of text, of which cells are made once somebody comes near.
  const nodeOf = new WeakMap();  // Cell → node.
  const written = (cell, name) => { const found = cell.querySelector(name); return found ? found.textContent : ""; };
  const ofCell = (cell) => ({ cell, shown: written(cell, "span"), name: written(cell, "span") + suffix, pods: written(cell, "b"), placed: written(cell, "ins"), note: cell.title });
  const ofLine = (line) => { const [shown, pods = "", placed = "", note = ""] = line.split("\t"); return { shown, name: shown + suffix, pods, placed, note }; };
  const known = (cell) => {
    if (!nodeOf.has(cell)) nodeOf.set(cell, ofCell(cell));
    return nodeOf.get(cell);
  };
  const linesOf = (group) => group.querySelector(".lines");
  const inGroup = once((group) => {
    const lines = linesOf(group);
    return lines ? lines.textContent.split("\n").map(ofLine) : [...group.querySelectorAll("li")].map(known);
  });
  const cellFor = (node, tiny) => {
    const cell = line("li", "");
    if (!tiny) cell.append(line("span", node.shown), ...(node.pods ? [line("b", node.pods)] : []), ...(node.placed ? [line("ins", node.placed)] : []));
    cell.classList.toggle("holds", node.pods !== "");
    cell.classList.toggle("hit", Boolean(node.hit));
    node.cell = cell;
    nodeOf.set(cell, node);
    return cell;
  };
  const draw = (group) => {
    const lines = linesOf(group);
    if (!lines) return;
    const list = line("ul", ""), tiny = lines.classList.contains("tiny");
    list.className = lines.className;
    list.classList.remove("lines");
    list.append(...inGroup(group).map((node) => cellFor(node, tiny)));
    lines.replaceWith(list);
    reach(group.closest(".map"));
  };
  const nearing = new IntersectionObserver((seen) => seen.forEach(({ isIntersecting, target }) => {
    if (!isIntersecting) return;
    nearing.unobserve(target);
    draw(target.parentElement);
  }), { rootMargin: "200px" });

  // Search: every word has to match, in the card's headline, else in one of its nodes, else anywhere in the card.
  const lower = (node) => (node ? node.textContent.toLowerCase() : "");
  const headline = (card) => ["h2", ".badge", ".about", ".same-for"].map((part) => lower(card.querySelector(part))).join(" ");
  const headOf = once(headline);
  const rows = new Map([...document.querySelectorAll(".overview a")].map((link) => [link.hash.slice(1), link.closest("tr")]));
  const rowOf = (card) => rows.get(card.id);
  const textOf = once(lower);
  const nodesOf = once((card) => [...card.querySelectorAll(".group")].flatMap((group) => {
    const around = ` ${lower(group.closest(".box").querySelector(".label b"))} ${lower(group.querySelector(".why"))}`;
    return inGroup(group).map((node) => Object.assign(node, { group, around, sought: node.name.toLowerCase(), hit: false }));
  }));
  const pressed = () => states.filter((each) => each.getAttribute("aria-pressed") === "true").map((each) => each.dataset.status);

  const mark = (node, hit) => {
    if (node.hit === hit) return;
    node.hit = hit;
    if (node.cell) node.cell.classList.toggle("hit", hit);
  };
  const matchNodes = (card, words) => {
    const matches = ({ sought, around }) => words.length > 0 && words.every((word) => sought.includes(word) || around.includes(word));
    const nodes = nodesOf(card), hits = nodes.filter(matches);
    const tellsApart = hits.length < Math.min(nodes.length, MOST_MARKED), marked = new Set(tellsApart ? hits : []);
    nodes.forEach((node) => mark(node, marked.has(node)));
    card.classList.toggle("searching", marked.size > 0);
    return hits;
  };
  const unfoldTo = (card) => {
    card.open = true;
    const around = new Set(nodesOf(card).filter(({ hit }) => hit).map(({ group }) => group.closest(".constraint")));
    around.forEach((each) => { if (each) each.open = true; });
  };
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = pressed();
    const names = new Set();
    const shown = [], hit = [];
    for (const card of cards) {
      const left = words.filter((word) => !headOf(card).includes(word));
      const hits = words.length || card.classList.contains("searching") ? matchNodes(card, left) : [];
      const matches = !left.length || hits.length || left.every((word) => textOf(card).includes(word));
      card.hidden = !matches || (wanted.length > 0 && !wanted.includes(card.dataset.status));
      const row = rowOf(card);
      if (row) row.hidden = card.hidden;
      if (card.hidden) continue;
      shown.push(card);
      if (hits.length) hit.push(card);
      hits.forEach(({ name }) => names.add(name));
    }
    if (hit.length <= 3) hit.forEach(unfoldTo);
    byId("none").hidden = shown.length > 0 || !cards.length;
    const nodes = names.size ? `, ${names.size} node${names.size > 1 ? "s" : ""}` : "";
    const unseen = words.length && undrawn ? `; nodes of ${undrawn} not drawn` : "";
    found.textContent = words.length || wanted.length ? `${shown.length} of ${cards.length} shown${nodes}${unseen}` : `${cards.length} in all`;
  };
  search.addEventListener("input", filter);
  states.forEach((each) => each.addEventListener("click", () => {
    each.setAttribute("aria-pressed", String(each.getAttribute("aria-pressed") !== "true"));
    filter();
  }));

  // The why of a node: one tooltip for all, so that a hundred thousand nodes need none of their own.
  let told = null;
  const words = (cell) => {
    const group = cell.closest(".group"), { pods, placed, note } = known(cell);
    cell.removeAttribute("title");
    const counted = `${pods || "no"} matching Pod${pods === "1" ? "" : "s"}`;
    const fate = group.querySelector(".why b").textContent.replace(/^\d+ /, "");
    const reason = group.querySelector(".reason");
    const label = cell.closest(".box").querySelector(".label b").textContent;
    return [
      `${label}: ${counted}${placed ? `, ${placed}` : ""}`,
      reason ? `${fate}: ${reason.textContent}` : fate,
      note,
    ].filter(Boolean);
  };
  const tell = (cell) => {
    if (told === cell) return;
    hush();
    told = cell;
    const { name } = known(cell);
    tip.replaceChildren(line("b", name), ...words(cell).map((each) => line("div", each)));
    cell.setAttribute("aria-label", name);
    cell.setAttribute("aria-describedby", "tip");
    tip.hidden = false;
    place(cell);
  };
  const place = (cell) => {
    const at = cell.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const below = at.bottom + 6 + own.height < innerHeight;
    tip.style.left = `${Math.max(8, Math.min(at.left, innerWidth - own.width - 8))}px`;
    tip.style.top = `${below ? at.bottom + 6 : Math.max(8, at.top - own.height - 6)}px`;
  };
  const hush = () => {
    if (told) told.removeAttribute("aria-describedby");
    told = null;
    tip.hidden = true;
  };
  const cellAt = (target) => (target instanceof Element ? target.closest(".cells li") : null);
  document.addEventListener("mouseover", ({ target }) => {
    if (tip.contains(target)) return;
    const cell = cellAt(target) || cellAt(document.activeElement);
    if (cell) tell(cell); else hush();
  });
  document.addEventListener("focusin", ({ target }) => { const cell = cellAt(target); if (cell) tell(cell); else hush(); });
  document.addEventListener("focusout", hush);
  document.addEventListener("scroll", () => { if (told) place(told); }, { passive: true });

  // Keys: one stop for each map, arrows within it.
  const stops = (map) => {
    map.querySelectorAll(".group").forEach(draw);
    return [...map.querySelectorAll(".cells li")];
  };
  const stopAt = (cell, before) => {
    if (before) before.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus();
    told = null;
    tell(cell);
  };
  const moves = {
    ArrowRight: (at) => at + 1, ArrowDown: (at) => at + 1, ArrowLeft: (at) => at - 1, ArrowUp: (at) => at - 1,
    Home: () => 0, End: (_, last) => last,
  };
  const reach = (map) => {
    const first = map.querySelector(".cells li");
    if (first && !map.querySelector("[tabindex]")) first.tabIndex = 0;
  };
  document.querySelectorAll(".map").forEach(reach);
  document.querySelectorAll(".lines").forEach((each) => nearing.observe(each));
  document.addEventListener("keydown", (event) => {
    const cell = cellAt(event.target);
    if (event.key === "Escape") {
      if (!tip.hidden) hush(); else if (search.value) { search.value = ""; filter(); }
    } else if (event.key === "/" && event.target !== search) {
      event.preventDefault();
      search.focus();
    } else if (cell && moves[event.key]) {
      event.preventDefault();
      const all = stops(cell.closest(".map")), next = moves[event.key](all.indexOf(cell), all.length - 1);
      if (all[next]) stopAt(all[next], cell);
    }
  });

  // Copying, where the browser lets a page do so.
  const copied = (button) => async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };
  if (navigator.clipboard) {
    document.querySelectorAll(".copy").forEach((button) => { button.hidden = false; button.addEventListener("click", copied(button)); });
  }

  const theme = byId("theme"), system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });
  system.addEventListener("change", nameTheme);

  const unfold = byId("unfold");
  unfold.addEventListener("click", () => {
    const open = unfold.textContent === "Unfold all";
    cards.forEach((card) => { card.open = open; });
    unfold.textContent = open ? "Fold all" : "Unfold all";
  });

  // A row of the overview leads to its card, unfolded.
  const unfoldTarget = () => { const card = byId(location.hash.slice(1)); if (card && cards.includes(card)) card.open = true; };
  rows.forEach((row, id) => row.querySelector("a").addEventListener("click", () => { byId(id).open = true; }));
  addEventListener("hashchange", unfoldTarget);
  unfoldTarget();

  root.classList.add("js");
  document.querySelectorAll("#bar, .keys").forEach((each) => { each.hidden = false; });
  nameTheme();
  filter();
})();
