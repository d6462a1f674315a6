// Starts a page of charts and tables: effects, sensitivity, ratings.
"use strict";

ragstone.startTheme();
ragstone.startTables();
ragstone.drawCharts();
