// Start: what the address asks for, then figures and tables; graphs are drawn near the window, the text comes last.
"use strict";
if (focuseval.data("report-data").choices) {
  focuseval.begun = focuseval.choice.follow();
  focuseval.refuse(focuseval.begun.unknown);
  focuseval.startHeadline();
  focuseval.startTopics();
}
focuseval.startCharts();
focuseval.pause().then(() => focuseval.startHeat?.()).catch((error) => {
  const line = focuseval.byId("heat-title-line");
  if (line) line.textContent = `The text cannot be shown: ${error.message}`;
});
