import { readdirSync, readFileSync } from "node:fs";

const folder = new URL("../packages/app/test/gateway/", import.meta.url);

/** The gateway's suites over HTTP, relative to packages/app: all that open a server. Configurations run them again on another. */
export function gatewaySuites(): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".test.ts") && /\bopen(Rig|Side)\(/.test(readFileSync(new URL(name, folder), "utf8")))
    .map((name) => `test/gateway/${name}`);
}
