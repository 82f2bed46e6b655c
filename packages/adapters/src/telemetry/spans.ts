import {
  type Attributes,
  context,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { checkArgument, isCoded } from "@seneschal/kernel";

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * The tracer of whoever records spans, if anybody does: one that records nothing would still make contexts and promises. By name at every call, as a tracer
 * that is kept would outlive the provider it came from.
 */
function recorder(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider ? provider.getDelegateTracer("seneschal") : provider.getTracer("seneschal");
}

/**
 * Runs work inside a span below the current one. A failure marks the span with the error's code; its text may hold what is nobody's
 * business. Without {@link openTelemetry} nothing is recorded.
 */
export async function inSpan<T>(
  name: string,
  attributes: Attributes,
  work: () => T | Promise<T>,
  kind: "internal" | "client" = "internal",
): Promise<T> {
  checkArgument("name", name, "string");
  checkArgument("attributes", attributes, "object");
  checkArgument("work", work, "function");
  const tracer = recorder();
  if (tracer === undefined) return work();
  const options = { attributes, kind: kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL };
  return tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await work();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute("error.type", isCoded(error) ? error.code : "error");
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Runs the work of one request inside a span that continues the caller's trace (W3C `traceparent`). 5xx is an error. */
export async function inServerSpan<T extends { readonly status: number }>(
  name: string,
  headers: Headers,
  attributes: Attributes,
  work: () => Promise<T>,
): Promise<T> {
  checkArgument("name", name, "string");
  checkArgument("headers", headers, "object");
  checkArgument("attributes", attributes, "object");
  checkArgument("work", work, "function");
  const tracer = recorder();
  if (tracer === undefined) return work();
  const parent = propagation.extract(ROOT_CONTEXT, headers);
  return tracer.startActiveSpan(name, { attributes, kind: SpanKind.SERVER }, parent, async (span) => {
    try {
      const response = await work();
      span.setAttribute("http.response.status_code", response.status);
      if (response.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      return response;
    } finally {
      span.end();
    }
  });
}

/** Says more about the current span; `name` replaces its name. */
export function describeSpan(name: string, attributes: Attributes): void {
  trace.getActiveSpan()?.updateName(name).setAttributes(attributes);
}

/** The headers that let another service continue the current trace; none without a trace. */
export function traceHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  return headers;
}

/** The same object; calls of the named methods run in spans `<prefix> <method>`. */
export function spanned<T extends object>(target: T, prefix: string, methods: readonly (keyof T & string)[]): T {
  checkArgument("target", target, "object");
  checkArgument("prefix", prefix, "string");
  checkArgument("methods", methods, "array");
  const named = new Set<PropertyKey>(methods);
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name, object);
      if (typeof value !== "function") return value;
      if (!named.has(name)) return value.bind(object);
      return (...args: readonly unknown[]) => inSpan(`${prefix} ${String(name)}`, {}, () => Reflect.apply(value, object, args));
    },
  });
}
