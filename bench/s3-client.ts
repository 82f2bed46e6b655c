/**
 * A process that puts or gets objects over keep-alive connections and reports how many calls were answered per second. With
 * keys it signs every call and the hash of its payload (AWS Signature Version 4); without, the same bytes go to a bare server.
 */
import { createHash, createHmac } from "node:crypto";
import { Agent, request } from "node:http";

export interface S3Load {
  readonly url: string;
  readonly keys?: { readonly access_key: string; readonly secret_key: string };
  readonly operation: "put" | "get";
  /** Bytes of every object. */
  readonly size: number;
  readonly clients: number;
  readonly milliseconds: number;
  /** Objects `0` to `count - 1` are read in turn. */
  readonly count?: number;
}

export interface S3LoadReport {
  readonly perSecond: number;
  /** Calls made, which is how many objects a put made. */
  readonly calls: number;
}

const load = await new Promise<S3Load>((resolve) => process.once("message", (message) => resolve(message as S3Load)));
const agent = new Agent({ keepAlive: true, maxSockets: load.clients });
const { host, hostname, port } = new URL(load.url);
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");
const emptyHash = sha256("");

function signed(method: string, path: string, body: Buffer | undefined): Record<string, string> {
  if (load.keys === undefined) return {};
  const date = new Date().toISOString().replace(/[-:]|\.\d{3}/g, "");
  const scope = `${date.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const hash = body === undefined ? emptyHash : sha256(body);
  const names = "host;x-amz-content-sha256;x-amz-date";
  const canonical = [method, path, "", `host:${host}`, `x-amz-content-sha256:${hash}`, `x-amz-date:${date}`, "", names, hash];
  const key = scope.split("/").reduce<string | Buffer>(hmac, `AWS4${load.keys.secret_key}`);
  const signature = hmac(key, ["AWS4-HMAC-SHA256", date, scope, sha256(canonical.join("\n"))].join("\n")).toString("hex");
  return {
    "x-amz-content-sha256": hash,
    "x-amz-date": date,
    authorization: `AWS4-HMAC-SHA256 Credential=${load.keys.access_key}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** Content that no other object has in any of its chunks: deduplication would flatter. */
function content(call: number): Buffer {
  const bytes = Buffer.alloc(load.size, call & 255);
  for (let at = 0; at < load.size; at += 1 << 20) bytes.writeUInt32BE(call, at);
  return bytes;
}

function once(call: number): Promise<void> {
  const put = load.operation === "put";
  const path = `/bench/${load.size}-${call % (load.count ?? Number.POSITIVE_INFINITY)}`;
  const body = put ? content(call) : undefined;
  const method = put ? "PUT" : "GET";
  const headers = { ...signed(method, path, body), ...(body !== undefined && { "content-length": body.length }) };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, hostname, port, path, method, headers }, (response) => {
      let size = 0;
      response.on("data", (piece: Buffer) => {
        size += piece.length;
      });
      response.on("end", () => {
        if (response.statusCode === 200 && (put || size === load.size)) resolve();
        else reject(new Error(`${method} ${path}: status ${response.statusCode}, ${size} bytes`));
      });
    });
    sent.on("error", reject).end(body);
  });
}

let calls = 0;
const start = performance.now();
await Promise.all(
  Array.from({ length: load.clients }, async () => {
    while (performance.now() < start + load.milliseconds) await once(calls++);
  }),
);
process.send?.({ perSecond: (calls * 1000) / (performance.now() - start), calls } satisfies S3LoadReport);
agent.destroy();
process.disconnect();
