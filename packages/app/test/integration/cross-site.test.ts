import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { serve } from "@seneschal/server-fastify";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningDev, startDev } from "../../src/index.ts";

const browserPath = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path) => path !== undefined && existsSync(path),
);
if (browserPath === undefined) console.warn("no Chromium: requests of other sites are not tried in a browser");

describe.skipIf(browserPath === undefined)(
  "an administrator whose browser holds the certificate visits a page of another site",
  () => {
    let dir: string;
    let dev: RunningDev;
    let browser: Awaited<ReturnType<typeof chromium.launch>>;
    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), "seneschal-cross-site-"));
      dev = await startDev({
        dataDir: dir,
        portBase: "any",
        serve,
        serveS3,
        serveGrpc,
        log: openLogger({ level: "silent" }),
        version: "test",
      });
      browser = await chromium.launch({ executablePath: browserPath ?? "", args: ["--no-sandbox"] });
    });
    afterAll(async () => {
      await browser?.close();
      await dev?.stop();
      await rm(dir, { recursive: true, force: true });
    });

    test("the page's form approves nothing; the same request from the service's own address is let through", async () => {
      const gateway = dev.credentials.base_urls["gateway"] ?? "";
      const { cert, key } = dev.credentials.organizations["acme"]!.admins.super_admin;
      const context = await browser.newContext({
        ignoreHTTPSErrors: true,
        clientCertificates: [{ origin: gateway, certPath: cert, keyPath: key }],
      });
      const target = `${gateway}/api/v1/emergency-access/01890000-0000-7000-8000-000000000000/approve`;
      const evil = createServer((_, response) => {
        response.setHeader("content-type", "text/html");
        response.end(`<form method="post" action="${target}"></form><script>document.forms[0].submit()</script>`);
      });
      await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
      try {
        const page = await context.newPage();
        const answered = page.waitForResponse(target);
        await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`).catch(() => undefined);
        const answer = await answered;
        expect(answer.status()).toBe(403);
        expect(await answer.json()).toMatchObject({ error: { details: { reason: "Sec-Fetch-Site is cross-site" } } });

        await page.goto(`${gateway}/live`);
        // The certificate is taken: whoever asks is known, and only the request is not.
        const own = await page.evaluate(async (url) => (await fetch(url, { method: "POST" })).status, target);
        expect(own).toBe(404);
      } finally {
        evil.close();
        await context.close();
      }
    });
  },
);
