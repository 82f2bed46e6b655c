import { createHmac, randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { targetGuard } from "@seneschal/adapters/http";
import { openSignedPost, type SignedPost } from "@seneschal/adapters/webhook";
import type { eventMessage } from "@seneschal/core/storage";

/** One event as it came. */
export interface Heard {
  readonly id: string;
  /** It was answered with a 2xx at once. */
  readonly acknowledged: boolean;
  readonly record: ReturnType<typeof eventMessage>["Records"][0];
}

/** A webhook's receiver on a loopback port, which checks every signature. */
export interface Receiver {
  readonly url: string;
  /** All that came, acknowledged or not. */
  readonly heard: readonly Heard[];
  /** What it answers from now on; `silence`: nothing, until it is told otherwise. */
  answer: number | "silence";
  /** Resolves once so many came. */
  came(count: number): Promise<void>;
  post(): SignedPost;
  close(): Promise<void>;
}

export async function openReceiver(): Promise<Receiver> {
  const key = randomBytes(32);
  const heard: Heard[] = [];
  const waiting: { readonly count: number; readonly done: () => void }[] = [];
  const silent: ServerResponse[] = [];
  let answer: Receiver["answer"] = 204;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString();
    const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = request.headers;
    const expected = `v1,${createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64")}`;
    if (signature !== expected) response.writeHead(401).end();
    else {
      const acknowledged = typeof answer === "number" && answer < 300;
      heard.push({ id: id as string, acknowledged, record: JSON.parse(body).Records[0] });
      for (const { count, done } of waiting) if (heard.length >= count) done();
      if (answer === "silence") silent.push(response);
      else response.writeHead(answer).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    heard,
    get answer() {
      return answer;
    },
    set answer(next) {
      answer = next;
      if (next !== "silence") for (const response of silent.splice(0)) response.writeHead(next).end();
    },
    came: (count) =>
      new Promise((done) => {
        waiting.push({ count, done });
        if (heard.length >= count) done();
      }),
    post: () =>
      openSignedPost({
        url,
        secret: `whsec_${key.toString("base64")}`,
        now: Date.now,
        timeoutMs: 30_000,
        guard: targetGuard(["127.0.0.1"]),
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
