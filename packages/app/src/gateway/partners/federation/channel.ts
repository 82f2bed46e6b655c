import { type Breaker, type IdentityFetch, mtlsFetch, openBreaker, type TargetGuard } from "@seneschal/adapters/http";
import { inSpan, traceHeaders } from "@seneschal/adapters/telemetry";
import { bodyBounds, decodeJson, type Route } from "@seneschal/contract";
import { type Federation, refusal } from "@seneschal/core/keys";
import { encodePem } from "@seneschal/crypto/x509";
import { isCoded } from "@seneschal/kernel";
import type { Vault } from "@seneschal/kernel/ports";
import type * as z from "zod";
import { type GatewayMetrics, type GroundServices, kekName, type Reader, utf8 } from "../../ground/index.ts";
import { type FederationIdentity, federationIdentities, federations } from "../collections.ts";

/** What a sealed federation key is bound to. */
export function keyBinding(org: string): Uint8Array {
  return utf8(`seneschal/federation-key/v1\0${org}`);
}

/** PKCS#8 PEM of an organisation's federation key, for the TLS layer. */
export async function federationKey({ vault }: { readonly vault: Vault }, identity: FederationIdentity): Promise<string> {
  const { org_id: org, sealed_key } = identity;
  return encodePem("PRIVATE KEY", await vault.decrypt(kekName(org), sealed_key, keyBinding(org)));
}

/** See {@link GroundServices.hostOf}. */
export const hostOf: GroundServices["hostOf"] = async (read, { id, org, type }) =>
  type === "partner" ? ((await read.get(federations, id))?.org_id ?? org) : org;

/** A call to a partner's gateway: one of the contract's routes. */
interface PeerCall<R extends Route> {
  readonly route: R;
  readonly body?: object;
  /** Called also while the partner is left alone because it did not answer: to see whether it is back. */
  readonly probe?: boolean;
}

/**
 * What the partner answered. `body` is what the route replies: `undefined` when the partner answers otherwise, or another status.
 * `code` is the error code of an answer that is no success.
 */
interface PeerAnswer<R extends Route = Route> {
  readonly status: number;
  readonly body: (R["reply"] extends z.ZodType ? z.output<R["reply"]> : undefined) | undefined;
  readonly code: string | undefined;
}

/** Mutually authenticated connections to partners. */
export interface Channels {
  /**
   * Calls a partner with the certificate that it signed for us, trusting for its server only what was pinned. Its answer is read as
   * strictly as a request: no more than the route's bytes and values, unencoded, of the route's shape. Throws `FEDERATION_FAILED` when
   * there is no answer, or one that is too large or encoded; an answer of any status is returned. The partner's words stay out of
   * errors. A partner that did not answer three times in a row is left alone for half a minute: calls fail at once.
   */
  call<R extends Route>(read: Reader, federation: Federation, call: PeerCall<R>): Promise<PeerAnswer<R>>;
  /** As `call`, but throws `FEDERATION_FAILED` for an answer that is no success. */
  demand<R extends Route>(read: Reader, federation: Federation, call: PeerCall<R>): Promise<PeerAnswer<R>>;
  close(): Promise<void>;
}

/** Bytes of an answer whose route says nothing, and of an error. */
const MAX_ANSWER = 16 << 10;
const MAX_ERROR_VALUES = 512;
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

  const channel = async (read: Reader, federation: Federation): Promise<IdentityFetch> => {
    const { id, org_id, outbound_certificate, partner_cert } = federation;
    const of = `${outbound_certificate}${partner_cert}`;
    const known = open.get(id);
    if (known?.of === of) return known.http;
    const identity = await read.get(federationIdentities, org_id);
    if (identity === undefined) throw failed("not ready");
    const http = mtlsFetch({
      ca: partner_cert,
      ...(outbound_certificate === undefined || outbound_certificate === null ? {} : { cert: outbound_certificate }),
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

  const send = async <R extends Route>(
    read: Reader,
    federation: Federation,
    { route, body }: PeerCall<R>,
  ): Promise<PeerAnswer<R>> => {
    const { method, path } = route;
    const url = new URL(federation.partner_url.replace(/\/+$/, "") + path);
    const { fetch } = await channel(read, federation);
    try {
      const response = await fetch(url.href, {
        method,
        redirect: "error",
        signal: AbortSignal.timeout(timeout),
        headers: {
          ...traceHeaders(),
          "accept-encoding": "identity",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return await answerOf(response, route);
    } catch (error) {
      throw isCoded(error, "FEDERATION_FAILED") ? error : failed(reasonOf(error));
    }
  };

  const call = async <R extends Route>(read: Reader, federation: Federation, request: PeerCall<R>): Promise<PeerAnswer<R>> => {
    const { id, partner_url, status, outbound_certificate } = federation;
    if (guard.refusal(new URL(partner_url)) !== undefined) throw failed("address not allowed");
    if (status !== "active" || outbound_certificate === null) throw failed("not ready");
    const started = performance.now();
    const seconds = (): number => (performance.now() - started) / 1000;
    let tried = false;
    const work = (): Promise<PeerAnswer<R>> => {
      tried = true;
      const attributes = { "http.request.method": request.route.method, "seneschal.federation": id };
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

/** An answer as its route says; an error as far as its code. */
async function answerOf<R extends Route>(response: Response, route: R): Promise<PeerAnswer<R>> {
  const { status, headers } = response;
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity") {
    await response.body?.cancel();
    throw failed("the answer is encoded");
  }
  const success = status === route.status;
  const bytes = await bytesOf(response, (success ? route.replyLimit : undefined) ?? MAX_ANSWER);
  const decoded = jsonOf(bytes, success ? bodyBounds(route).values : MAX_ERROR_VALUES);
  if (!success) return { status, body: undefined, code: codeOf(decoded) };
  const reply = route.reply?.safeParse(decoded);
  return { status, body: reply?.success === true ? (reply.data as PeerAnswer<R>["body"]) : undefined, code: undefined };
}

async function bytesOf(response: Response, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > limit) throw failed("the answer is too large");
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks);
}

function jsonOf(bytes: Uint8Array, values: number): unknown {
  try {
    return decodeJson(bytes, { values });
  } catch (error) {
    if (isCoded(error)) return undefined;
    throw error;
  }
}

/** The code of an error answer, if it looks like one: it is the partner's word. */
function codeOf(decoded: unknown): string | undefined {
  const error =
    typeof decoded === "object" && decoded !== null ? (decoded as Readonly<Record<string, unknown>>)["error"] : undefined;
  const code = typeof error === "object" && error !== null ? (error as Readonly<Record<string, unknown>>)["code"] : undefined;
  return typeof code === "string" && /^[A-Z_]{1,64}$/.test(code) ? code : undefined;
}
