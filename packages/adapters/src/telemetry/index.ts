export { openTelemetry, type Telemetry, type TelemetryOptions } from "./open-telemetry.ts";
export { describeSpan, inServerSpan, inSpan, spanned, traceHeaders } from "./spans.ts";
