import { existsSync } from "node:fs";
import { governanceContract } from "@seneschal/contract/governance";
import { chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Rig, servers, startRig } from "../governance/rig.ts";
import { runEvent } from "../governance/run-event.ts";

const browserPath = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path) => path !== undefined && existsSync(path),
);
if (browserPath === undefined) console.warn("no Chromium: the pages of data governance are not looked at");
/** Where pictures are kept for people to look at; none without it. */
const pictures = process.env["SCREENSHOTS"];

const event = (i: number, inputs: readonly string[], output: string) =>
  runEvent({
    run: `0190e2c0-0000-7000-8000-00000000000${i}`,
    at: `2026-02-0${i}T00:00:00Z`,
    job: `job${i}`,
    inputs,
    outputs: [output],
  });

describe.skipIf(browserPath === undefined)("the pages of data governance in a browser without a network", () => {
  let rig: Rig;
  let browser: Awaited<ReturnType<typeof chromium.launch>>;
  beforeAll(async () => {
    rig = await startRig(servers[1]![1]);
    await rig.call("writer", "PUT", "/api/v1/resources/crm.customers", { tier: "PROPRIETARY", tags: ["PII"] });
    await rig.call("writer", "PUT", "/api/v1/resources/shop.orders", { tier: "INTERNAL" });
    await rig.call("writer", "POST", "/api/v1/lineage", event(1, ["crm.customers", "shop.orders"], "dwh.customer_orders"));
    await rig.call("writer", "POST", "/api/v1/lineage", event(2, ["dwh.customer_orders"], "mart.revenue_per_customer"));
    await rig.call("writer", "POST", "/api/v1/lineage", event(3, ["dwh.customer_orders"], "export.partner_feed"));
    browser = await chromium.launch({ executablePath: browserPath ?? "", args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    await rig?.stop();
  });

  /** A page that fails the test when it asks another host or complains. */
  async function watched(options: Parameters<typeof browser.newPage>[0] = {}): Promise<{ page: Page; wrong: string[] }> {
    const page = await browser.newPage({ extraHTTPHeaders: { authorization: "Bearer key-of-admin" }, ...options });
    const wrong: string[] = [];
    page.on("request", (request) => {
      if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(rig.service.url)) wrong.push(request.url());
    });
    page.on("console", (message) => {
      if (message.type() === "error") wrong.push(message.text());
    });
    page.on("pageerror", (error) => wrong.push(String(error)));
    return { page, wrong };
  }

  test.each(["/docs", "/redoc"])("%s shows every operation and asks nobody else", async (path) => {
    const { page, wrong } = await watched();
    await page.goto(`${rig.service.url}${path}`);
    for (const { summary } of Object.values(governanceContract))
      await page.getByText(summary, { exact: true }).first().waitFor({ state: "attached", timeout: 60_000 });
    expect(wrong).toEqual([]);
    await page.close();
  });

  test.each([
    ["light", { width: 1280, height: 800 }],
    ["dark", { width: 1280, height: 800 }],
    ["light", { width: 390, height: 844 }],
  ] as const)("the lineage is drawn, %s, %o", async (colorScheme, viewport) => {
    const { page, wrong } = await watched({ colorScheme, viewport });
    await page.goto(`${rig.service.url}/api/v1/lineage/dwh.customer_orders/view`);
    await page.locator("html[data-ready='5']").waitFor({ timeout: 60_000 });
    expect(await page.locator("#legend li").allTextContents()).toEqual(["INTERNAL", "PROPRIETARY"]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(ground).toBe(colorScheme === "dark" ? "rgb(18, 22, 29)" : "rgb(246, 247, 249)");
    const graph = await page.locator("#graph").boundingBox();
    // The resource that was asked for stands in the middle of the picture.
    await page.mouse.click((graph?.x ?? 0) + (graph?.width ?? 0) / 2, (graph?.y ?? 0) + (graph?.height ?? 0) / 2);
    await page.locator("#details h2").waitFor({ timeout: 60_000 });
    expect(await page.locator("#details h2").textContent()).toBe("dwh.customer_orders");
    if (pictures !== undefined) await page.screenshot({ path: `${pictures}/lineage-${colorScheme}-${viewport.width}.png` });
    expect(wrong).toEqual([]);
    await page.close();
  });
});
