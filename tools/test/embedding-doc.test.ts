/** While the program of docs/embedding.md runs, both applications answer as the page says. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blocksOf } from "../shown-programs.ts";
import { sourceOptions } from "../source-options.ts";
import { ROOT } from "./fixture-tree.ts";

/** Before the last block, which stops the services. */
const BEFORE = `
const { once } = await import("node:events");
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");
const onExpress = "http://127.0.0.1:" + (server.address() as { port: number }).port;
const onFastify = await other.listen({ port: 0, host: "127.0.0.1" });
const json = { method: "POST", headers: { "content-type": "application/json" }, body: '{"a":1}' };
const say = async (url: string, options = {}) => {
  const { status, headers } = await fetch(url, options);
  console.log(status, headers.get("x-request-id") === null ? "application" : "service");
};
await say(onExpress + "/keys/live");
await say(onExpress + "/keys/nowhere");
await say(onExpress + "/decisions/health");
await say(onExpress + "/decisions/report");
await say(onExpress + "/echo", json);
await say(onFastify + "/keys/live");
await say(onFastify + "/own");
`;
const AFTERWARDS = `
await say(onExpress + "/keys/live");
await say(onExpress + "/echo", json);
server.close();
server.closeAllConnections();
await other.close();
`;

test("the page's program runs", { timeout: 240_000 }, () => {
  const blocks = blocksOf("docs/embedding.md");
  expect(blocks).toHaveLength(6);
  const dir = mkdtempSync(join(ROOT, "packages/app/test/.embedding-"));
  try {
    writeFileSync(join(dir, "main.ts"), [...blocks.slice(0, -1), BEFORE, blocks.at(-1), AFTERWARDS].join("\n"));
    const env = { ...process.env, DATA: join(dir, "data") };
    const result = spawnSync(process.execPath, [...sourceOptions, join(dir, "main.ts")], { encoding: "utf8", env });
    const said = result.stdout.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
    expect({ said, errors: result.stderr.replace(/^\(.*\n?/gm, ""), status: result.status }).toEqual({
      said: [
        "200",
        "200 service",
        "404 service",
        "200 service",
        "200 application",
        "200 application",
        "200 service",
        "200 application",
        "503 service",
        "200 application",
      ],
      errors: "",
      status: 0,
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
});
