/** docs/glossary.md decides names. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./fixture-tree.ts";

const page = readFileSync(join(ROOT, "docs/glossary.md"), "utf8");
const rows = [...page.matchAll(/^\| ([^|]+) \| [^|]+ \| ([^|]+) \| [^|]+ \|$/gm)].filter(([, term]) => term !== "term");

test("every term stands where the glossary says", () => {
  expect(rows.length).toBeGreaterThan(40);
  for (const [, term, where = ""] of rows) {
    for (const [, place = ""] of where.matchAll(/`([^`]+)`/g)) {
      expect(existsSync(join(ROOT, "packages", place)), `${term}: ${place}`).toBe(true);
    }
  }
});

/** Words that mean something in a story and nothing to a reader of Vault, etcd, S3 or Presidio. */
const GIVEN_UP = /\b(?:vessel|courier|entrance|travelling\w*|belongings?|line-?up|searcher|first-run|worlds)\b/i;

test("words that were given up do not come back", () => {
  const sources = readdirSync(join(ROOT, "packages")).flatMap((name) =>
    readdirSync(join(ROOT, "packages", name, "src"), { recursive: true, encoding: "utf8" }).map((file) =>
      join("packages", name, "src", file),
    ),
  );
  const files = sources.filter((file) => file.endsWith(".ts"));
  expect(files.length).toBeGreaterThan(1000);
  expect(files.filter((file) => GIVEN_UP.test(file) || GIVEN_UP.test(readFileSync(join(ROOT, file), "utf8")))).toEqual([]);
});
