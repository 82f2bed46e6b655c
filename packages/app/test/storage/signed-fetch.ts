import { createHash, createHmac } from "node:crypto";
import type { S3Rig } from "./s3-rig.ts";

export const hex = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
export const mac = (key: string | Uint8Array, text: string) => createHmac("sha256", key).update(text).digest();

export interface Draft {
  readonly method?: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly payloadHash?: string;
  readonly at?: number;
  readonly keys?: { readonly access_key: string; readonly secret_key: string };
  /** Changes the request after it was signed. */
  readonly tamper?: (request: { url: string; headers: Record<string, string>; body?: Uint8Array }) => void;
}

/** Milliseconds as `20060102T150405Z`. */
export const toAmzDate = (at: number) => new Date(at).toISOString().replace(/[-:]|\.\d{3}/g, "");
/** Everything but `A-Z a-z 0-9 - . _ ~` as `%XX`. */
export const uriEncode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

export const scopeOf = (amzDate: string) => `${amzDate.slice(0, 8)}/us-east-1/s3/aws4_request`;
export const keyOf = (secret: string, scope: string) =>
  scope.split("/").reduce<Buffer>((k, part) => mac(k, part), Buffer.from(`AWS4${secret}`));

/** Signs by the letter of the AWS documentation, apart from the code under test, and sends. */
export async function signedFetch(
  s3: Pick<S3Rig, "gateway" | "keys" | "rig">,
  draft: Draft,
): Promise<{ status: number; text: string; headers: Headers; signature: string; amzDate: string }> {
  const keys = draft.keys ?? s3.keys;
  const amzDate = toAmzDate(draft.at ?? s3.rig.clock.now());
  const scope = scopeOf(amzDate);
  const host = new URL(s3.gateway.url).host;
  const payloadHash = draft.payloadHash ?? hex(draft.body ?? "");
  const headers: Record<string, string> = { host, "x-amz-date": amzDate, "x-amz-content-sha256": payloadHash, ...draft.headers };
  const names = Object.keys(headers).sort();
  const query = Object.entries(draft.query ?? {})
    .map(([k, v]) => `${uriEncode(k)}=${uriEncode(v)}`)
    .sort()
    .join("&");
  const canonical = [
    draft.method ?? "GET",
    draft.path,
    query,
    ...names.map((n) => `${n}:${headers[n]}`),
    "",
    names.join(";"),
    payloadHash,
  ].join("\n");
  const signature = mac(keyOf(keys.secret_key, scope), ["AWS4-HMAC-SHA256", amzDate, scope, hex(canonical)].join("\n")).toString(
    "hex",
  );
  headers["authorization"] =
    `AWS4-HMAC-SHA256 Credential=${keys.access_key}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  delete headers["host"];
  const request = {
    url: `${s3.gateway.url}${draft.path}${query === "" ? "" : `?${query}`}`,
    headers,
    ...(draft.body && { body: draft.body }),
  };
  draft.tamper?.(request);
  const reply = await fetch(request.url, {
    method: draft.method ?? "GET",
    headers: request.headers,
    ...(request.body && { body: Buffer.from(request.body) }),
  });
  return { status: reply.status, text: await reply.text(), headers: reply.headers, signature, amzDate };
}
