import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, type RedactionRule, redactionKeys } from "@seneschal/governance";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nodeCrypto } from "../../src/node-crypto/index.ts";
import { redactXlsx, restoreXlsx } from "../../src/redact-files/index.ts";
import { systemRandom } from "../../src/system/index.ts";
import { seen, unzipped, workbookOf, zipped } from "./workbook.ts";

const keys = redactionKeys(nodeCrypto, new Uint8Array(32).fill(1), systemRandom);
const optionsOf = (...rules: readonly RedactionRule[]) => ({
  policy: DEFAULT_TIER_POLICY,
  recognisers: DEFAULT_RECOGNISERS,
  rules,
  keys,
});
const value = fc.constantFrom("ada@example.org", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "o'neil&co@example.org");
/** Ways to write a character of an element or an attribute. */
const spelling = fc.constantFrom("plain", "decimal", "hex", "escape").map(
  (way) => (text: string) =>
    [...text]
      .map((c, i) => {
        const code = c.charCodeAt(0);
        const plain = c === "&" ? "&amp;" : c;
        if (way === "plain" || i % 3 !== 0) return plain;
        if (way === "escape") return `_x${code.toString(16).padStart(4, "0")}_`;
        return way === "hex" ? `&#x${code.toString(16)};` : `&#${code};`;
      })
      .join(""),
);
const numbers = fc.constantFrom("4111111111111111", "5500005555555559");
const workbook = fc.record({ value, number: numbers, spell: spelling });

const shown = (bytes: Uint8Array) => Object.values(unzipped(bytes)).map(seen).join("\n");

test("no value is left in any part of a workbook, however it is written there, and twice is once", async () => {
  const operators = fc.constantFrom("replace", "mask", "drop", "hash", "tokenise", "encrypt" as const);
  await fc.assert(
    fc.asyncProperty(workbook, operators, async ({ value, number, spell }, operator) => {
      const options = optionsOf({ tier: "CONFIDENTIAL", operator } as RedactionRule);
      const { bytes } = await redactXlsx(workbookOf(value, number, spell), options);
      const left = shown(bytes);
      for (const hidden of [value, number, "536228726"]) expect(left).not.toContain(hidden);
      expect(left).toContain("they say");
      expect(unzipped((await redactXlsx(bytes, options)).bytes)).toEqual(unzipped(bytes));
    }),
    { numRuns: 40 },
  );
});

test("tokens and sealed values come back, as texts, by the key that took them", async () => {
  await fc.assert(
    fc.asyncProperty(workbook, fc.constantFrom("tokenise", "encrypt" as const), async ({ value, number, spell }, operator) => {
      const given = workbookOf(value, number, spell);
      const { bytes } = await redactXlsx(given, optionsOf({ operator } as RedactionRule));
      const restored = await restoreXlsx(bytes, DEFAULT_TIER_POLICY, keys);
      expect(restored.count).toBeGreaterThan(10);
      const texts = (file: Uint8Array) => shown(file).replaceAll(/ t="(?:str|n)"/g, "");
      expect(texts(restored.bytes)).toBe(texts(given));
    }),
    { numRuns: 20 },
  );
});

test("whatever a key and its nonces give, what is sealed comes back", async () => {
  // In base64url this is "----", which XML does not take everywhere.
  const dashes = (length: number) => Uint8Array.from({ length }, (_, i) => [0xfb, 0xef, 0xbe][i % 3] as number);
  const keys = redactionKeys(nodeCrypto, new Uint8Array(32).fill(1), dashes);
  const given = workbookOf("ada@example.org", "4111111111111111", (text) => text);
  const { bytes } = await redactXlsx(given, { ...optionsOf({ operator: "encrypt" }), keys });
  expect(shown(bytes)).toContain("sealed:----");
  const restored = await restoreXlsx(bytes, DEFAULT_TIER_POLICY, keys);
  const texts = (file: Uint8Array) => shown(file).replaceAll(/ t="(?:str|n)"/g, "");
  expect(texts(restored.bytes)).toBe(texts(given));
});

