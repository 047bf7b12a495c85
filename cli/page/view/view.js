// The objects behind the page: asks the command, and shows what it says as text only.
(() => {
const { data, element, button, grouped, inUnits, share, counted, idMark, classMark, barCell, rootName } = globalThis.page;
const STEP = 50;

const ask = async (question, parameters) => {
  let answer;
  try {
    answer = await fetch(question + "?" + new URLSearchParams(parameters), { cache: "no-store" });
  } catch {
    throw new Error("The command does not answer. If it has ended, start hprof view again.");
  }
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
};
/** Class and id of an object, or null. */
const objectMark = (object) => object === null ? ["null"]
  : object.class === undefined ? [object.id + " (not in the dump)"]
  : [object.class + " ", idMark(object.id), object.label === undefined ? "" : " \u201c" + object.label + "\u201d"];
/** The reference that joins an object of a list to another. */
const linkMark = (object) => object.link === undefined ? null : element("span", "link", object.link.trim() + "  ");
const fault = (error) => element("p", "fault", error.message);
/** Runs what asks the command, and shows in the place what went wrong. */
const tried = async (place, act) => {
  place.setAttribute("aria-busy", "true");
  try { await act(); } catch (error) { place.append(fault(error)); }
  place.removeAttribute("aria-busy");
};

// --- The section, in front of the map

const section = element("section", "");
section.id = "objects";
const search = element("input");
search.type = "search";
search.placeholder = "Class name or id, such as Session or 0x7f1c3a80";
search.setAttribute("aria-label", "Search for classes by name, for an object by id" + (data.view.strings ? ", or for strings by their text" : ""));
const inStrings = button("Search in strings", () => { clearTimeout(waiting); doSearch(true); });
inStrings.hidden = !data.view.strings;
const found = element("div");
found.setAttribute("aria-live", "polite");
const tree = element("div", "side");
const inspector = element("div", "side");
inspector.tabIndex = -1;
section.append(element("h2", "", "Objects"),
  element("p", "note", "Search, open the tree of what keeps what alive, or click an id anywhere on this page. The address of the page names the object, so that the back button works."
    + (data.view.values ? (data.view.strings ? "" : " Strings and values of arrays are hidden: hprof view --strings shows them.") : " A running JVM sends no values: hprof dump writes a file that has them.")),
  element("div", "tools", search, inStrings), found, element("div", "sides", tree, inspector));
document.querySelector("main").insertBefore(section, document.getElementById("map"));
const nav = document.querySelector("nav");
nav.insertBefore(button("Objects", () => section.scrollIntoView()), nav.children[1]);

// --- Search

let asked = 0;
const stringsFound = ({ strings, has_more: more }) => [
  ...(strings.length > 0 ? [element("ul", "tree scroll", ...strings.map((object) => element("li", "", ...objectMark(object))))] : []),
  element("p", "note", strings.length === 0 ? "No string has this text." : more ? "The first " + grouped(strings.length) + " that have this text; there are more." : counted(strings.length, "string") + " with this text."),
];
const doSearch = async (wantsStrings = false) => {
  const text = search.value.trim();
  const mine = ++asked;
  if (text === "") { found.replaceChildren(); return; }
  await tried(found, async () => {
    if (wantsStrings) {
      const told = await ask("strings", { text });
      if (mine === asked) found.replaceChildren(...stringsFound(told));
      return;
    }
    const told = await ask("search", { text });
    if (mine !== asked) return;
    const rows = told.classes.map((row) => element("tr", "", element("td", "", classMark(row.class)),
      element("td", "number", grouped(row.objects)), element("td", "number", inUnits(row.shallow)), element("td", "number", inUnits(row.retained)), barCell(row.retained)));
    const head = element("thead", "", element("tr", "", element("th", "", "Class"), element("th", "number", "Objects"),
      element("th", "number", "Own bytes"), element("th", "number", "Retained bytes"), element("th", "", "Share retained")));
    found.replaceChildren(
      ...(told.object ? [element("p", "", ...objectMark(told.object), " retains " + inUnits(told.object.retained))] : []),
      ...(rows.length > 0 ? [element("div", "scroll", element("table", "", head, element("tbody", "", ...rows)))] : []),
      element("p", "note", rows.length === 0 && !told.object ? "No class with reachable objects has this in its name, and no object has this id."
        : told.left_out > 0 ? counted(told.left_out, "more class").replace(/classs$/, "classes") + " with this in the name." : ""));
  });
};
let waiting = 0;
search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => doSearch(), 150); });
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && /^0x[0-9a-f]+$/i.test(search.value.trim())) location.hash = search.value.trim().toLowerCase();
});

