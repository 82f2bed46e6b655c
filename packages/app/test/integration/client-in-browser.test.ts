import { existsSync } from "node:fs";
import type { RunningServer } from "@seneschal/contract";
import { sampleService } from "@seneschal/contract/testing";
import { serve } from "@seneschal/server-fastify";
import { chromium } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const browserPath = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path) => path !== undefined && existsSync(path),
);
if (browserPath === undefined) console.warn("no Chromium: the typed client is not tried in a browser");

/** The client and a contract as one script without imports, as an application's bundler makes it. */
async function bundled(): Promise<string> {
  const entry = new URL("browser-client.ts", import.meta.url).pathname;
  const output = await build({
    configFile: false,
    logLevel: "silent",
    resolve: { conditions: ["@seneschal/source", "browser", "import", "default"] },
    build: { write: false, minify: false, lib: { entry, formats: ["iife"], name: "bundle" } },
  });
  const [{ output: chunks }] = output as unknown as [{ readonly output: readonly { readonly code?: string }[] }];
  return chunks[0]?.code ?? "";
}

describe.skipIf(browserPath === undefined)("the typed client in a browser", () => {
  let server: RunningServer;
  let browser: Awaited<ReturnType<typeof chromium.launch>>;
  beforeAll(async () => {
    server = await serve(sampleService(), { port: 0 });
    browser = await chromium.launch({ executablePath: browserPath ?? "", args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test("calls by parameters and bodies, reads bytes, and throws coded errors", async () => {
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    await page.route(`${server.url}/page`, (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
    await page.goto(`${server.url}/page`);
    await page.addScriptTag({ content: await bundled() });
    expect(await page.evaluate("tryClient(location.origin)")).toEqual({
      widget: { id: "a/b c", name: "bolt" },
      created: { id: "w1", name: "nut" },
      bytes: "a,b\n",
      failure: ["CONFLICT", 409],
    });
    expect(problems).toEqual([]);
  });
});
