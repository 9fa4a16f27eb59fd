// Requests to our own server; nothing else is ever asked.

const csrf = () => document.querySelector("meta[name=csrf]").content;

export async function get(path, values) {
  const response = await fetch(`${path}?${new URLSearchParams(values)}`);
  const answer = await response.json().catch(() => ({ error: response.statusText }));
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

/** Rejects only when the server cannot be reached. */
export async function post(path, values) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf() },
    body: JSON.stringify(values),
  });
  const answer = await response.json().catch(() => ({ error: response.statusText }));
  return { status: response.status, answer };
}
