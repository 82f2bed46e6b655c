import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { openLogger } from "@seneschal/adapters/logging";
import { serve } from "@seneschal/server-express";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningDev, startDev } from "../../src/index.ts";

const services = ["gateway", "governance", "scheduler", "storage"] as const;

describe.each(services)("the HTTP accessBasis of the %s", (service) => {
  let url: URL;
  beforeAll(async () => {
    url = new URL((await running).credentials.base_urls[service] ?? "");
  });

  /** The status of the answer to these bytes. */
  const status = async (bytes: string): Promise<number> => {
    const { credentials } = await running;
    const [host, port] = [url.hostname, Number(url.port)];
    const socket =
      url.protocol === "https:" ? connectTls({ host, port, ca: await readFile(credentials.ca) }) : connectPlain(port, host);
    socket.write(bytes);
    return Number(/^HTTP\/1\.1 (\d{3}) /.exec((await buffer(socket)).toString("latin1"))?.[1]);
  };
  const asked = (...headers: string[]): string =>
    ["host: x", "connection: close", ...headers].map((one) => `${one}\r\n`).join("");

  it("answers a whole request", async () => {
    expect(await status(`GET /health HTTP/1.1\r\n${asked()}\r\n`)).toBe(200);
  });

  it("refuses two credentials, whichever of them is good, and on routes that need none", async () => {
    for (const pair of [
      ["Bearer a", "Bearer b"],
      ["Bearer a", "Bearer a"],
      ["Bearer a", ""],
    ])
      expect(await status(`GET /health HTTP/1.1\r\n${asked(...pair.map((value) => `Authorization: ${value}`))}\r\n`)).toBe(400);
  });

  it("refuses what is no HTTP/1.1 or 1.0", async () => {
    for (const line of ["GET /health", "GET /health HTTP/0.9"]) expect(await status(`${line}\r\n\r\n`), line).toBe(400);
    expect(await status("GET /health HTTP/1.0\r\n\r\n")).toBe(200);
  });
});

const dir = mkdtemp(join(tmpdir(), "seneschal-entrances-"));
const running: Promise<RunningDev> = dir.then((dataDir) =>
  startDev({
    dataDir,
    portBase: "any",
    http: "express",
    serve,
    serveS3,
    serveGrpc,
    log: openLogger({ level: "silent" }),
    version: "test",
  }),
);
afterAll(async () => {
  await (await running).stop();
  await rm(await dir, { recursive: true, force: true });
});
