/** The table "Signed operations" of docs/gateway.md has every operation, with the request and the field that the contract has. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gatewayContract, signedOperations } from "@seneschal/contract/gateway";
import { expect, test } from "vitest";
import { ROOT } from "./fixture-tree.ts";

interface Route {
  readonly method: string;
  readonly path: string;
  readonly body?: { readonly shape: object };
}

const section = readFileSync(join(ROOT, "docs/gateway.md"), "utf8").split("## Signed operations")[1]?.split("\n## ")[0] ?? "";
const rows = [...section.matchAll(/^\| ([a-z]+\.[a-z-]+) \| ([A-Z]+) (\S+) \| `(\w+)`[^|]*\| ([^|]*) \|/gm)].map(
  ([, ...cells]) => cells as string[],
);

test("the documents name every operation that a signature may cover, and the field that takes it", () => {
  expect(Object.fromEntries(rows.map(([operation, , , field]) => [operation, field]))).toEqual(signedOperations);
});

test.each(rows)(
  "%s: %s %s names its resource by the path, by a field, or has none",
  (_, method, path = "", _field, resource = "") => {
    const wanted = `/api/v1${path.replace(/\{(\w+)\}/g, ":$1")}`;
    const route = (Object.values(gatewayContract) as Partial<Route>[]).find(
      (one) => one.method === method && one.path === wanted,
    );
    const [, named] = /^`(\w+)/.exec(resource) ?? [];
    // What the path names is said in words, what the body names by its field.
    if (path.includes("{"))
      expect([named, resource]).toEqual([undefined, expect.stringMatching(/^(workspace|policy|backup|request|partner's id)$/)]);
    else if (named === undefined) expect(resource).toBe('`""`');
    else expect(Object.keys(route?.body?.shape ?? {})).toContain(named);
  },
);

test.each(rows)("%s: %s %s takes its signature and its freshness", (_, method, path = "", field = "") => {
  const wanted = `/api/v1${path.replace(/\{(\w+)\}/g, ":$1")}`;
  const route = (Object.values(gatewayContract) as Partial<Route>[]).find((one) => one.method === method && one.path === wanted);
  expect(Object.keys(route?.body?.shape ?? {})).toEqual(expect.arrayContaining([field, "signature_params"]));
});
