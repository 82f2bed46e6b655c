import type { Logger } from "@seneschal/adapters/logging";
import type { Metrics } from "@seneschal/adapters/metrics";
import { describeSpan } from "@seneschal/adapters/telemetry";
import type { Hooks, WireRequest } from "@seneschal/contract";

/** Counts, logs and traces every request, by operation id and the template of its route: never a path, a query, a body or a header. */
export function observeRequests(metrics: Metrics, log: Logger): NonNullable<Hooks["observe"]> {
  return (wire, { id, route }, requestId) => {
    const started = performance.now();
    return ({ status, principal, code }) => {
      const seconds = (performance.now() - started) / 1000;
      metrics.request(route.method, id, status, seconds);
      if (principal !== undefined) metrics.owner(principal.org, status);
      if (code !== undefined) metrics.error(code);
      describeSpan(`${route.method} ${route.path}`, {
        "http.request.method": route.method,
        "http.route": route.path,
        "seneschal.operation": id,
        "seneschal.request_id": requestId,
        ...(principal === undefined
          ? {}
          : { "seneschal.principal.type": principal.type, "seneschal.principal.method": principal.method }),
        ...(code === undefined ? {} : { "error.type": code }),
      });
      const tried = attempted(wire);
      if (route.auth !== "public" && tried !== undefined) {
        metrics.authAttempt(principal?.method ?? tried, principal === undefined ? "failure" : "success");
      }
      log.info(
        {
          request_id: requestId,
          route: id,
          method: wire.method,
          status,
          ms: Math.round(seconds * 1e6) / 1000,
          address: wire.remoteAddress,
          ...(principal === undefined ? {} : { principal: principal.id, org: principal.org, auth: principal.method }),
          ...(code === undefined ? {} : { code }),
        },
        "request",
      );
    };
  };
}

/** The credential that was sent; a token before a certificate, because that is what failed if anything did. */
function attempted(wire: WireRequest): string | undefined {
  if (wire.headers["authorization"] !== undefined) return "token";
  return wire.peer === undefined ? undefined : "mtls";
}
