import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { serve } from "@seneschal/server-fastify";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startStorage, tokenOf } from "../storage/harness.ts";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const tabs = ["overview", "performance", "devices", "shards", "jobs", "events", "operations"];
const shots = process.env["SCREENSHOTS"];

describe.skipIf(executablePath === undefined)("dashboard in Chromium (skipped: no browser is installed)", () => {
  let h: Harness;
  let browser: Browser;
  let page: Page;
  const foreign: string[] = [];
  const errors: string[] = [];

  beforeAll(async () => {
    h = await startStorage(serve);
    browser = await chromium.launch({
      executablePath: executablePath ?? "",
      args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    });
    page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    watch(page);
    h.storage.node.context.emit("warning", "admin", '<img src=x onerror="document.title=1">', {});
    await page.goto(`${h.service.url}/ui`);
  });
  afterAll(async () => {
    await browser?.close();
    await h?.stop();
  });

  const watch = (watched: Page) => {
    watched.on("request", (r) => {
      if (!r.url().startsWith(h.service.url) && !r.url().startsWith("data:")) foreign.push(r.url());
    });
    watched.on("pageerror", (error) => errors.push(error.message));
    watched.on("console", (message) => {
      if (message.type() === "error" && !/401/.test(message.text())) errors.push(message.text());
    });
  };
  const shot = async (name: string) => {
    if (shots === undefined) return;
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
  };
  const open = async (tab: string) => {
    await page.click(`#tab-${tab}`);
    await page.waitForSelector(`#view-${tab}:not([hidden])`);
  };
  const violations = async () => {
    await page.addScriptTag({ path: axe }).catch(() => undefined);
    return page.evaluate(async () => {
      const { axe: tool } = globalThis as unknown as {
        axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      };
      return (await tool.run()).violations.map((v) => `${v.id}: ${v.nodes[0]?.html}`);
    });
  };

  test("shows live data in every tab, axe clean, in light and dark and at 360 px", async () => {
    await page.waitForSelector(".card .badge.healthy");
    expect(await page.textContent("#view-overview tbody th")).toBe("node-1");
    // The page's own policy lets no foreign script in; the checker needs a page of its own rules.
    await page.close();
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, bypassCSP: true });
    page = await context.newPage();
    watch(page);
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.goto(`${h.service.url}/ui`);
      for (const tab of tabs) {
        await open(tab);
        await page.waitForFunction(() => document.querySelector("#freshness")?.textContent?.startsWith("Live"));
        await shot(`${scheme}-${tab}`);
        expect(await violations(), `${scheme} ${tab}`).toEqual([]);
      }
    }
    await page.setViewportSize({ width: 360, height: 740 });
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      for (const tab of tabs) {
        await open(tab);
        await shot(`phone-${scheme}-${tab}`);
        expect(await violations(), `phone ${scheme} ${tab}`).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth), tab).toBeLessThanOrEqual(360);
      }
    }
    await page.setViewportSize({ width: 1200, height: 900 });
  });
  test("the tabs work by keyboard alone", async () => {
    await page.focus("[role=tab][aria-selected=true]");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    expect(await page.getAttribute("#tab-performance", "aria-selected")).toBe("true");
    await page.keyboard.press("ArrowLeft");
    expect(await page.getAttribute("#tab-overview", "aria-selected")).toBe("true");
  });
  test("Tab reaches every control of every tab, each with a visible focus, and a dialog gives the focus back", async () => {
    for (const tab of tabs) {
      await open(tab);
      // Named by what they are: the page replaces its elements as it polls.
      const wanted = await page.$$eval(`#view-${tab} :is(button, input, select, a[href])`, (found) =>
        found
          .filter((e) => (e as HTMLElement).offsetParent !== null && !(e as HTMLButtonElement).disabled)
          .map(
            (e) => `${e.tagName} ${e.getAttribute("name")} ${e.getAttribute("data-node")} ${e.closest("form")?.dataset["op"]}`,
          ),
      );
      const missing = new Set(wanted);
      await page.focus(`#tab-${tab}`);
      for (let presses = 0; presses < wanted.length + 10 && missing.size > 0; presses++) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate((view) => {
          const e = document.activeElement as HTMLElement;
          if (e.closest(view) === null) return undefined;
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(e);
          const visible = (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
          const name = `${e.tagName} ${e.getAttribute("name")} ${e.getAttribute("data-node")} ${e.closest("form")?.dataset["op"]}`;
          return { name, visible };
        }, `#view-${tab}`);
        if (at === undefined) continue;
        expect(at.visible, at.name).toBe(true);
        missing.delete(at.name);
      }
      expect([...missing], tab).toEqual([]);
    }
    await open("overview");
    await page.focus("button[data-node=node-1]");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#node-detail[open]");
    expect(await violations()).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await page.isVisible("#node-detail")).toBe(false);
    expect(await page.evaluate(() => (document.activeElement as HTMLElement).dataset["node"])).toBe("node-1");
  });
  test("a hostile event text is shown as text", async () => {
    await open("events");
    await page.waitForFunction(() => document.querySelector("#event-rows")?.textContent?.includes("<img"));
    expect(await page.$("#event-rows img")).toBeNull();
    await page.selectOption("select[name=severity]", "error");
    await page.waitForFunction(() => !document.querySelector("#event-rows")?.textContent?.includes("<img"));
  });
  test("a node's details open from its row", async () => {
    await open("overview");
    await page.click("button[data-node=node-1]");
    await page.waitForSelector("#node-detail[open]");
    expect(await page.textContent("#node-facts")).toContain("127.0.0.1");
    await page.click("#node-detail button");
  });
  test("operations need a sign-in and a confirmation, and show what came of them", async () => {
    await open("operations");
    expect(await page.isVisible("#operations")).toBe(false);
    await page.fill("#sign-in input", "wrong");
    await page.click("#sign-in button");
    await page.waitForFunction(() => document.querySelector("#op-result")?.textContent?.startsWith("Not signed in"));
    await page.fill("#sign-in input", tokenOf("root"));
    await page.click("#sign-in button");
    await page.waitForSelector("#operations:not([hidden])");
    await shot("operations-signed-in");
    expect(await violations(), "signed in").toEqual([]);
    await page.click("form[data-op=maintenance] button");
    await page.waitForSelector("#confirm[open]");
    expect(await page.textContent("#confirm-text")).toContain("Shard: whole cluster; Mode: on: read-only");
    expect(await violations(), "confirmation").toEqual([]);
    await page.click("#confirm button[value=no]");
    expect(h.storage.node.cluster.state.maintenance).toBe(false);
    await page.click("form[data-op=maintenance] button");
    await page.click("#confirm button[value=yes]");
    await page.waitForFunction(() => document.querySelector("#op-result")?.textContent?.startsWith("Done"));
    expect(h.storage.node.cluster.state.maintenance).toBe(true);
    await page.selectOption("form[data-op=maintenance] select[name=enabled]", "false");
    await page.click("form[data-op=maintenance] button");
    await page.click("#confirm button[value=yes]");
    await page.waitForFunction(() => document.querySelector("#op-result")?.textContent?.includes("is off"));
    await page.click("form[data-op=scrub] button");
    await page.click("#confirm button[value=yes]");
    await page.waitForFunction(() => document.querySelector("#op-result")?.textContent?.includes("scrub has begun"));
    expect((await h.storage.node.jobs.list({ limit: 5 })).map((j) => j.kind)).toContain("scrub");
    // Nothing is chosen beforehand where a choice moves data.
    expect(await page.inputValue("form[data-op=evacuate] select")).toBe("");
    await page.click("form[data-op=backup] button");
    await page.click("#confirm button[value=yes]");
    await page.waitForFunction(() => document.querySelector("#op-result")?.textContent?.includes("backup has begun"));
    await h.storage.node.jobs.drain();
    await page.reload();
    await open("operations");
    await page.waitForSelector("form[data-op=restore] option:nth-child(2)", { state: "attached" });
    await page.selectOption("form[data-op=restore] select", { index: 1 });
    await page.click("form[data-op=restore] button");
    expect(await page.textContent("#confirm-text")).toContain("0 objects, metadata only");
    await page.click("#confirm button[value=no]");
    await page.click("form[data-op=sign-out] button");
    await page.waitForSelector("#sign-in:not([hidden])");
  });
  test("no request left the machine's own server, and no script broke", () => {
    expect(foreign).toEqual([]);
    expect(errors.filter((e) => !/Failed to load resource/.test(e))).toEqual([]);
  });
});
