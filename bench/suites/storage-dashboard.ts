/** The storage dashboard with the data of 1,000 nodes: fragments over HTTP, and the first paint in Chromium where it is installed. */
import { existsSync } from "node:fs";
import { serve } from "@seneschal/server-fastify";
import { chromium } from "playwright-core";
import { startStorage } from "../../packages/app/test/storage/harness.ts";
import type { Bench, BenchResult } from "../bench.ts";

const nodes = 1000;
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const bench = { id: "bench", source: "bench" };

async function dashboard(): Promise<readonly BenchResult[]> {
  const h = await startStorage(serve);
  const results: BenchResult[] = [];
  try {
    for (let i = 2; i <= nodes; i++) {
      const at = (port: number) => `10.${i >> 8}.${i & 255}.1:${port}`;
      const node = { id: `node-${i}`, address: at(9090), dataAddress: at(9100), peerAddress: at(9300) };
      await h.storage.node.cluster.propose({ kind: "node.join", node }, bench);
    }
    for (const name of ["cluster-cards", "node-table", "alerts", "chart-data"]) {
      const times: number[] = [];
      for (let i = 0; i < 60; i++) {
        const started = performance.now();
        const reply = await fetch(`${h.service.url}/ui/fragment/${name}`);
        await reply.text();
        if (i >= 10) times.push(performance.now() - started);
      }
      times.sort((a, b) => a - b);
      results.push({ name: `fragment ${name}, ${nodes} nodes, median`, value: times[25] ?? 0, unit: "ms" });
      results.push({ name: `fragment ${name}, ${nodes} nodes, p98`, value: times[49] ?? 0, unit: "ms" });
    }
    if (executablePath !== undefined) results.push(...(await paint(h.service.url, executablePath)));
  } finally {
    await h.stop();
  }
  return results;
}

/** First contentful paint, and the time until all rows of the node table are there. */
async function paint(url: string, executable: string): Promise<readonly BenchResult[]> {
  const browser = await chromium.launch({ executablePath: executable, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    await page.goto(`${url}/ui`);
    await page.reload();
    await page.waitForFunction((n) => document.querySelectorAll("#view-overview tbody tr").length >= n, nodes);
    const filled = await page.evaluate(() => performance.now());
    const first = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
    return [
      { name: "dashboard, first contentful paint", value: first, unit: "ms" },
      { name: `dashboard, ${nodes} nodes listed`, value: filled, unit: "ms" },
    ];
  } finally {
    await browser.close();
  }
}

export const benches: Bench[] = [{ name: "storage-dashboard", run: dashboard }];
