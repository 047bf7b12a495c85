"use strict";
// Draws the page from its data. Texts of the heap get into the page as text only.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const names = data.names;
const total = data.bytes;
/** An answer as the commands print it in JSON: its texts are numbers of names, its lists of objects keys and values. */
const unpacked = (packed) => {
  if (typeof packed === "string") return packed.startsWith("0x") ? packed : names[parseInt(packed, 16)];
  if (Array.isArray(packed)) return packed.map(unpacked);
  if (packed === null || typeof packed !== "object") return packed;
  if (packed.keys) return packed.rows.map((row) => Object.fromEntries(packed.keys.map((key, place) => [key, unpacked(row[place])])));
  return Object.fromEntries(Object.entries(packed).map(([key, value]) => [key, unpacked(value)]));
};
const answers = unpacked(data.answers);

// --- Words and elements

const element = (tag, className, ...inside) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...inside.filter((part) => part !== null && part !== undefined));
  return made;
};
const button = (text, act) => {
  const made = element("button", "", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
};
const grouped = (number) => number.toLocaleString("en-US");
const inUnits = (bytes) => {
  let amount = bytes;
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (amount < 999.5) return (unit === "B" ? amount : amount.toFixed(amount < 99.95 ? 1 : 0)) + " " + unit;
    amount /= 1000;
  }
  return amount.toFixed(1) + " TB";
};
const share = (bytes, of = total) => {
  const percent = of === 0 ? 0 : 100 * bytes / of;
  return (percent > 0 && percent < 0.05 ? "<\u202f0.1" : percent.toFixed(1)) + "\u00a0%";
};
const counted = (number, noun) => grouped(number) + " " + noun + (number === 1 ? "" : "s");
const short = (name) => {
  const end = name.search(/[/<(]/);
  const head = end < 0 ? name : name.slice(0, end);
  return name.slice(head.lastIndexOf(".") + 1);
};
/** An object's id: in the page of a server a button, which shows the object. */
const idMark = (id) => {
  if (!data.view) return element("span", "id", id);
  const made = button(id, () => { location.hash = id; });
  made.className = "id";
  return made;
};
/** The name of a class, a button that lists its objects. */
const classMark = (name) => {
  const made = button(name, () => { location.hash = "class=" + encodeURIComponent(name); });
  made.className = "kind";
  return made;
};
const body = (section) => document.querySelector("#" + section + " .body");
/** A list that shows some of its rows, and more when asked. */
const long = (list, rows, made, step = 100) => {
  let end = 0;
  const more = button("", () => grow());
  more.className = "more";
  const grow = () => {
    list.append(...rows.slice(end, end + step).map(made));
    end = Math.min(rows.length, end + step);
    more.hidden = end >= rows.length;
    more.textContent = "Show " + grouped(Math.min(step, rows.length - end)) + " more of " + grouped(rows.length);
  };
  grow();
  return more;
};

const packages = new Map();
const packageOf = (name) => {
  const parts = name.split(".");
  return parts.length === 1 ? "no package" : parts.slice(0, Math.min(2, parts.length - 1)).join(".");
};
/** The colour of a class's package in all charts: the first ten that are drawn have one of their own. */
const hueOf = (name) => {
  const key = packageOf(name);
  if (!packages.has(key)) packages.set(key, packages.size < 10 ? "h" + packages.size : "plain");
  return packages.get(key);
};
const sample = (className, text) => element("span", "", element("i", "cell " + className), text);
/** The colours of these packages, and one for all that have none of their own. */
const legendOf = (keys, ...more) => {
  const coloured = [...packages].filter(([key, hue]) => keys.has(key) && hue !== "plain").map(([key, hue]) => sample(hue, key));
  const others = [...keys].some((key) => packages.get(key) === "plain") ? [sample("plain", "other packages")] : [];
  return element("div", "legend", ...coloured, ...others, ...more);
};
const threadNames = new Map(answers.threads.threads.filter((thread) => thread.name !== null).map((thread) => [thread.id, thread.name]));

// --- The sentence

document.title = "hprof report: " + data.file;
document.getElementById("sentence").textContent = data.sentence;
document.getElementById("facts").textContent = [
  data.file,
  data.made && "dumped " + data.made,
  inUnits(total) + " in " + counted(data.objects, "reachable object"),
  data.unreachable > 0 && counted(data.unreachable, "more object") + " not reachable, not shown",
  data.redacted && "redacted (" + data.redacted + ")",
].filter(Boolean).join(" \u00b7 ");
if (data.damaged > 0) {
  document.getElementById("sentence").before(element("p", "warning",
    "The dump has " + counted(data.damaged, "damaged place") + "; this is about the rest:"));
}

// --- Suspects

const isLibrary = (frame) => /^(javax?|jdk|sun|kotlin|scala)\./.test(frame);
/** A stack, of which the frames of libraries below the first are folded until somebody asks. */
const stackList = (frames, nameOf, made) => {
  const list = element("ol", "frames");
  for (let at = 0; at < frames.length;) {
    let end = at + 1;
    while (at > 0 && isLibrary(nameOf(frames[at])) && end < frames.length && isLibrary(nameOf(frames[end]))) end++;
    const items = frames.slice(at, end).map(made);
    if (items.length === 1) list.append(items[0]);
    else {
      const fold = element("li", "fold", button(grouped(items.length) + " frames of libraries", () => fold.replaceWith(...items)));
      fold.style.counterIncrement = "list-item " + items.length;
      list.append(fold);
    }
    at = end;
  }
  return list;
};
/** A frame as Java prints it. */
const frameText = ({ class: kind, method, source, line }) => kind + "." + method
  + "(" + (line === -3 ? "Native Method" : (source ?? "Unknown Source") + (line > 0 ? ":" + line : "")) + ")";
const framesList = (frames) => stackList(frames.map(frameText), (frame) => frame, (frame) => element("li", "", frame));
/** The kind of a root in words. */
const rootName = (kind) => ({
  "ROOT JNI GLOBAL": "JNI global reference", "ROOT MONITOR USED": "monitor in use", "ROOT STICKY CLASS": "system class",
  "ROOT THREAD OBJECT": "thread", "ROOT UNKNOWN": "kind unknown", "ROOT VM INTERNAL": "the JVM itself",
})[kind] ?? kind.replace(/^ROOT /, "").toLowerCase().replace(/^jni/, "JNI");
const pathList = (suspect) => {
  const { path } = suspect;
  const items = path.objects.map(({ class: kind, id, left_out: left, link, of_class: most }, place) => {
    if (left) return element("li", "", "\u2026 " + grouped(left) + " more objects in between, " + grouped(most) + " of them " + kind);
    const thread = threadNames.get(id);
    const item = element("li", place === 0 ? "root" : "",
      link === null ? null : element("span", "link", link + "  "),
      kind + (thread === undefined ? "" : " \u201c" + thread + "\u201d") + " ", idMark(id));
    if (suspect.accumulation && id === suspect.accumulation.id) {
      item.classList.add("point");
      item.append("  \u2190 most of the bytes gather here");
    }
    return item;
  });
  const weak = path.weak ? " There is no path without a weak, soft, phantom or finalizer reference." : "";
  return element("div", "", element("h3", "", "Path from a root (" + rootName(path.root) + ")" + weak), element("ol", "path", ...items));
};
const barCell = (bytes, of = total) => {
  const bar = element("span", "bar");
  bar.style.width = Math.min(60, of === 0 ? 0 : 60 * bytes / of) + "%";
  return element("td", "share", bar, share(bytes, of));
};
const holdsTable = (holds, of, bytesOf) => element("table", "", element("thead", "", element("tr", "",
  element("th", "", "Class"), element("th", "number", "Objects"), element("th", "number", bytesOf), element("th", "", "Share"))),
  element("tbody", "", ...holds.map(({ class: kind, objects, bytes, retained = bytes }) => element("tr", "", element("td", "", kind),
    element("td", "number", grouped(objects)), element("td", "number", inUnits(retained)), barCell(retained, of)))));
const suspectCard = (suspect, place) => {
  const inside = element("div", "", data.sentence.startsWith(suspect.sentence.replace(/\u2026$/, "")) ? null : element("p", "", suspect.sentence));
  if (suspect.path) inside.append(pathList(suspect));
  if (suspect.elements.length > 0) inside.append(element("h3", "", "What it keeps"), holdsTable(suspect.elements.slice(0, 5), suspect.retained, "Retained bytes"));
  if (suspect.holds.length > 0) {
    inside.append(element("details", "", element("summary", "", "All that it holds, by class"), element("div", "", holdsTable(suspect.holds, suspect.retained, "Own bytes"))));
  }
  if (suspect.allocated.length > 0) inside.append(element("h3", "", "Where it was allocated, as far as objects carry their stack"));
  for (const { class: kind, objects, frames } of suspect.allocated) {
    inside.append(element("p", "note", counted(objects, "object") + " of " + kind + ":"), framesList(frames));
  }
  const isClass = suspect.class.startsWith("class ");
  const who = suspect.id === null ? counted(suspect.objects, "object") + " of " + suspect.class : suspect.class + (isClass ? "" : " " + suspect.id);
  const card = element("details", "suspect", element("summary", "", element("b", "", (place + 1) + ". " + share(suspect.retained) + "  "), who), inside);
  card.open = place === 0;
  return card;
};
if (answers.suspects.length === 0) {
  body("suspects").append(element("p", "", "No object and no class stands out."));
}
body("suspects").append(...answers.suspects.map(suspectCard));

// --- What grew

const signed = (change, text) => (change > 0 ? "+" : change < 0 ? "\u2212" : "\u00b1") + text(Math.abs(change));
const plainTable = (heads, rows) => element("table", "", element("thead", "", element("tr", "", ...heads.map(([text, kind]) => element("th", kind, text)))), element("tbody", "", ...rows));
if (answers.growth) {
  const { classes, left_out: left, places, places_left_out: placesLeft, total_bytes_before: then } = answers.growth;
  const { before } = data;
  const grew = total - then;
  const grown = (row) => row.after.retained - row.before.retained;
  const rows = classes.filter((row) => grown(row) > 0);
  const most = Math.max(1, ...rows.map(grown));
  const row = (it) => {
    const bar = element("span", "bar");
    bar.style.width = 60 * grown(it) / most + "%";
    return element("tr", "", element("td", "", it.class, it.before.objects === 0 ? element("span", "note", "  new") : null),
      element("td", "number grown", signed(grown(it), inUnits)), element("td", "number", inUnits(it.after.retained)),
      element("td", "number", signed(it.after.objects - it.before.objects, grouped)), element("td", "number", grouped(it.after.objects)), element("td", "share", bar));
  };
  const table = plainTable([["Class", ""], ["Grown", "number"], ["Retained", "number"], ["More objects", "number"], ["Objects", "number"], ["", ""]], []);
  const place = ({ after: { objects, retained }, class: kind, depth, field, grown, moved }) => {
    const cell = element("td", "place", field === null ? kind : field + "  " + kind);
    cell.style.paddingLeft = depth + "em";
    return element("tr", "", cell, element("td", "number grown", grown > 0 ? signed(grown, inUnits) : ""), element("td", "number", moved > 0 ? inUnits(moved) : ""),
      element("td", "number", inUnits(retained)), element("td", "number", grouped(objects)));
  };
  const growing = plainTable([["Place", ""], ["Grown", "number"], ["Moved here", "number"], ["Retained", "number"], ["Objects", "number"]], []);
  body("growth").append(
    element("p", "", "Since ", element("b", "", before.file), before.made ? " of " + before.made : "", ": ", element("span", "grown", signed(grew, inUnits)),
      ", from " + inUnits(then) + " to " + inUnits(total) + "."),
    element("h3", "", "Where it grew"),
    element("p", "note", "Objects by class, each below what alone holds it, down to where the growth spreads. What moved here left another place."),
    ...(places.length > 0 ? [growing, long(growing.lastChild, places, place, 30)] : placesLeft > 0 ? [] : [element("p", "note", "No place grew.")]),
    ...(placesLeft > 0 ? [element("p", "note", "The page has no room for " + counted(placesLeft, "more place") + "; hprof diff lists all.")] : []),
    element("h3", "", "Classes that grew"),
    ...(rows.length > 0 ? [table, long(table.lastChild, rows, row, 20)] : [element("p", "note", "None did.")]),
    ...(left > 0 ? [element("p", "note", "The page has no room for " + grouped(left) + " more classes; hprof diff lists all.")] : []));
} else {
  document.getElementById("growth").remove();
}

// --- Trees that are drawn as boxes

const node = (parent, text, full, bytes, hue, kind) => {
  const made = { parent, text, full, bytes, hue, kind, held: 0, children: [] };
  if (parent) parent.children.push(made);
  return made;
};
const largestFirst = (a, b) => b.bytes - a.bytes;

/** The dominator tree from its columns. */
const heapTree = () => {
  const { tree } = data;
  const [HEAP, CLASS, OTHERS, GROUP, TOGETHER] = [0, 2, 3, 4, 5];
  const classes = "java.lang.Class";
  const held = ["", "a root", "held by two or more"];
  const made = [];
  tree.parent.forEach((parent, place) => {
    const [kind, name, bytes, objects, id] = [tree.kind[place], names[tree.name[place]], tree.bytes[place], tree.objects[place], tree.id[place] && "0x" + tree.id[place]];
    let [text, full, sort, hue] = [short(name), name, "", hueOf(name)];
    if (kind === HEAP) [text, full] = ["Whole heap", "The whole heap"];
    if (kind === CLASS) [text, full] = ["class " + text, "The class " + full + " (its static fields)"];
    if (kind === OTHERS) [text, full, sort, hue] = [counted(objects, "smaller object"), counted(objects, "smaller object") + " and what they retain", "others", ""];
    if (kind === GROUP || kind === TOGETHER) {
      [text, full] = name === classes ? [grouped(objects) + " classes", grouped(objects) + " classes"]
        : [text + " \u00d7" + grouped(objects), counted(objects, "object") + " of " + full];
      if (kind === TOGETHER) full += ", drawn as one";
    }
    if (threadNames.has(id)) [text, full] = [text + " \u201c" + threadNames.get(id) + "\u201d", full + " \u201c" + threadNames.get(id) + "\u201d"];
    if (id !== 0) full += " " + id;
    const top = node(place === 0 ? null : made[parent], text, full, bytes, hue, sort);
    // A class always is held by two or more.
    top.held = kind === CLASS ? 0 : tree.held[place];
    top.id = id;
    top.own = tree.own[place];
    top.base = kind === CLASS ? "class " + short(name) : short(name);
    if (top.held > 0) {
      full += kind === GROUP || kind === TOGETHER ? (top.held === 1 ? ", roots" : ", each " + held[2]) : ", " + held[top.held];
      top.full = full;
    }
    if (top.held === 2) top.kind = "shared";
    made.push(top);
  });
  for (const one of made) {
    if (one.children.length > 0 && one.own > 0) {
      const many = one.full.endsWith("drawn as one");
      node(one, one.base + (many ? " themselves" : " itself"), one.full + (many ? ": the objects themselves" : ": the object itself"), one.own, one.hue, "own");
    }
    one.children.sort(largestFirst);
  }
  return made[0];
};

/** Places boxes in a rectangle, each as near to a square as its row lets it be. Calls `place` with box and rectangle. */
const squarify = (boxes, [left, top, width, height], place) => {
  let sum = boxes.reduce((all, box) => all + box.bytes, 0);
  let at = 0;
  while (at < boxes.length && width > 0 && height > 0 && sum > 0) {
    const side = Math.min(width, height);
    const scale = width * height / sum;
    let [row, end, worst] = [0, at, Infinity];
    while (end < boxes.length) {
      const next = row + boxes[end].bytes;
      const thick = next * scale / side;
      const ratio = (box) => { const long = box.bytes * scale / thick; return Math.max(long / thick, thick / long); };
      const now = Math.max(ratio(boxes[at]), ratio(boxes[end]));
      if (now > worst) break;
      [row, worst, end] = [next, now, end + 1];
    }
    const thick = row * scale / side;
    let along = 0;
    for (; at < end; at++) {
      const long = boxes[at].bytes * scale / thick;
      if (width >= height) place(boxes[at], [left, top + along, thick, long]);
      else place(boxes[at], [left + along, top, long, thick]);
      along += long;
    }
    if (width >= height) [left, width] = [left + thick, width - thick];
    else [top, height] = [top + thick, height - thick];
    sum -= row;
  }
};

const CELLS_MAX = 5000;
const DRAWN_PX = 3;
const DIVIDED_PX = 12;
const LABEL_PX = 18;
const ROW_PX = 20;
const ROWS_MAX = 40;

/** Cells of a treemap, parents first. The boxes of the first level have a strip for their names. */
const treemapCells = (root, width, height) => {
  const cells = [];
  const open = [{ box: root, where: [0, 0, width, height], level: 0, first: null }];
  const area = ({ where: [, , wide, high] }) => wide * high;
  while (open.length > 0 && cells.length < CELLS_MAX) {
    // The largest first, so that what is left undivided is small.
    let at = 0;
    open.forEach((cell, place) => { if (area(cell) > area(open[at])) at = place; });
    const [above] = open.splice(at, 1);
    const { box, where: [left, top, wide, high], level } = above;
    const strip = level === 1 && wide > 40 && high > 2 * LABEL_PX ? LABEL_PX : 0;
    squarify(box.children, [left, top + strip, wide, high - strip], (child, where) => {
      if (where[2] < DRAWN_PX || where[3] < DRAWN_PX || cells.length >= CELLS_MAX) return;
      above.divided = true;
      const cell = { box: child, where, level: level + 1, first: above.first };
      cell.first ??= cell;
      cells.push(cell);
      if (where[2] > DIVIDED_PX && where[3] > DIVIDED_PX && child.children.length > 0) open.push(cell);
    });
  }
  return cells;
};

/** Cells of an icicle: a row for each level, what is held below what holds it. */
const icicleCells = (root, width) => {
  const cells = [];
  let open = [[root, 0, width]];
  for (let level = 0; level < ROWS_MAX && open.length > 0; level++) {
    const next = [];
    for (const [box, left, wide] of open) {
      if (wide < DRAWN_PX - 1 || cells.length >= CELLS_MAX) continue;
      const cell = { box, where: [left, level * ROW_PX, wide, ROW_PX], level };
      cell.first = cell;
      cells.push(cell);
      let at = left;
      for (const child of box.children) {
        const part = wide * child.bytes / box.bytes;
        next.push([child, at, part]);
        at += part;
      }
    }
    open = next;
  }
  return cells;
};

/** Down from a box as long as one child has nearly all of it. */
const chain = (box) => {
  const boxes = [box];
  for (let at = box; boxes.length < 64;) {
    const child = at.children[0];
    if (!child || child.kind === "own" || child.kind === "others" || child.bytes < 0.9 * at.bytes) return boxes;
    boxes.push(child);
    at = child;
  }
  return boxes;
};

/** A chart of a tree: boxes, the trail to what is shown, the list of its parts, and words for what is chosen. */
class Chart {
  constructor(root, { icicle, label, wholeName }) {
    [this.root, this.shown, this.icicle, this.wholeName] = [root, root, icicle, wholeName];
    this.trail = element("div", "trail");
    this.trail.setAttribute("aria-label", "Trail");
    this.area = element("div", "chart");
    this.area.tabIndex = 0;
    this.area.setAttribute("role", "group");
    this.area.setAttribute("aria-label", label + ". Arrow keys choose a box, Enter zooms in, Backspace zooms out, Home shows all.");
    this.told = element("p", "told");
    this.told.setAttribute("aria-live", "polite");
    this.parts = element("div", "parts");
    this.element = element("div", "", this.trail, element("div", "split", element("div", "", this.area, this.told), this.parts));
    this.area.addEventListener("click", (event) => { const cell = this.cellAt(event); if (cell) this.enter(cell); });
    this.area.addEventListener("mousemove", (event) => this.point(this.cellAt(event)));
    this.area.addEventListener("mouseleave", () => this.point(null));
    this.area.addEventListener("keydown", (event) => this.key(event));
    let width = 0;
    new ResizeObserver(() => {
      if (this.area.clientWidth !== width) { width = this.area.clientWidth; this.draw(); }
    }).observe(this.area);
  }

  show(box) {
    this.shown = box;
    this.draw();
  }

  setRoot(root) {
    this.root = root;
    this.show(root);
  }

  /** Zooms into the box of a cell, past boxes of which one part is nearly all. */
  enter(cell) {
    const boxes = this.icicle ? [cell.box] : chain(cell.first.box).filter((box) => box.children.length > 0);
    const target = boxes.at(-1);
    if (target && target.children.length > 0 && target !== this.shown) this.show(target);
    else if (cell.box === this.shown && this.shown.parent) this.show(this.shown.parent);
    else this.tell(cell.box);
  }

  out() {
    if (this.shown.parent) {
      const from = this.shown;
      this.show(from.parent);
      this.choose(this.cells.find((cell) => cell.box === from));
    }
  }

  draw() {
    const width = Math.max(200, this.area.clientWidth);
    const height = Math.max(320, Math.min(560, width * 0.58));
    this.cells = this.icicle ? icicleCells(this.shown, width) : treemapCells(this.shown, width, height);
    const rows = this.icicle ? Math.max(...this.cells.map((cell) => cell.level)) + 1 : 0;
    this.area.style.height = (this.icicle ? Math.max(6, rows) * ROW_PX : height) + "px";
    this.chosen = null;
    this.sight = element("div", "sight");
    this.sight.hidden = true;
    this.area.replaceChildren(...this.cells.map((cell, place) => this.drawn(cell, place, width)), this.sight);
    this.drawTrail();
    this.drawParts();
    this.tell(null);
  }

  drawn(cell, place, width) {
    const { box, where: [left, top, wide, high], level } = cell;
    const made = element("div", ["cell", box.hue, box.kind, !this.icicle && level === 1 ? "top" : ""].filter(Boolean).join(" "));
    made.dataset.place = place;
    made.style.left = 100 * left / width + "%";
    made.style.width = 100 * wide / width + "%";
    made.style.top = top + "px";
    made.style.height = high + "px";
    const named = this.icicle || level === 1 || !cell.divided;
    if (named && wide > 36 && high >= 16) made.textContent = this.label(cell);
    cell.element = made;
    return made;
  }

  label({ box, level, divided, where }) {
    const boxes = !this.icicle && level === 1 && divided ? chain(box) : [box];
    const path = boxes.map((one) => one.text).join(" \u203a ");
    const held = this.shown === this.root && box.held === 2 ? ", held by two or more" : "";
    if (level > 1 && !this.icicle) return path;
    return where[2] < 110 ? path : share(box.bytes, this.root.bytes) + "  " + path + held;
  }

  drawTrail() {
    const boxes = [];
    for (let box = this.shown; box; box = box.parent) boxes.unshift(box);
    const parts = [];
    boxes.forEach((box, place) => {
      if (place > 0) parts.push(element("span", "", "\u203a"));
      const step = button(box.text + "  " + share(box.bytes, this.root.bytes), () => this.show(box));
      step.title = box.full;
      if (box === this.shown) step.setAttribute("aria-current", "true");
      step.setAttribute("aria-pressed", String(box === this.shown));
      parts.push(step);
    });
    this.trail.replaceChildren(...parts);
  }

  drawParts() {
    const most = 8;
    const list = element("ul", "parts");
    const drawn = this.shown.children.filter((box) => box.bytes >= 0.0005 * this.root.bytes).slice(0, most);
    for (const box of drawn) {
      const boxes = this.icicle ? [box] : chain(box).filter((one) => one.children.length > 0);
      const target = boxes.at(-1) || box;
      const part = button("", () => this.show(target));
      part.append(element("b", "", share(box.bytes, this.root.bytes)), box.text + (box.held === 2 ? ", held by two or more" : ""));
      part.title = box.full;
      part.style.setProperty("--part", 100 * box.bytes / this.shown.bytes + "%");
      part.disabled = target.children.length === 0;
      list.append(element("li", "", part));
    }
    const left = this.shown.children.length - drawn.length;
    this.parts.replaceChildren(element("h3", "", "Inside " + this.shown.text), list,
      element("p", "note", left > 0 ? counted(left, "more part") + (left === 1 ? " is" : " are") + " smaller." : ""));
  }

  cellAt(event) {
    const found = event.target.closest(".cell");
    return found ? this.cells[Number(found.dataset.place)] : null;
  }

  point(cell) {
    if (!cell) { this.sight.hidden = true; this.tell(this.chosen && this.chosen.box); return; }
    this.frame(cell.first);
    this.tell(cell.box);
  }

  frame(cell) {
    const [, top, , high] = cell.where;
    this.sight.hidden = false;
    this.sight.style.left = cell.element.style.left;
    this.sight.style.width = cell.element.style.width;
    this.sight.style.top = top + "px";
    this.sight.style.height = high + "px";
  }

  tell(box) {
    const one = box || this.shown;
    const way = [];
    for (let above = one.parent; above && above !== this.shown && above !== this.root; above = above.parent) way.unshift(above.text);
    const inside = way.length > 0 ? "  In: " + way.slice(-4).join(" \u203a ") + "." : "";
    const mark = data.view && one.id ? idMark(one.id) : null;
    this.told.replaceChildren(...[element("b", "", inUnits(one.bytes) + " (" + share(one.bytes, this.root.bytes) + ")  "), one.full + "." + inside, mark].filter(Boolean));
  }

  choose(cell) {
    if (this.chosen) this.chosen.element.classList.remove("chosen");
    this.chosen = cell || null;
    if (!cell) return;
    cell.element.classList.add("chosen");
    this.frame(cell);
    this.tell(cell.box);
  }

  key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (ways[event.key]) this.move(ways[event.key]);
    else if (event.key === "Enter" || event.key === " ") { if (this.chosen) this.enter(this.chosen); else this.move([1, 0]); }
    else if (event.key === "Backspace" || event.key === "Escape") this.out();
    else if (event.key === "Home") this.show(this.root);
    else return;
    event.preventDefault();
  }

  /** Chooses the nearest box this way. */
  move([right, down]) {
    const open = this.cells.filter((cell) => this.icicle || cell.level === 1);
    if (!this.chosen) { this.choose(open[0]); return; }
    const middle = ({ where: [left, top, wide, high] }) => [left + wide / 2, top + high / 2];
    const [x, y] = middle(this.chosen);
    let [best, least] = [null, Infinity];
    for (const cell of open) {
      const [toRight, toDown] = [middle(cell)[0] - x, middle(cell)[1] - y];
      const along = toRight * right + toDown * down;
      const aside = Math.abs(toRight * down) + Math.abs(toDown * right);
      if (cell !== this.chosen && along > 1 && along + 2 * aside < least) [best, least] = [cell, along + 2 * aside];
    }
    if (best) this.choose(best);
  }
}

