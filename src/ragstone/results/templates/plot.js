// Starts the page of a plot.
"use strict";

ragstone.startTheme();
ragstone.startTables();
ragstone.drawCharts();
