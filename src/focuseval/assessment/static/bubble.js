// The few buttons that appear beside what the mouse selected.

const node = () => document.getElementById("bubble");

export function hideBubble() {
  node().hidden = true;
}

/** Put the buttons below the end of a range, inside the window. */
export function showBubble(range) {
  const boxes = range.getClientRects();
  const last = boxes[boxes.length - 1];
  if (!last) return;
  const bubble = node();
  bubble.hidden = false;
  const left = Math.min(Math.max(8, last.right - bubble.offsetWidth), innerWidth - bubble.offsetWidth - 8);
  bubble.style.top = `${Math.min(last.bottom + 6, innerHeight - bubble.offsetHeight - 8)}px`;
  bubble.style.left = `${left}px`;
}