/** Buttons of which one is pressed. */
const choice = (label, options, act) => {
  const group = element("div", "tools");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", label);
  const buttons = options.map(([text, value], place) => {
    const made = button(text, () => {
      buttons.forEach((one) => one.setAttribute("aria-pressed", String(one === made)));
      act(value);
    });
    made.setAttribute("aria-pressed", String(place === 0));
    return made;
  });
  group.append(...buttons);
  return group;
};
const keysNote = () => element("p", "note keys",
  "Click a box to zoom in, and a name in the trail to go back. Keys: arrows choose a box, Enter zooms in, Backspace zooms out, Home shows all.");

// --- The map

if (total > 0) {
  const root = heapTree();
  const chart = new Chart(root, { icicle: false, label: "Map of the heap" });
  body("map").append(
    choice("Form", [["Treemap", false], ["Icicle", true]], (icicle) => { chart.icicle = icicle; chart.draw(); }),
    chart.element,
    legendOf(new Set(packages.keys()), sample("own h0", "hatched: the object itself"), sample("others", "lines: smaller objects, summed up"), sample("shared h0", "dots: held by two or more, so that no single object retains it")),
    keysNote());
}

// --- Stacks

/** The class of a frame such as `app.Main.run(Main.java:7)`. */
const classOf = (frame) => {
  const method = frame.split("(")[0];
  return method.slice(0, Math.max(0, method.lastIndexOf(".")));
};
/** `Item.<init>:33` for `shop.Shop$Item.<init>(Shop.java:33)`. */
const labelOf = (frame) => {
  const [before, place = ""] = frame.split("(");
  const [kind, method = ""] = before.split(".").slice(-2);
  const inner = kind.slice(kind.lastIndexOf("$") + 1);
  const line = place.match(/:(\d+)\)$/);
  return (/^[A-Z]\w*[a-z]/.test(inner) && !isLibrary(frame) ? inner : kind) + "." + method + (line ? ":" + line[1] : "");
};
const stackTree = (leafFirst) => {
  const root = node(null, "All stacks", "All live bytes that have a stack", 0, "plain", "");
  const step = (parent, text, full, hue) => {
    parent.index ??= new Map();
    const found = parent.index.get(full);
    if (found) return found;
    const made = node(parent, text, full, 0, hue, "");
    parent.index.set(full, made);
    return made;
  };
  for (const { bytes, class: name, frames, frames_left_out: left } of answers.stacks.rows) {
    const steps = frames.map((frame) => [labelOf(frame), frame, hueOf(classOf(frame))]);
    if (left) steps.push(["\u2026 more callers", "Callers that are not shown", "plain"]);
    const kind = [short(name), "Objects of " + name, "plain"];
    if (leafFirst) steps.push(kind);
    else { steps.reverse(); steps.push(kind); }
    root.bytes += bytes;
    let at = root;
    for (const [text, full, hue] of steps) {
      at = step(at, text, full, hue);
      at.bytes += bytes;
    }
  }
  const sort = [root];
  while (sort.length > 0) {
    const { children } = sort.pop();
    children.sort(largestFirst);
    sort.push(...children);
  }
  return root;
};
if (answers.stacks) {
  const { recorded, rows, left_out: left, total_bytes: all } = answers.stacks;
  const tooSmall = all - rows.reduce((sum, row) => sum + row.bytes, 0);
  const note = recorded
    ? "As the profiler counted it. If it sampled, which is its default, these numbers are estimates: unbiased, but rough for what is small. "
    : "Estimated from the objects of the dump that carry the stack where they were allocated: each counts for those of its class and size that do not. ";
  const chart = new Chart(stackTree(true), { icicle: true, label: "Flame graph of live bytes" });
  const keys = new Set(rows.flatMap((row) => row.frames.map((frame) => packageOf(classOf(frame)))));
  body("allocated").append(
    element("p", "note", note + "The width of a box is bytes." + (left > 0 ? " " + counted(left, "stack") + " with " + inUnits(tooSmall) + " are too small for this page." : "")),
    choice("Order", [["Allocating line first, callers below", true], ["Callers first, allocating line last", false]], (first) => chart.setRoot(stackTree(first))),
    chart.element, legendOf(keys, sample("plain", "the class of the objects")), keysNote());
} else {
  body("allocated").append(element("p", "note",
    "The dump has no stacks of allocations. Record them with the agent\u2019s option heap=all or heap=sites."));
}