test("what a spreadsheet shows to nobody is taken out, and cuts no text", async () => {
  const base = unzipped(workbookOf("ada@example.org", "1", (text) => text));
  const places = fc.constantFrom(
    "<!-- X -->",
    "<!--X--->",
    "<!-- a--X -->",
    "<?X ada?>",
    "<?a X?>",
    "<!---->",
    "<!--\n X<b>\n-->",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("ada@example.org", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00"),
      places,
      async (value, place) => {
        const half = value.slice(0, 5);
        const unshown = place.replace("X", value);
        const text = `<?xml version="1.0"?>${unshown}<x>${unshown}to ${half}${unshown}<![CDATA[${value.slice(5)}]]> only${unshown}</x>${unshown}`;
        const { bytes } = await redactXlsx(zipped({ ...base, "customXml/item2.xml": text }), optionsOf({ operator: "replace" }));
        const left = unzipped(bytes)["customXml/item2.xml"] ?? "";
        expect(left).toMatch(/^<\?xml version="1\.0"\?><x>to &lt;([A-Z_]+)&gt;<!\[CDATA\[<\1>\]\]> only<\/x>$/);
      },
    ),
  );
});

describe("what cannot be read is refused by its name", () => {
  const base = unzipped(workbookOf("ada@example.org", "1", (text) => text));
  test.each([
    ["xl/vbaProject.bin", "macro"],
    ["xl/media/image1.png", "picture"],
    ["xl/embeddings/oleObject1.bin", "object"],
    ["xl/pivotCache/pivotCacheRecords1.xml", "<r/>"],
    ["xl/drawings/a.xml", '<!DOCTYPE a [<!ENTITY e "ada@example.org">]><a>&e;</a>'],
    ["xl/drawings/a.xml", "<a>&e;</a>"],
    ["xl/drawings/a.xml", "<a><b></a></b>"],
    ["xl/drawings/a.xml", "<a>"],
    ["xl/drawings/a.xml", "text<a/>"],
    ["xl/drawings/a.xml", '<?xml version="1.0" encoding="UTF-16"?><a/>'],
    ["xl/drawings/a.xml", '<?xml version="1.0" for="ada@example.org"?><a/>'],
    ["xl/drawings/a.xml", '<?xml version="1.0" encoding="UTF-8" ada@example.org?><a/>'],
    ["xl/drawings/a.xml", "<a>".repeat(300) + "</a>".repeat(300)],
    ["xl/drawings/a.xml", `<a>${"<!--".repeat(300_000)}`],
    ["xl/drawings/a.xml", `<a>${"<?".repeat(300_000)}`],
    ["xl/drawings/a.xml", `<a${" b='c'".repeat(300_000)}`],
    ["xl/drawings/a.xml", `<a>${"<![CDATA[".repeat(300_000)}`],
    ["XL/Workbook.xml", "<workbook/>"],
  ])("%s: %.60s", async (name, text) => {
    await expect(redactXlsx(zipped({ ...base, [name]: text }), optionsOf())).rejects.toThrow(new RegExp(`^${name}: `, "i"));
  });

  test("and so is what is no workbook", async () => {
    for (const bytes of [new Uint8Array(), new Uint8Array(100), zipped({ "a.xml": "<a/>" })])
      await expect(redactXlsx(bytes, optionsOf())).rejects.toMatchObject({ code: "file_invalid" });
  });

  test("a part that unpacks to more than it may is not unpacked", async () => {
    const bomb = zipped({ ...base, "xl/big.xml": `<a>${" ".repeat(65 << 20)}</a>` });
    expect(bomb.length).toBeLessThan(1 << 20);
    await expect(redactXlsx(bomb, optionsOf())).rejects.toThrow("xl/big.xml: is larger than it may be");
  });
});
