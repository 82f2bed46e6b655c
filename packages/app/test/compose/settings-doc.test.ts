import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { processSettings, serviceNames } from "../../src/compose/process-settings.ts";
import { leaves } from "../../src/platform/index.ts";

const page = readFileSync(new URL("../../../../docs/operating.md", import.meta.url), "utf8");
const section = page.slice(page.indexOf("\n## Configuration"), page.indexOf("\n## TLS and mTLS"));

const settings = leaves(processSettings).map(({ path }) => path.join("."));
/** Every setting, and everything that has settings below it. */
const known = new Set(settings.flatMap((name) => name.split(".").map((_, at, parts) => parts.slice(0, at + 1).join("."))));

const spans = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
const parentOf = (name: string): string => name.slice(0, name.lastIndexOf(".") + 1);

/** A row of a table of settings: which ones it is about, and what else of them it says. */
interface Row {
  readonly row: string;
  readonly named: readonly string[];
  readonly told: readonly string[];
}

/** The rows below a heading. A name that begins with a dot is the sibling of the one before; what the names are below is said by `scopes`. */
function rowsBelow(heading: string, scopes: readonly string[]): readonly Row[] {
  const start = section.indexOf(`\n### ${heading}\n`);
  expect(start, heading).toBeGreaterThanOrEqual(0);
  const end = section.indexOf("\n### ", start + 1);
  const lines = section.slice(start, end < 0 ? undefined : end).split("\n");
  return lines
    .filter((line) => line.startsWith("| `"))
    .map((row) => {
      const [first = "", ...rest] = row.slice(2).split(" | ");
      let last = "";
      const written = spans(first).map((span) => {
        last = span.startsWith(".") ? `${parentOf(last)}${span.slice(1)}` : span;
        return last;
      });
      const named = scopes.flatMap((scope) => written.map((name) => `${scope}${name}`));
      const told = named.flatMap((name) =>
        spans(rest.join(" | ")).flatMap((span) => [
          `${parentOf(name)}${span.replace(/^\./, "")}`,
          `${name}.${span.replace(/^\./, "")}`,
        ]),
      );
      return { row, named, told };
    });
}

describe("the list of settings in docs/operating.md", () => {
  const rows = [
    ...rowsBelow("For the whole process", [""]),
    ...rowsBelow(
      "Of every service",
      serviceNames.map((name) => `${name}.`),
    ),
    ...serviceNames.flatMap((name) =>
      rowsBelow(`${name.charAt(0).toUpperCase()}${name.slice(1)}`, name === "scheduler" ? [""] : [`${name}.`]),
    ),
  ];

  it("has every setting that there is", () => {
    const listed = new Set(rows.flatMap(({ named, told }) => [...named, ...told]));
    const covered = (name: string): boolean =>
      listed.has(name) || [...listed].some((one) => one.endsWith(".*") && name.startsWith(one.slice(0, -1)));
    expect(settings.filter((name) => !covered(name))).toEqual([]);
  });

  it("has none that there is not", () => {
    for (const { row, named } of rows)
      for (const written of new Set(named.map((name) => name.replace(/\.\*$/, ""))))
        expect(
          serviceNames.some((service) => known.has(written) || known.has(written.replace(/^[a-z]+\./, `${service}.`))),
          `${written}: ${row}`,
        ).toBe(true);
  });
});
