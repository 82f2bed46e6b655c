export { parseSwf } from "./parse-swf.ts";
export { parseTrace } from "./parse-trace.ts";
export { plotSvg } from "./plot-svg.ts";
export { plotText } from "./plot-text.ts";
export { type JobOutcome, type Sample, type Simulation, type SimulationOptions, simulate } from "./simulate.ts";
export { type Figures, summarise } from "./summary.ts";
export type { Job, LeftOut, QuotaChange, Workload } from "./workload.ts";
