import { Agent, request } from "node:http";

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly body: any;
}

export interface Call {
  readonly url: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** How long an answer may take before it counts as lost. */
const PATIENCE_MS = 15_000;
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

/** One JSON call over a kept-alive connection. Rejects when no whole answer came: whether it happened is then unknown. */
export function keepAliveCall({ url, method, path, headers, body }: Call): Promise<Answer> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const about = text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { agent, method, headers: { ...headers, ...about } }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("error", reject);
      response.on("close", () => reject(new Error("the answer broke off")));
      response.on("end", () => {
        try {
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(pieces).toString("utf8")) });
        } catch (error) {
          reject(error);
        }
      });
    });
    sent.setTimeout(PATIENCE_MS, () => sent.destroy(new Error("no answer in time")));
    sent.on("error", reject).end(text);
  });
}
