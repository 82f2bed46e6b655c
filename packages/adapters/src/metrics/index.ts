export { type Metrics, type Owners, openMetrics } from "./open-metrics.ts";