// --- Tables

const classTable = () => {
  const { rows, left_out: left } = answers.classes;
  const columns = [["Class", ""], ["Objects", "number"], ["Own bytes", "number"], ["Retained bytes", "number"]];
  const all = rows.map(({ class: kind, objects, shallow, retained }) => [kind, objects, shallow, retained]);
  const rest = (of, place) => of - all.reduce((sum, row) => sum + row[place], 0);
  let [by, down, wanted] = [3, true, ""];
  const tbody = element("tbody");
  const count = element("span", "note");
  count.setAttribute("aria-live", "polite");
  const more = element("div");
  const draw = () => {
    const shown = all.filter(([name]) => name.toLowerCase().includes(wanted));
    const compare = by === 0 ? (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) : (a, b) => a[by] - b[by];
    shown.sort((a, b) => (down ? -compare(a, b) : compare(a, b)));
    heads.forEach((head, place) => head.setAttribute("aria-sort", place !== by ? "none" : down ? "descending" : "ascending"));
    tbody.replaceChildren();
    more.replaceChildren(long(tbody, shown, ([name, objects, own, retained]) => element("tr", "", element("td", "", data.view ? classMark(name) : name),
      element("td", "number", grouped(objects)), element("td", "number", grouped(own)), element("td", "number", grouped(retained)), barCell(retained))));
    count.textContent = counted(shown.length, "class").replace(/classs$/, "classes") + (wanted ? " of " + grouped(all.length) : "");
  };
  const heads = columns.map(([text, kind], place) => element("th", kind, button(text, () => {
    [by, down] = [place, by === place ? !down : place > 0];
    draw();
  })));
  const filter = element("input");
  filter.type = "search";
  filter.placeholder = "Filter by name";
  filter.setAttribute("aria-label", "Filter classes by name");
  filter.addEventListener("input", () => { wanted = filter.value.toLowerCase(); draw(); });
  draw();
  const table = element("table", "", element("thead", "", element("tr", "", ...heads, element("th", "", "Share retained"))), tbody);
  const note = left > 0
    ? "The page has no room for " + grouped(left) + " more classes with " + counted(rest(data.objects, 1), "object") + " and " + inUnits(rest(total, 2)) + "; `hprof histo --retained --top 0` lists all."
    : "";
  const printed = all.length > 40 ? element("p", "note printed", "Of " + grouped(all.length) + " classes, 40 are printed.") : null;
  return [element("div", "tools", filter, count), table, more, printed, element("p", "note", note)].filter(Boolean);
};
body("classes").append(...classTable());

