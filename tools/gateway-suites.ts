import { readdirSync, readFileSync } from "node:fs";

const folder = new URL("../packages/app/test/gateway/", import.meta.url);

/**
 * The gateway's suites over HTTP, relative to packages/app: all that open a server. Configurations run them again on another, or on
 * another store; not those that bring the embedded store themselves, whose laws are about what lies on disk.
 */
export function gatewaySuites(): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".test.ts"))
    .filter((name) => {
      const text = readFileSync(new URL(name, folder), "utf8");
      return /\bopen(Rig|Side)\(/.test(text) && !/\bopenLevelRigStore\(/.test(text);
    })
    .map((name) => `test/gateway/${name}`);
}
