export { toParquet } from './rest/parquet.js';
export { insightsOfSession } from './rest/session-insights.js';