// --- Threads

const frameItem = ({ at, locals, locals_left_out: left }) => {
  const objects = locals.map((local) => short(local.class) + " (alone keeps " + inUnits(local.retained) + ")").join(", ");
  const more = left > 0 ? ", " + grouped(left) + " more" : "";
  return element("li", "", at, locals.length > 0 ? element("div", "note", "holds " + objects + more) : null);
};
const threadCard = ({ class: kind, frames, frames_left_out: framesLeft, id, local_objects: locals, name, retained }) => {
  const title = name === null ? kind + " " + id : name;
  const inside = frames.length > 0
    ? stackList(frames, (frame) => frame.at, frameItem)
    : element("p", "note", "The dump has no stack of this thread.");
  return element("details", "thread", element("summary", "", element("b", "", title),
    " \u00b7 retains " + inUnits(retained) + " (" + share(retained) + ") \u00b7 " + counted(locals, "local object") + " \u00b7 "
    + counted(frames.length + (framesLeft ?? 0), "frame")), element("div", "", element("p", "id", kind + " ", idMark(id)), inside));
};
const threads = body("threads");
threads.append(element("p", "note",
  "What a thread retains includes what only its frames hold: local variables and native code."));
const list = element("div");
threads.append(list, long(list, answers.threads.threads, threadCard, 50));
if (answers.threads.left_out > 0) {
  threads.append(element("p", "note", "The page has no room for " + grouped(answers.threads.left_out) + " more threads."));
}

