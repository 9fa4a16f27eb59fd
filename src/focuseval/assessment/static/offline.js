// What the reading page does for hours without the server: it has the next documents kept.

import { get } from "./server.js";

/** Have the documents that come next kept in this browser, if it can. */
export async function keepUpcoming(where) {
  if (!navigator.serviceWorker) return;
  const { documents } = await get("/api/upcoming", where);
  await navigator.serviceWorker.register("/worker.js");
  const { active } = await navigator.serviceWorker.ready;
  const files = performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => /^\/(static|rendering)\//.test(new URL(name).pathname));
  const { project, user } = document.body.dataset;
  active.postMessage({ owner: `${project} ${user}`, documents: [location.href.replace(location.hash, ""), ...documents], files });
}

/** Whether other documents can be reached while the server is away. */
export const isKept = () => Boolean(navigator.serviceWorker?.controller);
