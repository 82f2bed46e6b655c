import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { targetGuard } from "@seneschal/adapters/http";
import { openSignedPost } from "@seneschal/adapters/webhook";
import { afterAll, beforeAll, expect, test } from "vitest";

const key = Buffer.alloc(32, 7);
const secret = `whsec_${key.toString("base64")}`;
const now = () => 1_700_000_000_999;
const came: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
let answer = { status: 204, location: "" };
const server = createServer(async (request, response) => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  came.push({ headers: request.headers, body: Buffer.concat(pieces).toString() });
  response.writeHead(answer.status, answer.location === "" ? {} : { location: answer.location }).end();
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

test("a message is signed over its id, its time and its bytes as they are sent (Standard Webhooks)", async () => {
  const guard = targetGuard(["127.0.0.1"]);
  const post = openSignedPost({ url, secret, now, guard });
  await post.post("msg_1", '{"ü":1}');
  const [{ headers, body } = { headers: {}, body: "" }] = came.splice(0);
  const signature = createHmac("sha256", key).update('msg_1.1700000000.{"ü":1}').digest("base64");
  expect([headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"], body]).toEqual([
    ...["msg_1", "1700000000", `v1,${signature}`, '{"ü":1}'],
  ]);
  await post.close();
});

test("anything but a 2xx is no acknowledgement, and a redirect is not followed", async () => {
  const post = openSignedPost({ url, secret, now, guard: targetGuard(["127.0.0.1"]) });
  for (const status of [301, 307, 400, 410, 500]) {
    answer = { status, location: status < 400 ? url : "" };
    await expect(post.post("m", "{}")).rejects.toMatchObject({ code: "notify_failed", details: { status } });
  }
  expect(came.splice(0)).toHaveLength(5);
  answer = { status: 204, location: "" };
  await expect(post.post("m", "{}", AbortSignal.abort())).rejects.toMatchObject({ code: "notify_failed" });
  await post.close();
});

test("an address that may not be called hears nothing, whether it is named or found by its name", async () => {
  const { port } = new URL(url);
  for (const target of [url, `http://localhost:${port}/`]) {
    const post = openSignedPost({ url: target, secret, now, guard: targetGuard([]) });
    await expect(post.post("m", "{}")).rejects.toMatchObject({ code: "notify_failed" });
    await post.close();
  }
  // The name itself is nothing to refuse; what it resolves to is.
  const guard = targetGuard([]);
  const post = openSignedPost({ url: `http://localhost:${port}/`, secret, now, guard: { ...guard, refusal: () => undefined } });
  await expect(post.post("m", "{}")).rejects.toMatchObject({ code: "notify_failed", cause: { cause: { code: "ETARGET" } } });
  await post.close();
  expect(came).toEqual([]);
});