// --- Waste

if (answers.waste) {
  const { waste } = answers;
  const { strings, arrays, zeros, unseen } = waste;
  const part = (title, bytes, note, heads, rows, left, made) => {
    const list = plainTable(heads, rows.map((row) => element("tr", "", ...made(row))));
    const inside = element("div", "", element("p", "note", note), rows.length > 0 ? list : null,
      left > 0 ? element("p", "note", "The page has no room for " + grouped(left) + " more rows; hprof waste --top 0 lists all.") : null);
    return element("details", "", element("summary", "", element("b", "", title), " \u00b7 " + inUnits(bytes) + " (" + share(bytes) + ")"), inside);
  };
  const number = (text) => element("td", "number", text);
  const cell = (text) => element("td", "", text);
  const copies = (row) => [number(inUnits(row.lost_bytes)), number(grouped(row.objects)), number(grouped(row.length)), cell(row.class), element("td", "", idMark(row.id))];
  const same = [["Lost", "number"], ["Copies", "number"], ["Length", "number"], ["Class", ""], ["One of them", ""]];
  const different = (all, what) => counted(all.objects, what) + " have only " + grouped(all.different) + " different contents.";
  body("waste").append(
    element("p", "", element("b", "", inUnits(waste.lost_bytes)), " of " + inUnits(total) + " (" + share(waste.lost_bytes) + ") hold nothing new."),
    ...(unseen ? [element("p", "note", "This dump is " + unseen + ".")] : []),
    ...[[strings.objects, part("Equal strings", strings.lost_bytes, different(strings, "string") + " All but one of each text are lost.", same, strings.groups, strings.groups_left_out, copies)],
    [arrays.objects, part("Equal arrays of primitive values", arrays.lost_bytes, different(arrays, "array") + " All but one of each are lost.", same, arrays.groups, arrays.groups_left_out, copies)],
    [zeros.objects, part("Arrays of zeros, not counted", zeros.lost_bytes, counted(zeros.objects, "array") + " of primitive values: never written?",
      [["Bytes", "number"], ["Arrays", "number"], ["Length", "number"], ["Class", ""], ["One of them", ""]], zeros.groups, zeros.groups_left_out, copies)],
    [waste.collections_bytes, part("Collections with little in them", waste.collections_bytes, "Empty, with one element, or with less than a quarter of their places in use.",
      [["Lost", "number"], ["Objects", "number"], ["Fault", ""], ["Class", ""], ["Held by", ""]], waste.collections, waste.collections_left_out,
      (row) => [number(inUnits(row.lost_bytes)), number(grouped(row.objects)), cell(row.fault), cell(row.class), cell(row.held_by)])],
    [1, part("Boxed values", waste.boxed_bytes, "Objects for numbers, characters and truth values.",
      [["Bytes", "number"], ["Objects", "number"], ["Class", ""], ["Held by", ""]], waste.boxed, waste.boxed_left_out,
      (row) => [number(inUnits(row.bytes)), number(grouped(row.objects)), cell(row.class), cell(row.held_by)])],
    ].filter(([seen], place) => seen > 0 || (!unseen && place !== 2)).map(([, made]) => made));
} else {
  document.getElementById("waste").remove();
}