// --- The tree

/** Appends the objects from a place on, and a button for those after them. */
const grow = async (list, question, parameters, from) => {
  const told = await ask(question, { ...parameters, from, top: STEP });
  list.append(...told.objects.map(branch));
  if (told.left_out === 0) return;
  const item = element("li", "more");
  const more = button("Show " + grouped(Math.min(STEP, told.left_out)) + " of " + grouped(told.left_out) + " more", () => tried(item, async () => {
    await grow(list, question, parameters, from + told.objects.length);
    item.remove();
  }));
  item.append(more);
  list.append(item);
};
const branch = (object) => {
  const item = element("li", "");
  const amount = element("span", "amount", inUnits(object.retained) + "  ");
  amount.title = share(object.retained);
  const inside = [amount, linkMark(object), ...objectMark(object)].filter((part) => part !== null);
  if (object.dominates === 0) {
    item.append(element("span", "leaf"), ...inside);
    return item;
  }
  let below = null;
  const turn = button("\u25b8", () => {
    if (below) below.hidden = !below.hidden;
    else {
      below = element("ul");
      item.append(below);
      tried(item, () => grow(below, "tree", { id: object.id }, 0));
    }
    turn.textContent = below.hidden ? "\u25b8" : "\u25be";
    turn.setAttribute("aria-expanded", String(!below.hidden));
  });
  turn.className = "turn";
  turn.setAttribute("aria-expanded", "false");
  turn.setAttribute("aria-label", "What it keeps alive: " + counted(object.dominates, "object"));
  item.append(turn, ...inside);
  return item;
};
/** The paths to the objects of a class as one tree, asked for when it is opened. */
const mergedPaths = (kind) => {
  const inside = element("div");
  const fold = element("details", "", element("summary", "", "How roots reach them"), inside);
  fold.addEventListener("toggle", () => tried(inside, async () => {
    const { paths, places, left_out: left } = await ask("paths", { class: kind });
    const rows = places.map((place) => {
      const item = element("li", "", element("span", "amount", share(place.paths, paths) + "  "), element("span", "link", (place.depth === 0 ? "(" + place.link + ")" : place.link.trim()) + "  "), ...objectMark(place));
      item.style.paddingLeft = Math.min(place.depth, 30) * 0.8 + "em";
      return item;
    });
    inside.replaceChildren(element("p", "note", paths === 0 ? "No root leads to them." : "The shortest paths to " + grouped(paths) + " of them, those that retain most; one id of each place."),
      element("ul", "tree scroll", ...rows), left > 0 ? element("p", "note", counted(left, "place") + " with fewer paths left out.") : "");
  }), { once: true });
  return fold;
};
const showTree = (title, note, question, parameters) => {
  const list = element("ul", "tree");
  tree.replaceChildren(element("h3", "", title), element("p", "note", note), ...(question === "objects" ? [mergedPaths(parameters.class)] : []), list);
  if (question === "objects") tree.append(element("p", "", button("Back to the whole heap", () => { location.hash = ""; })));
  return tried(tree, () => grow(list, question, parameters, 0));
};
const showTop = () => showTree("What keeps what alive", "Each object with the bytes that would go with it. Below an object is what it alone holds.", "tree", {});

// --- One object

