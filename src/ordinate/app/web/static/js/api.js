// Questions to this page's own server. An answer that is an error becomes an Error with its one line.

const offline = () => document.getElementById("offline");

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, { cache: "no-cache", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    offline().textContent = "The page's server does not answer. Is `ordinate serve` still running? Trying again\u2026";
    offline().hidden = false;
    throw new Error("the server does not answer");
  }
  offline().hidden = true;
  const document = await response.json();
  if (!response.ok) throw new Error(document.error ?? `the server says ${response.status}`);
  return document;
}

export const get = (path, values = [], options = {}) => {
  const query = new URLSearchParams(values).toString();
  return ask(query ? `${path}?${query}` : path, options);
};

export const post = (path, body, options = {}) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), ...options });

// Call `work` now and again every so often until the signal says stop; not while nobody looks.
export function repeat(work, milliseconds, signal) {
  let timer;
  const turn = async () => {
    if (signal.aborted) return;
    if (!document.hidden) {
      try {
        if ((await work()) === false) return;
      } catch (error) {
        if (error.name === "AbortError") return;
      }
    }
    if (!signal.aborted) timer = setTimeout(turn, milliseconds);
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  return turn();
}