// --- The memory of the process

if (answers.memory) {
  const { sentence, process, holders, holders_left_out: left } = answers.memory;
  const cell = (text) => element("td", "", text);
  const number = (text) => element("td", "number", text);
  body("memory").append(element("p", "", sentence));
  if (process) {
    const uses = [...process.uses, { use: "not known", bytes: process.unknown_bytes }];
    body("memory").append(plainTable([["Resident", "number"], ["Use", ""], ["Share", ""]], uses.map(({ use, bytes }) =>
      element("tr", "", number(inUnits(bytes)), cell(use.replaceAll("_", " ")), barCell(bytes, process.resident_bytes)))));
  }
  if (holders.length > 0) {
    body("memory").append(element("h3", "", "Outside of the heap, by the objects that hold it"),
      plainTable([["Bytes", "number"], ["Objects", "number"], ["Class", ""], ["Kind", ""], ["Held by", ""]], holders.map((row) => element("tr", "",
        number(row.bytes === 0 ? "?" : (row.is_estimate ? "~" : "") + inUnits(row.bytes)), number(grouped(row.objects)), cell(row.class), cell(row.kind), cell(row.held_by)))));
  }
  if (left > 0) body("memory").append(element("p", "note", "hprof memory lists " + counted(left, "more row") + "."));
} else {
  document.getElementById("memory").remove();
}

