// Draws the charts from the JSON specifications in the page.
"use strict";

ragstone.drawCharts = () => {
  for (const script of document.querySelectorAll("script[data-chart]")) {
    ragstone.drawChart(document.getElementById(script.dataset.chart), JSON.parse(script.textContent));
  }
};

ragstone.drawChart = (place, spec) => {
  const compiled = vegaLite.compile(spec).spec;
  // Expressions are interpreted, not compiled, because the content security policy forbids eval.
  const view = new vega.View(vega.parse(compiled, null, { ast: true }), {
    expr: vegaInterpreter,
    renderer: "svg",
    container: place,
    hover: true,
    logLevel: vega.Warn,
  });
  view.runAsync().then(() => {
    new ResizeObserver(() => {
      if (place.clientWidth > 0) window.dispatchEvent(new Event("resize"));
    }).observe(place);
  });
};
