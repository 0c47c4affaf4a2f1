// Questions to this page's own server. An answer that is an error becomes an Error with its one line.

const offline = () => document.getElementById("offline");

// The server did not answer, or answered with an error.
export class Unanswered extends Error {}

// The line of an error; one of this page's own is reported besides.
export function errorText(error) {
  if (!(error instanceof Unanswered)) reportError(error);
  return error.message;
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, { cache: "no-cache", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    offline().textContent = "The page's server does not answer. Is `ordinate serve` still running? Trying again\u2026";
    offline().hidden = false;
    throw new Unanswered("the server does not answer");
  }
  offline().hidden = true;
  if (response.ok) return response.json();
  const { error } = await response.json().catch(() => ({}));
  options.signal?.throwIfAborted();
  throw new Unanswered(error ?? (response.status === 503 ? "too many ask at once: try again in a moment" : `the server says ${response.status}`));
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
        errorText(error);
      }
    }
    if (!signal.aborted) timer = setTimeout(turn, milliseconds);
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  return turn();
}
