import { checkOptions } from "@seneschal/kernel";
import { missingBackEnd } from "../back-end.ts";

/** Milliseconds that a batch may take, its retries included: a collector that is down must not hold up the end of the process. */
const exportTimeout = 3000;

/** Where spans go. */
export interface TelemetryOptions {
  /** OTLP over HTTP, with its path: `http://collector:4318/v1/traces`. */
  readonly endpoint: string;
  /** For the collector, such as its token. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Share of the traces that are kept, 0 to 1; a caller's wish does not raise it. */
  readonly sampleRatio: number;
  readonly version: string;
  /** What the exporter has to complain about. */
  readonly onProblem: (message: string) => void;
}

/** Records spans until it is closed. */
export interface Telemetry {
  /** Sends what is pending; afterwards nothing is recorded any more. */
  close(): Promise<void>;
}

/**
 * Records the spans of this process and sends them in batches over OTLP/HTTP. One at a time for a process: OpenTelemetry's API
 * is global. The SDK is loaded here and nowhere else, so that it costs nothing where it is not wanted.
 *
 * @example
 * ```ts
 * import { openTelemetry } from "@seneschal/adapters/telemetry";
 * const endpoint = "http://localhost:4318/v1/traces";
 * const telemetry = await openTelemetry({ endpoint, sampleRatio: 1, version: "1.0.0", onProblem: console.warn });
 * await telemetry.close();
 * ```
 */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  checkOptions("options", options, {
    endpoint: "string",
    headers: "object?",
    sampleRatio: "number",
    version: "string",
    onProblem: "function",
  });
  const { endpoint, headers = {}, sampleRatio, version, onProblem } = options;
  const [api, sdk, { AsyncLocalStorageContextManager }, { W3CTraceContextPropagator }, { resourceFromAttributes }, otlp] =
    await Promise.all([
      import("@opentelemetry/api"),
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/context-async-hooks"),
      import("@opentelemetry/core"),
      import("@opentelemetry/resources"),
      import("@opentelemetry/exporter-trace-otlp-http"),
    ]).catch(missingBackEnd);
  const say = (message: string): void => onProblem(message);
  const silent = (): void => {};
  api.diag.setLogger({ error: say, warn: say, info: silent, debug: silent, verbose: silent }, api.DiagLogLevel.WARN);
  const ratio = new sdk.TraceIdRatioBasedSampler(sampleRatio);
  const exporter = new otlp.OTLPTraceExporter({ url: endpoint, headers: { ...headers }, timeoutMillis: exportTimeout });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ "service.name": "seneschal", "service.version": version }),
    sampler: new sdk.ParentBasedSampler({ root: ratio, remoteParentSampled: ratio }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  api.trace.setGlobalTracerProvider(provider);
  return {
    async close() {
      await provider.shutdown().catch((error: unknown) => say(String(error)));
      api.trace.disable();
      api.propagation.disable();
      api.context.disable();
      api.diag.disable();
    },
  };
}