// --- Around it

for (const section of document.querySelectorAll("main section")) {
  document.querySelector("nav").append(button(section.querySelector("h2").textContent, () => section.scrollIntoView()));
}
document.querySelector("footer").textContent = "hprof " + data.version + ". Sizes: "
  + (data.sizes.told ? "as the JVM lays out its objects" : "computed by Eclipse MAT\u2019s rules, references of " + data.sizes.reference + " bytes")
  + ". References: " + (data.rule === "all" ? "all count, weak and soft ones too" : "weak, soft, phantom and finalizer references do not count")
  + ". Units are powers of 1,000. "
  + (data.view ? "The page loads nothing but answers of this command, on this machine." : "This page loads nothing and holds no values of the heap but names of classes, fields and threads.");
// Paper folds nothing: what is closed opens, but for the stacks of all but the first threads.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("#suspects details:not([open]), #waste details:not([open]), #threads details:nth-of-type(-n + 10):not([open])")) {
    folded.open = true;
    folded.dataset.opened = "";
  }
});
addEventListener("afterprint", () => {
  for (const opened of document.querySelectorAll("details[data-opened]")) {
    opened.open = false;
    delete opened.dataset.opened;
  }
});
/** For the page of a server. */
if (data.view) globalThis.page = { data, element, button, grouped, inUnits, share, counted, short, idMark, classMark, barCell, rootName };
})();
