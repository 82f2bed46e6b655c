import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { openOtlpSink, openWebhookSink } from "@seneschal/adapters/audit-sinks";
import { openSignedPost, openWebhook } from "@seneschal/adapters/webhook";
import { expect, test } from "vitest";

const secret = `whsec_${Buffer.alloc(32).toString("base64")}`;
const message = { service: "gateway", seq: 1, time: "2026-01-01T00:00:00Z" } as never;

/** Whoever is told something at a URL that may be a secret. */
const tellers: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  "a webhook": (url) => openSignedPost({ url, secret, now: Date.now, timeoutMs: 2000 }).post("1", "{}"),
  "a webhook of budgets": (url) => openWebhook({ url, secret, now: Date.now }).notify({ id: "1", type: "t", at: 0, payload: {} }),
  "a sink that is a webhook": (url) =>
    openWebhookSink({ url, secret, now: Date.now, timeoutMs: 2000 }).send([message], AbortSignal.timeout(5000)),
  "a sink that takes OTLP": (url) =>
    openOtlpSink({ url, headers: {}, timeoutMs: 2000 }).send([message], AbortSignal.timeout(5000)),
};

/** How a receiver fails: what it answers, or nothing. */
const failures: Readonly<Record<string, RequestListener | undefined>> = {
  "is gone": undefined,
  refuses: (request, response) => void response.writeHead(403).end(`no ${request.url}`),
  "sends on": (request, response) => void response.writeHead(307, { location: `http://other.test${request.url}` }).end(),
  "ends the connection": (request) => void request.socket.destroy(),
  "answers no HTTP": (request) => void request.socket.end("nonsense\r\n\r\n"),
};

async function addressOf(listener: RequestListener | undefined) {
  const server = createServer(listener ?? (() => undefined));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise((resolve) => server.close(resolve));
  if (listener === undefined) await close();
  return { host: `127.0.0.1:${port}`, close: listener === undefined ? async () => undefined : close };
}

test("no failure of a receiver tells its URL beyond the host: in no error, nor in what caused it", async () => {
  for (const [failure, listener] of Object.entries(failures))
    for (const [who, tell] of Object.entries(tellers)) {
      const { host, close } = await addressOf(listener);
      const error = await tell(`http://${host}/canary-path?k=canary-query`).then(
        () => undefined,
        (cause: unknown) => cause,
      );
      expect(error, `${who} that ${failure}`).toBeInstanceOf(Error);
      expect(inspect(error, { depth: 20, showHidden: true }), `${who} that ${failure}`).not.toContain("canary");
      await close();
    }
});
