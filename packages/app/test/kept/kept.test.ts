import { readFileSync } from "node:fs";
import { vaultCollections } from "@seneschal/adapters/vault";
import { emptyState, SortedMap } from "@seneschal/quota";
import { describe, expect, it } from "vitest";
import { gatewaySchema } from "../../src/gateway/index.ts";
import { governanceSchema } from "../../src/governance/index.ts";
import { storageSchema } from "../../src/storage/schema.ts";
import { type Kept, kept } from "./declared.ts";

const packages = new URL("../../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, packages), "utf8");
const page = read("../docs/stores-and-logs.md");

/** What of the scheduler's state follows from the rest of it. */
const DERIVED = ["holdings", "userHoldings", "live"];
const OF_A_STORE = ["audit log", "changes of documents", "ids of commits"];

/** Everything that a service keeps: collections, parts of the state that rides on a log, and logs. */
const everything: Readonly<Record<keyof typeof kept, readonly string[]>> = {
  gateway: [...OF_A_STORE, ...Object.keys({ ...gatewaySchema.collections, ...vaultCollections })],
  governance: [...OF_A_STORE, ...Object.keys(governanceSchema.collections)],
  storage: [...OF_A_STORE, "cluster log", ...Object.keys({ ...storageSchema.collections, ...vaultCollections })],
  scheduler: [
    ...["log", "receipts", "restoring"],
    ...Object.entries(emptyState()).flatMap(([name, part]) =>
      part instanceof SortedMap && !DERIVED.includes(name) ? [name] : [],
    ),
  ],
};

const advice =
  "declare in app/test/kept/declared.ts how long it is kept: by age, count, the life of what it belongs to, somebody's act, or for ever and why; bound it where it grows with use, and name the test that shows that the bound is kept";

describe.each(Object.entries(kept))("what the %s keeps", (service, declared: readonly Kept[]) => {
  it("is declared once, each collection and each log", () => {
    const names = declared.flatMap((one) => one.names);
    expect([...names].sort(), advice).toEqual([...everything[service as keyof typeof kept]].sort());
  });

  it("is shown to be bounded by a test, or is for ever for a reason", () => {
    for (const { names, by, text, proof } of declared) {
      expect(text.length, `${names} says until when, or why`).toBeGreaterThan(5);
      expect(proof === undefined, `${names}: ${advice}`).toBe(by === "forever");
      if (proof === undefined) continue;
      const [file = "", title = ""] = proof.split(/: (.*)/s);
      expect(title.length, proof).toBeGreaterThan(20);
      expect(read(file), proof).toContain(title);
    }
  });

  it("stands in the table of the documentation", () => {
    for (const { names, by, text } of declared) {
      const row = `| ${service} | ${names.map((name) => (name.includes(" ") ? name : `\`${name}\``)).join(", ")} | ${by} | ${text} |`;
      expect(page.includes(row), `docs/stores-and-logs.md lacks the row\n${row}`).toBe(true);
    }
  });
});
