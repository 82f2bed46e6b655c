import { mkdtemp, readFile, rm } from "node:fs/promises";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { json } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

let cwd = "";
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "seneschal-dev-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const words = ["dev", "--data", "data", "--port-base", "any", "--log", "silent"];

it("`seneschal dev` says of each service the version of the package that it comes with, and has so long to end as its services may take", async () => {
  let end = (): void => {};
  const host = scriptedHost({ cwd, interrupted: new Promise((resolve) => (end = resolve)) });
  const code = run([...words, "--json"], host);
  try {
    await vi.waitUntil(() => host.lines.length > 0, { timeout: 120_000 });
    const { services, credentials } = host.json() as {
      readonly credentials: string;
      readonly services: readonly { readonly name: string; readonly url: string }[];
    };
    const { version } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
    const asked = scriptedHost({ cwd });
    expect([await run(["--version"], asked), asked.lines.join("").trim()]).toEqual([0, version]);
    const ca = await readFile(join(dirname(credentials), "ca.pem"), "utf8");
    for (const { name, url } of services) {
      expect(await ask(url, "/openapi.json", ca), name).toMatchObject({ info: { version } });
      // A storage node says no more of itself there than that it lives.
      if (name !== "storage") expect(await ask(url, "/health", ca), name).toMatchObject({ version });
    }
    expect(services.map(({ name }) => name).sort()).toEqual(["gateway", "governance", "scheduler", "storage"]);
    expect(host.deadlines).toEqual([]);
  } finally {
    end();
    expect(await code).toBe(0);
  }
  // Ten seconds each, and ten to close what they hold.
  expect(host.deadlines).toEqual([50_000]);
});

it("`seneschal dev` that is told to end before it has started ends, and has a time for that", async () => {
  const host = scriptedHost({ cwd, interrupted: Promise.resolve() });
  expect([await run(words, host), host.errors]).toEqual([0, []]);
  expect(host.deadlines).toEqual([10_000]);
});

function ask(base: string, path: string, ca: string): Promise<unknown> {
  const url = new URL(path, base);
  if (url.protocol === "http:") return fetch(url).then((answer) => answer.json());
  return new Promise((resolve, reject) => {
    get(url, { ca, agent: false }, (answer) => void json(answer).then(resolve, reject)).on("error", reject);
  });
}
