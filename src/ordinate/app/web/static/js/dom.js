// Elements from data. Text only ever becomes text: nothing here reads markup.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Draw something into its place, or say there that it could not be drawn; the error is reported as any other is.
export function drawn(place, what, draw) {
  try {
    draw();
    return true;
  } catch (error) {
    fill(place, h("p", { class: "wrong", role: "alert" }, `could not draw ${what}: ${error.message}`));
    reportError(error);
    return false;
  }
}

let names = 0;

// A control with its visible label.
export function field(label, control, hint = null) {
  control.id ||= `control-${++names}`;
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, hint && h("span", { class: "soft small" }, hint));
}

export function select(options, chosen, onchange) {
  const control = h("select", { onchange: () => onchange(control.value) });
  offer(control, options, chosen);
  return control;
}

// Replace the options of a select, [value, label] or {group, options}, keeping what is chosen where it is still there.
export function offer(control, options, chosen = control.value) {
  const option = ([value, label]) => h("option", { value }, label);
  fill(control, options.map((one) => (one.group ? h("optgroup", { label: one.group }, one.options.map(option)) : option(one))));
  const values = [...control.options].map(({ value }) => value);
  control.value = values.includes(chosen) ? chosen : (values[0] ?? "");
}

export function table(headers, rows, className = "") {
  const head = headers.some(Boolean) && h("thead", {}, h("tr", {}, headers.map((text) => h("th", { scope: "col" }, text))));
  const body = rows.map(([first, ...rest]) =>
    h("tr", {}, h("th", { scope: "row" }, first), rest.map((cell) => h("td", { class: isNumber(cell) ? "number" : null }, cell))));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": headers.map((header) => header.textContent ?? header).filter(Boolean).join(", ") || "table" },
    h("table", { class: className }, head, h("tbody", {}, body)));
}

const isNumber = (cell) => typeof cell === "string" && /^[-+]?[\d.,]+(e[-+]?\d+)?( ?%)?$/.test(cell);
