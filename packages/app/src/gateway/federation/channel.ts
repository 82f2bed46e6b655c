import { type Breaker, type IdentityFetch, mtlsFetch, openBreaker, type TargetGuard } from "@seneschal/adapters/http";
import { inSpan, traceHeaders } from "@seneschal/adapters/telemetry";
import { refusal } from "@seneschal/core/keys";
import type { Vault } from "@seneschal/core/ports";
import type { GatewayMetrics } from "../metrics.ts";
import type { Reader } from "../store/reader.ts";
import { federationIdentities, type StoredFederation } from "./collections.ts";
import { federationKey } from "./key.ts";

/** A call to a partner's gateway. */
interface PeerCall {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly body?: object;
  /** Called also while the partner is left alone because it did not answer: to see whether it is back. */
  readonly probe?: boolean;
}

/** What the partner answered; `body` is `undefined` unless it is a JSON object. */
export interface PeerAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** Mutually authenticated connections to partners. */
export interface Channels {
  /**
   * Calls a partner with the certificate that it signed for us, trusting for its server only what was pinned. Throws
   * `FEDERATION_FAILED` when there is no answer; an answer of any status is returned. The partner's words stay out of errors. A
   * partner that did not answer three times in a row is left alone for half a minute: calls fail at once.
   */
  call(read: Reader, federation: StoredFederation, call: PeerCall): Promise<PeerAnswer>;
  /** As `call`, but throws `FEDERATION_FAILED` for an answer that is no success. */
  demand(read: Reader, federation: StoredFederation, call: PeerCall): Promise<PeerAnswer>;
  close(): Promise<void>;
}

const MAX_ANSWER = 16 << 20;
const MAX_CHANNELS = 256;
const FAILURES = 3;
const LEFT_ALONE_MS = 30_000;

/** Channels that stay open between calls, one per federation; a new certificate or address opens a new one. */
export function federationChannels(needs: {
  readonly vault: Vault;
  readonly guard: TargetGuard;
  /** Milliseconds for one call. */
  readonly timeout: number;
  readonly now: () => number;
  /** Told of every call, its time in seconds. */
  readonly observe: GatewayMetrics["partnerCalled"];
}): Channels {
  const { vault, guard, timeout, now, observe } = needs;
  const breakers = new Map<string, Breaker>();
  const open = new Map<string, { readonly of: string; readonly http: IdentityFetch }>();

  const drop = async (id: string): Promise<void> => {
    const known = open.get(id);
    open.delete(id);
    await known?.http.close();
  };

  const channel = async (read: Reader, federation: StoredFederation): Promise<IdentityFetch> => {
    const { id, org_id, outbound_certificate, partner_cert } = federation;
    const of = `${outbound_certificate}${partner_cert}`;
    const known = open.get(id);
    if (known?.of === of) return known.http;
    const identity = await read.get(federationIdentities, org_id);
    if (identity === undefined) throw failed("not ready");
    const http = mtlsFetch({
      ca: partner_cert,
      cert: outbound_certificate ?? "",
      key: await federationKey({ vault }, identity),
      minVersion: "TLSv1.3",
      lookup: guard.lookup,
      timeout,
    });
    void drop(id);
    open.set(id, { of, http });
    const [oldest] = open.keys();
    if (open.size > MAX_CHANNELS && oldest !== undefined) void drop(oldest);
    return http;
  };

  const breaker = (id: string): Breaker => {
    const known = breakers.get(id);
    if (known !== undefined) return known;
    const refuse = (): Error => failed("it did not answer lately");
    const fresh = openBreaker({ failures: FAILURES, probeMs: LEFT_ALONE_MS, now, refuse });
    breakers.set(id, fresh);
    return fresh;
  };

  const send = async (read: Reader, federation: StoredFederation, { method, path, body }: PeerCall): Promise<PeerAnswer> => {
    const url = new URL(federation.partner_url.replace(/\/+$/, "") + path);
    const { fetch } = await channel(read, federation);
    try {
      const response = await fetch(url.href, {
        method,
        redirect: "error",
        signal: AbortSignal.timeout(timeout),
        headers: { ...traceHeaders(), ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await objectOf(response) };
    } catch (error) {
      throw failed(reasonOf(error));
    }
  };

  const call: Channels["call"] = async (read, federation, request) => {
    const { id, partner_url, status, outbound_certificate } = federation;
    if (guard.refusal(new URL(partner_url)) !== undefined) throw failed("address not allowed");
    if (status !== "active" || outbound_certificate === null) throw failed("not ready");
    const started = performance.now();
    const seconds = (): number => (performance.now() - started) / 1000;
    let tried = false;
    const work = (): Promise<PeerAnswer> => {
      tried = true;
      const attributes = { "http.request.method": request.method, "seneschal.federation": id };
      return inSpan("partner call", attributes, () => send(read, federation, request), "client");
    };
    try {
      const answer = await (request.probe === true ? work() : breaker(id).run(work));
      if (request.probe === true) breakers.delete(id);
      observe("answered", seconds());
      return answer;
    } catch (error) {
      observe(tried ? "failed" : "not_tried", seconds());
      throw error;
    }
  };

  return {
    call,
    async demand(read, federation, request) {
      const answer = await call(read, federation, request);
      if (answer.status >= 200 && answer.status < 300) return answer;
      throw failed(`refused with status ${answer.status}`);
    },
    async close() {
      await Promise.all([...open.keys()].map(drop));
    },
  };
}

function failed(reason: string) {
  return refusal("FEDERATION_FAILED", `the partner could not be called: ${reason}`, { reason });
}

/** A few words of our own: what a resolver or a TLS library says is for nobody outside. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string } };
  const code = cause?.code ?? "";
  if (name === "TimeoutError" || /TIMEOUT/.test(code)) return "no answer in time";
  if (code === "ETARGET") return "address not allowed";
  if (/CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL|ALTNAME/.test(code)) return "the connection is not trusted";
  return "no connection";
}

async function objectOf(response: Response): Promise<Readonly<Record<string, unknown>> | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > MAX_ANSWER) throw new Error("answer too large");
    chunks.push(chunk as Uint8Array);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
