// Starts the page of effects or of sensitivity.
"use strict";

ragstone.startTheme();
ragstone.startTables();
ragstone.drawCharts();
