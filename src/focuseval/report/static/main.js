// Start: graphs draw themselves when they come near, the text is built when the first screen stands.
"use strict";
focuseval.startCharts();
focuseval.pause().then(() => focuseval.startHeat()).catch((error) => {
  const line = focuseval.byId("heat-title-line");
  if (line) line.textContent = `The text cannot be shown: ${error.message}`;
});
