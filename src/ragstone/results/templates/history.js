// Starts the page of a history.
"use strict";

ragstone.startTheme();
ragstone.startTables();
ragstone.drawCharts();
