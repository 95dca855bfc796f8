// Everything on the page comes from this one document.

const REPORT = JSON.parse(document.getElementById("data").textContent);
drawSummary(REPORT);
drawProgress(REPORT);
drawTime(REPORT);
drawRoofline(REPORT);
drawLedger(REPORT);
drawExperiments(REPORT);
keepFresh(Number(document.body.dataset.reload || 0));
