/** What the pages link to is there, and is what they call it. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { pages } from "../shown-programs.ts";
import { ROOT } from "./fixture-tree.ts";

interface Link {
  readonly page: string;
  readonly text: string;
  readonly file: string;
  readonly heading: string | undefined;
}

const links: readonly Link[] = pages.flatMap((page) =>
  [...readFileSync(join(ROOT, page), "utf8").matchAll(/\[([^\][]*)\]\(([^)\s]+)\)/g)].flatMap(([, text = "", target = ""]) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = "", heading] = target.split("#");
    return [{ page, text, file: path === "" ? page : join(dirname(page), path), heading }];
  }),
);

test("every link of a page leads to a file, and to a heading of it", () => {
  expect(links.length).toBeGreaterThan(100);
  const broken = links.filter(({ file, heading }) => {
    if (!existsSync(join(ROOT, file))) return true;
    return heading !== undefined && file.endsWith(".md") && !headings(file).has(heading);
  });
  expect(broken).toEqual([]);
});

test("a name of the code that is linked is in the file that it is linked to", () => {
  const named = links.filter(({ text, file }) => /^`\w+`$/.test(text) && /\.(?:ts|rego)$/.test(file));
  expect(named.length).toBeGreaterThan(10);
  for (const { page, text, file } of named) {
    const name = text.slice(1, -1);
    expect(
      new RegExp(`\\b${name}\\b`).test(readFileSync(join(ROOT, file), "utf8")) || file.includes(name),
      `${page}: ${text}`,
    ).toBe(true);
  }
});

test("a test that a page names is there", () => {
  const named = pages.flatMap((page) =>
    [...readFileSync(join(ROOT, page), "utf8").matchAll(/`((?:packages\/)?\w[\w/.-]*\.test\.ts)`/g)].map(([, file = ""]) => ({
      page,
      file,
    })),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ file }) => !existsSync(join(ROOT, file)) && !existsSync(join(ROOT, "packages", file)))).toEqual([]);
});

/** As the hosts of repositories make anchors of headings. */
function headings(file: string): ReadonlySet<string> {
  const found = [...readFileSync(join(ROOT, file), "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set(found);
}
