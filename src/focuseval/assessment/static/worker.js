// A service worker: keeps the documents that come next, so that they can be read and judged while the server is away.
// Browsers run it over HTTPS and on the server's own machine.

const KEPT = "focuseval documents";
const AWAY = new Set([502, 503, 504]); // what a proxy says when the server behind it is away

/** A page or text under the one name that it has, however its address is written. */
function named(address) {
  const { pathname, searchParams } = new URL(address, location.origin);
  const values = ["topic", "document", "as"].flatMap((name) => (searchParams.has(name) ? [[name, searchParams.get(name)]] : []));
  return values.length ? `${pathname}?${new URLSearchParams(values)}` : pathname;
}

const isFile = (pathname) => /^\/(static|rendering)\//.test(pathname);

/** Keep what is not kept yet; the page has just loaded its files, and the server is not asked for them again. */
async function keepOne(cache, address) {
  if (await cache.match(named(address))) return;
  const { pathname } = new URL(address, location.origin);
  const answer = await fetch(address, { headers: { Purpose: "prefetch" }, cache: isFile(pathname) ? "force-cache" : "default" });
  if (answer.ok && !answer.redirected) await cache.put(named(address), answer);
}

/** What is kept: whose documents, of which project, and where they are. */
const list = async () => (await (await caches.match("/kept", { cacheName: KEPT }))?.json()) ?? { documents: [] };

/** Keep these documents with the files of the pages, and no others. */
async function keep({ owner, documents, files }) {
  if ((await list()).owner !== owner) await caches.delete(KEPT);
  const cache = await caches.open(KEPT);
  const texts = documents.map((address) => address.replace("/read?", "/api/document?"));
  const wanted = [...files, ...documents, ...texts];
  const names = new Set(wanted.map(named));
  for (const request of await cache.keys()) if (!names.has(named(request.url))) await cache.delete(request);
  await Promise.allSettled(wanted.map((address) => keepOne(cache, address)));
  await cache.put("/kept", new Response(JSON.stringify({ owner, documents: documents.map(named) })));
}

function away() {
  const text = "<!doctype html><html lang=en><title>The server is away</title><meta name=viewport content='width=device-width'>"
    + "<h1>The server is away</h1><p>No other document is kept in this browser. Your edits are, also if you close it: "
    + "they are saved when the server is back and you open one of its pages.";
  return new Response(text, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } });
}

/** Where the next document is that was kept; the documents come in the order in which they would be judged. */
async function following(address) {
  const { documents } = await list();
  const next = documents[documents.indexOf(named(address.replace("/next?", "/read?"))) + 1];
  return next ? Response.redirect(next, 302) : away();
}

async function answer(event) {
  const { request } = event;
  const kept = await caches.match(named(request.url), { cacheName: KEPT });
  let problem;
  try {
    const found = await fetch(request);
    if (kept && found.ok && !found.redirected) {
      const newer = found.clone();
      event.waitUntil(caches.open(KEPT).then((cache) => cache.put(named(request.url), newer)));
    }
    if (!AWAY.has(found.status)) return found;
    problem = found;
  } catch (error) {
    problem = error;
  }
  if (new URL(request.url).pathname === "/next") return following(request.url);
  if (kept) return kept;
  if (request.mode === "navigate") return away();
  if (problem instanceof Response) return problem;
  throw problem;
}

addEventListener("install", () => self.skipWaiting());
addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
addEventListener("message", (event) => event.waitUntil(keep(event.data)));
addEventListener("fetch", (event) => {
  const { pathname } = new URL(event.request.url);
  const ours = ["/read", "/next", "/api/document"].includes(pathname) || isFile(pathname);
  if (event.request.method === "GET" && ours) event.respondWith(answer(event));
});
