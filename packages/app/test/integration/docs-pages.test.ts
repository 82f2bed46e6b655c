import { existsSync } from "node:fs";
import { dispatcher, docsContract, documentContract, endpoints, type RunningServer } from "@seneschal/contract";
import { sampleContract, sampleErrors, unwatched } from "@seneschal/contract/testing";
import { serve } from "@seneschal/server-express";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documentHandlers } from "../../src/platform/docs/document-handlers.ts";
import { docsHandlers } from "../../src/platform/index.ts";

const browserPath = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path) => path !== undefined && existsSync(path),
);
if (browserPath === undefined) console.warn("no Chromium: the reference pages are not looked at");

const info = { title: "Sample", version: "1", errors: sampleErrors };

describe.skipIf(browserPath === undefined)("the reference pages in a browser without a network", () => {
  let server: RunningServer;
  let browser: Awaited<ReturnType<typeof chromium.launch>>;
  beforeAll(async () => {
    const hooks = { ...unwatched, errors: sampleErrors, now: () => Date.now(), requestId: () => "r" };
    const pages = endpoints(docsContract, docsHandlers(), undefined, hooks);
    const document = endpoints(documentContract, documentHandlers(sampleContract, info), undefined, hooks);
    server = await serve(dispatcher([...pages, ...document], hooks), { port: 0 });
    browser = await chromium.launch({ executablePath: browserPath ?? "", args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test.each(["/docs", "/redoc"])("%s shows every operation, asks nobody else, breaks no policy", async (path) => {
    const page = await browser.newPage();
    const foreign: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(server.url) && !url.startsWith("data:") && !url.startsWith("blob:")) foreign.push(url);
    });
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(`${server.url}${path}`);
    for (const { summary } of Object.values(sampleContract)) {
      await page.getByText(summary, { exact: true }).first().waitFor({ state: "attached", timeout: 20_000 });
    }
    expect(foreign).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