const listOf = (title, { objects, left_out: left }, more) => {
  if (objects.length === 0) return [];
  const items = objects.map((object) => element("li", "", element("span", "amount", inUnits(object.retained) + "  "), linkMark(object), ...objectMark(object)));
  return [element("h3", "", title + " (" + grouped(objects.length + left) + ")"), element("ul", "tree scroll", ...items),
    left > 0 ? button("Show more of them", more) : null].filter(Boolean);
};
const pairs = (rows) => element("dl", "facts", ...rows.flatMap(([name, ...value]) => [element("dt", "", name), element("dd", "", ...value)]));
const valueOf = (field) => "object" in field ? objectMark(field.object) : [field.value === null ? "no value" : field.value];
const contentsOf = (contents, more) => {
  if (!contents) return [];
  if (contents.fields) {
    const rows = contents.fields.map((field) => element("tr", "", element("td", "", field.name), element("td", "note", field.type === "object" ? "" : field.type),
      element("td", "", ...valueOf(field)), element("td", "number", field.object && field.object.retained !== undefined ? inUnits(field.object.retained) : "")));
    if (rows.length === 0) return [element("p", "note", "It has no fields.")];
    return [element("h3", "", "Fields"), element("div", "scroll", element("table", "", element("thead", "", element("tr", "", element("th", "", "Name"), element("th", "", "Type"),
      element("th", "", "Value"), element("th", "number", "Retains"))), element("tbody", "", ...rows))), contents.left_out > 0 ? button("Show more of them", more) : null].filter(Boolean);
  }
  const title = element("h3", "", counted(contents.length, "element"));
  if (contents.elements) {
    const items = contents.elements.map((object) => element("li", "", element("span", "note", "[" + object.index + "] "), ...objectMark(object)));
    if (contents.nulls > 0) title.append(", " + grouped(contents.nulls) + " of them null");
    return [title, element("ul", "tree scroll", ...items), contents.length > items.length + (contents.nulls ?? 0) ? button("Show more of them", more) : null].filter(Boolean);
  }
  return [title, element("p", "", contents.values === null ? "Values of " + contents.type + " are hidden." : contents.values.join("  "))];
};
/** The entries of a collection: keys with their values, or elements. */
const entriesOf = (entries, more) => {
  if (!entries) return [];
  const { entries: rows, left_out: left } = entries;
  const all = grouped(rows.length + left) + (rows.length + left === 1 ? " entry" : " entries");
  const items = rows.map(({ key, value }) => element("li", "", ...(key === undefined ? [] : [...objectMark(key), " \u2192 "]), ...objectMark(value)));
  return [element("h3", "", all), element("ul", "tree scroll", ...items), left > 0 ? button("Show more of them", more) : null].filter(Boolean);
};
const pathOf = (path) => {
  if (!path) return [element("p", "note", "No root leads to it.")];
  const items = path.objects.map((object, place) => object.left_out !== undefined
    ? element("li", "", "\u2026 " + grouped(object.left_out) + " more objects in between, " + grouped(object.of_class) + " of them " + object.class)
    : element("li", place === 0 ? "root" : "", object.link === null ? null : element("span", "link", object.link + "  "), ...objectMark(object)));
  return [element("h3", "", "Path from a root (" + rootName(path.root) + ")"
    + (path.weak ? ", by a weak reference" : "")), element("ol", "path scroll", ...items)];
};
const inspect = async (id, top) => {
  const told = await ask("show", { id, top });
  const more = () => tried(inspector, () => inspect(id, 2000));
  const facts = [["Retains", inUnits(told.retained) + " (" + share(told.retained) + ")"], ["Own bytes", grouped(told.shallow)]];
  if (told.text !== null) facts.push(["Text", "\u201c" + told.text + "\u201d"]);
  if (told.root !== null) facts.push(["Root", rootName(told.root)]);
  facts.push(["Held by", ...(told.dominator ? objectMark(told.dominator) : [told.reachable ? "a root, or two or more objects" : "nothing: no root leads to it"])]);
  const className = told.class.replace(/^class /, "");
  inspector.replaceChildren(element("h3", "", told.class + " " + told.id),
    element("p", "", element("span", "note", "All objects of "), classMark(className)),
    pairs(facts), ...pathOf(told.path), ...entriesOf(told.entries, more), ...contentsOf(told.contents, more),
    ...listOf("Referred to by", told.referrers, more), ...listOf("Alone keeps alive", told.dominates, more));
};

// --- What the address names

const go = async () => {
  let name = "";
  // Somebody may have typed it.
  try { name = decodeURIComponent(location.hash.slice(1)); } catch { /* It names nothing. */ }
  if (/^0x[0-9a-f]+$/.test(name)) {
    inspector.replaceChildren(element("p", "note", "\u2026"));
    await tried(inspector, () => inspect(name, STEP));
    inspector.scrollIntoView({ block: "nearest" });
    inspector.focus({ preventScroll: true });
  } else if (name.startsWith("class=")) {
    const kind = name.slice("class=".length);
    await showTree("Objects of " + kind, "Those that retain most come first.", "objects", { class: kind });
    section.scrollIntoView();
  } else {
    await showTop();
  }
};
inspector.append(element("h3", "", "No object is chosen"), element("p", "note", "Click an id."));
addEventListener("hashchange", go);
if (location.hash.startsWith("#0x")) showTop();
go();
})();
