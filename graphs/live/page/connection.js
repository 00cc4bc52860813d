// What a page asks of the run, is told by it, and gives to it.

/** The answer to a question, as data. What is refused is thrown in the words of the run. */
export async function ask(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  return answered(query ? `${path}?${query}` : path);
}

/** Gives something; the answer, as data. */
export async function give(path, data) {
  const headers = { "Content-Type": "application/json" };
  return answered(path, { method: "POST", headers, body: JSON.stringify(data) });
}

/** Why nobody answers, where nothing says it. */
export const NOBODY = "the process has ended, or is busy";

async function answered(path, options) {
  const response = await fetch(path, options).catch(() => {
    throw new Error(`no connection: ${NOBODY}`);
  });
  const text = await response.text();
  if (!(response.headers.get("Content-Type") ?? "").startsWith("application/json")) throw new Error(text.trim());
  const data = JSON.parse(text);
  if (!response.ok) throw new Error(data.error);
  return data;
}

/**
 * Calls `told` with each state, `over` when there are no more, `lost` when nobody answers; a browser tries again. Where
 * another run than this one answers then, at the same address, the page is loaded anew, and shows that.
 */
export function listen(path, run, { told, over, lost }) {
  const events = new EventSource(path);
  events.onmessage = (event) => {
    const state = JSON.parse(event.data);
    if (state.run === run) told(state);
    else location.reload();
  };
  events.addEventListener("over", () => {
    events.close();
    over();
  });
  events.onerror = () => lost(events.readyState === EventSource.CLOSED ? "another run answers here: open the address that it says" : null);
}
