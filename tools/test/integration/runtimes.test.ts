/** The packed packages beyond Node: in a page of Chromium, bundled by esbuild and by Vite, and in Bun and Deno. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRegistry, packAll } from "../../own-registry.ts";
import { bundleByEsbuild, bundleByVite, compileStranger, entriesOfAll, openStranger } from "../../strangers.ts";
import { ROOT } from "../fixture-tree.ts";

const browserPath = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path) => path !== undefined && existsSync(path),
);
if (browserPath === undefined) console.warn("no Chromium: the packages run in no page");

const PROGRAMS = [
  "browser-page",
  "rego",
  "quota",
  "classify",
  "seal-message",
  "threshold-signing",
  "mount-fetch",
  "typed-client",
  "mount-express",
  "hard-quota",
  "embed-service",
];
const RUNTIMES = [
  { name: "Bun", file: join(ROOT, ".peers/runtimes/node_modules/.bin/bun"), run: ["run"] },
  {
    name: "Deno",
    file: join(ROOT, ".peers/runtimes/node_modules/.bin/deno"),
    run: ["run", "--allow-all", "--quiet", "--node-modules-dir=manual"],
  },
];
for (const { name, file } of RUNTIMES)
  if (!existsSync(file)) console.warn(`no ${name} (tools/install-peers.sh): the packages do not run in it`);

const built = existsSync(join(ROOT, "packages/kernel/dist/index.js"));
if (!built) console.warn("nothing is built (npm run build): nothing is packed and run elsewhere");

describe.skipIf(!built)("packages as they are published", () => {
  let dir: string;
  let folder: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "runtimes-"));
    folder = join(dir, "stranger");
    const registry = await openRegistry(await packAll(join(dir, "packed")), join(dir, "packed"));
    try {
      await openStranger(registry, folder);
    } finally {
      registry.close();
    }
    await compileStranger(folder, "nodenext");
  }, 300_000);
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test.skipIf(browserPath === undefined).each([
    ["esbuild", bundleByEsbuild],
    ["Vite", bundleByVite],
  ])("compute in a page of Chromium what they compute in Node, bundled by %s", async (_, bundle) => {
    const code = await readFile(await bundle(folder), "utf8");
    const browser = await chromium.launch({ executablePath: browserPath ?? "", args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage();
      await page.route("http://localhost/**", (route) =>
        route.request().url().endsWith(".mjs")
          ? route.fulfill({ contentType: "text/javascript", body: code })
          : route.fulfill({ contentType: "text/html", body: "<!doctype html>" }),
      );
      await page.goto("http://localhost/");
      // It throws when it computes something else.
      await page.evaluate("import('http://localhost/page.mjs').then(() => true)");
      await page.locator("textarea").fill("my ssn is 536-22-8726");
      expect(await page.locator("output").textContent()).toBe("stays here: PROPRIETARY");
      await page.locator("textarea").fill("good morning");
      expect(await page.locator("output").textContent()).toBe("may be sent");
    } finally {
      await browser.close();
    }
  });

  describe.each(RUNTIMES)("in $name", ({ file, run }) => {
    const say = async (program: string): Promise<string> =>
      (await promisify(execFile)(file, [...run, program], { cwd: folder, timeout: 120_000, maxBuffer: 2 ** 24 })).stdout;

    test.skipIf(!existsSync(file))("every entry is imported", async () => {
      const code = `for (const entry of ${JSON.stringify(entriesOfAll())}) await import(entry);\nconsole.log("imported");\n`;
      await writeFile(join(folder, "elsewhere.mjs"), code);
      expect(await say("elsewhere.mjs")).toBe("imported\n");
    });

    test.skipIf(!existsSync(file)).each(PROGRAMS)("the program %s runs", async (program) => {
      await say(`out/${program}.js`);
    });
  });
});
