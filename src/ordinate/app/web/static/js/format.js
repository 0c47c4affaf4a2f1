// Numbers and times as a person reads them.

export function number(value) {
  if (value === null || value === undefined || value === "") return "";
  const x = Number(value);
  if (Number.isNaN(x)) return "n/a";
  if (!Number.isFinite(x)) return x > 0 ? "\u221e" : "-\u221e";
  if (x === 0) return "0";
  if (Number.isInteger(x) && Math.abs(x) < 1e9) return x.toLocaleString("en").replaceAll(",", "\u202f");
  if (Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5) return String(Number(x.toPrecision(3)));
  return x.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
}

export const percent = (share) => `${Number((100 * share).toFixed(share > 0.99 && share < 1 ? 1 : 0))} %`;

export function ago(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const past = Math.max(0, Date.now() / 1000 - seconds);
  if (past < 5) return "now";
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]])
    if (past >= size) return `${Math.floor(past / size)} ${unit} ago`;
  return "now";
}

export const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

// A score under the name of its task's measure.
export const score = (value, metric) =>
  metric === "exact match" && value !== null && value !== undefined && !Number.isNaN(Number(value)) ? percent(Number(value)) : number(value);

// A plain value as TOML on one line.
export function toml(value) {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (value !== null && typeof value === "object")
    return `{${Object.entries(value).map(([key, item]) => `${key} = ${toml(item)}`).join(", ")}}`;
  return JSON.stringify(value);
}
