/** Whoever calls from JavaScript what the packages' pages show, with an argument of the wrong kind, hears which argument and what it should be. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isCoded } from "@seneschal/kernel";
import { describe, expect, test } from "vitest";
import { ROOT } from "./fixture-tree.ts";

/** What the engine says when nobody looked: a place in our code, not a mistake in the caller's. */
const ENGINE =
  /Cannot (read|destructure|convert|set|use|mix)|is not (a function|iterable|a constructor)|undefined \(reading|Invalid (array|typed)|is not defined/;

/** Every function that an example imports from a package, by package. */
const shown = new Map<string, Set<string>>();
for (const file of readdirSync(join(ROOT, "examples")).filter((name) => name.endsWith(".ts"))) {
  const program = readFileSync(join(ROOT, "examples", file), "utf8");
  for (const [, names = "", from = ""] of program.matchAll(/import \{([^}]*)\} from "(@seneschal\/[^"]+)"/g))
    for (const name of names.split(",").map((name) => name.trim()))
      if (name !== "" && !name.startsWith("type ")) shown.set(from, (shown.get(from) ?? new Set()).add(name));
}

describe.each([...shown])("%s", (from, names) => {
  test.each([...names])("%s", async (name) => {
    const exported = ((await import(from)) as Record<string, unknown>)[name];
    if (typeof exported !== "function" || exported.length === 0) return;
    for (const wrong of [undefined, null, 5]) {
      const given = Array.from({ length: exported.length }, () => wrong);
      let said: unknown;
      try {
        const made: unknown = /^[A-Z]/.test(name)
          ? Reflect.construct(exported, given)
          : Reflect.apply(exported, undefined, given);
        said = await made;
        continue; // It has an answer for that, such as isCoded.
      } catch (error) {
        said = error;
      }
      const { message } = said as Error;
      expect(said instanceof TypeError || isCoded(said), `${name}(${wrong}): ${String(said)}`).toBe(true);
      expect(message, `${name}(${wrong})`).not.toMatch(ENGINE);
      expect(message, `${name}(${wrong})`).toMatch(/\w/);
    }
  });
});
