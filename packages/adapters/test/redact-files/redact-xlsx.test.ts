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

/** What is shown, without what a token is not taken for: formulas of cells, and names of sheets that are too long with one. */
const restorable = (file: Uint8Array) =>
  shown(file)
    .replaceAll(/ t="(?:str|n)"/g, "")
    .replaceAll(/<f>.*?<\/f>/g, "")
    .replaceAll(/<sheet [^>]*\/>/g, "");

test("no value is left in any part of a workbook, however it is written there, and twice is once", async () => {
  const operators = fc.constantFrom("replace", "mask", "drop", "hash", "tokenise", "encrypt" as const);
  await fc.assert(
    fc.asyncProperty(workbook, operators, async ({ value, number, spell }, operator) => {
      const options = optionsOf({ tier: "CONFIDENTIAL", operator } as RedactionRule);
      const { bytes } = await redactXlsx(workbookOf(value, number, spell), options);
      const left = shown(bytes);
      for (const hidden of [value, number, "536228726"]) expect(left).not.toContain(hidden);
      expect(left).toContain("they say");
      expect(unzipped(bytes)["xl/worksheets/sheet1.xml"]).not.toContain("<f>");
      expect(unzipped((await redactXlsx(bytes, options)).bytes)).toEqual(unzipped(bytes));
    }),
    { numRuns: 20 },
  );
});

test("tokens and sealed values come back, as texts, by the key that took them", async () => {
  await fc.assert(
    fc.asyncProperty(workbook, fc.constantFrom("tokenise", "encrypt" as const), async ({ value, number, spell }, operator) => {
      const given = workbookOf(value, number, spell);
      const { bytes } = await redactXlsx(given, optionsOf({ operator } as RedactionRule));
      const restored = await restoreXlsx(bytes, DEFAULT_TIER_POLICY, keys);
      expect(restored.count).toBeGreaterThan(10);
      const texts = restorable;
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
  const texts = restorable;
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

const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const text = (r: string, value: string) => `<c${r === "" ? "" : ` r="${r}"`} t="inlineStr"><is><t>${value}</t></is></c>`;
const staff = `<row r="1">${text("A1", "SSN")}${text("B1", "Last name")}${text("C1", "Salary")}</row><row r="2"><c r="A2"><v>536226728</v></c>${text("B2", "Zbrozkova")}<c r="C2"><v>84500</v></c></row>`;
const sheetOf = (rows: string, more = "") => `<worksheet ${MAIN}><sheetData>${rows}</sheetData>${more}</worksheet>`;
const redacted = async (parts: Readonly<Record<string, string>>, ...rules: readonly RedactionRule[]) => {
  const base = {
    "[Content_Types].xml": "<Types/>",
    "xl/workbook.xml": `<workbook ${MAIN}><sheets><sheet name="all"/></sheets></workbook>`,
  };
  return unzipped((await redactXlsx(zipped({ ...base, ...parts }), optionsOf(...rules))).bytes);
};

describe("a value that is hidden in a cell is left nowhere else", () => {
  const sheet = "xl/worksheets/sheet1.xml";
  const more = (xml: string) => ({ [sheet]: sheetOf(staff, xml) });
  const part = (name: string, xml: string) => ({ [sheet]: sheetOf(staff), [name]: xml });
  test.each([
    [
      "a filter",
      more(
        '<autoFilter ref="A1:C2"><filterColumn colId="1"><filters><filter val="Zbrozkova"/></filters></filterColumn></autoFilter>',
      ),
    ],
    [
      "a filter of numbers",
      more(
        '<autoFilter ref="A1:C2"><filterColumn colId="2"><customFilters><customFilter val="84500"/></customFilters></filterColumn></autoFilter>',
      ),
    ],
    ["a scenario", more('<scenarios><scenario name="s"><inputCells r="C2" val="84500"/></scenario></scenarios>')],
    [
      "a conditional format",
      more(
        '<conditionalFormatting sqref="A1"><cfRule type="cellIs"><formula>A2=536226728</formula></cfRule></conditionalFormatting>',
      ),
    ],
    [
      "its text",
      more(
        '<conditionalFormatting sqref="A1"><cfRule type="containsText" text="Zbrozkova"><formula>NOT(ISERROR(SEARCH("Zbrozkova",A1)))</formula></cfRule></conditionalFormatting>',
      ),
    ],
    [
      "its border",
      more(
        '<conditionalFormatting sqref="A1"><cfRule type="colorScale"><colorScale><cfvo type="num" val="84500"/></colorScale></cfRule></conditionalFormatting>',
      ),
    ],
    [
      "a validation",
      more('<dataValidations><dataValidation sqref="A1"><formula1>"x,Zbrozkova"</formula1></dataValidation></dataValidations>'),
    ],
    [
      "a number with an exponent",
      more('<conditionalFormatting sqref="A1"><cfRule type="cellIs"><formula>8.45E4</formula></cfRule></conditionalFormatting>'),
    ],
    [
      "the cache of a chart",
      part(
        "xl/charts/chart1.xml",
        '<c:chartSpace xmlns:c="urn:c"><c:cat><c:strRef><c:f>all!B2</c:f><c:strCache><c:pt idx="0"><c:v>Zbrozkova</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:f>all!C2</c:f><c:numCache><c:pt idx="0"><c:v>84500</c:v></c:pt></c:numCache></c:numRef></c:val></c:chartSpace>',
      ),
    ],
    [
      "the cache of another workbook",
      part(
        "xl/externalLinks/externalLink1.xml",
        `<externalLink ${MAIN}><externalBook><sheetDataSet><sheetData sheetId="0"><row r="1"><cell r="A1"><v>84500</v></cell><cell r="B1" t="str"><v>Zbrozkova</v></cell></row></sheetData></sheetDataSet></externalBook></externalLink>`,
      ),
    ],
    [
      "a defined name",
      part(
        "xl/workbook.xml",
        `<workbook ${MAIN}><sheets><sheet name="all"/></sheets><definedNames><definedName name="who">536226728</definedName><definedName name="Zbrozkova">1</definedName></definedNames></workbook>`,
      ),
    ],
    [
      "a comment",
      part(
        "xl/comments1.xml",
        `<comments ${MAIN}><authors><author>x</author></authors><commentList><comment ref="A1"><text><r><t>84,500 for Zbro</t></r><r><t>zkova, 536226728.0</t></r></text></comment></commentList></comments>`,
      ),
    ],
    [
      "a cell elsewhere",
      part("xl/worksheets/sheet2.xml", sheetOf(`<row r="1">${text("A1", "of Zbrozkova")}<c r="B1"><v>8.45E4</v></c></row>`)),
    ],
    ["custom XML", part("customXml/item1.xml", '<x a="Zbrozkova"><b>84500</b><c>536226728</c></x>')],
    [
      "a property",
      part(
        "docProps/custom.xml",
        '<Properties xmlns:vt="urn:vt"><property name="a"><vt:i4>84500</vt:i4></property><property name="b"><vt:lpwstr>Zbrozkova</vt:lpwstr></property></Properties>',
      ),
    ],
  ])("%s", async (_, parts) => {
    for (const operator of ["replace", "mask", "drop", "tokenise"] as const) {
      const left = Object.values(await redacted(parts, { operator }))
        .map(seen)
        .join("\n");
      for (const value of ["536226728", "84500", "84,500", "8.45E4", "Zbrozkova", "Zbro"]) expect(left).not.toContain(value);
    }
  });

  test("nor in the formula that it is made by, and what is shared goes with it", async () => {
    const rows = `<row r="1">${text("A1", "SSN")}${text("B1", "note")}</row>
      <row r="2"><c r="A2"><f>536226728+0</f><v>536226728</v></c><c r="B2" t="str"><f>"ada.lovelace"&amp;"@"&amp;"example.org"</f><v>ada.lovelace@example.org</v></c></row>
      <row r="3"><c r="B3"><f>CONCATENATE("4111","11111111","1111")</f></c><c r="C3"><f t="shared" si="4" ref="C3:C4">"o@exam"&amp;"ple.org"</f></c></row>
      <row r="4"><c r="C4"><f t="shared" si="4"/><v>1</v></c><c r="D4"><f>1+C4</f><v>2</v></c></row>`;
    const parts = await redacted({
      [sheet]: sheetOf(rows),
      "xl/calcChain.xml": `<calcChain ${MAIN}><c r="A2"/></calcChain>`,
      "[Content_Types].xml":
        '<Types><Override PartName="/xl/calcChain.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.calcChain+xml"/></Types>',
    });
    expect(parts[sheet]?.match(/<f.*?<\/f>|<f[^>]*\/>/g)).toEqual(["<f>1+C4</f>"]);
    expect(Object.keys(parts).join(" ")).not.toContain("calcChain");
    expect(parts["[Content_Types].xml"]).toBe("<Types></Types>");
  });
});

describe("the heads of a column are found wherever they stand", () => {
  const values = "<c><v>1</v></c><c><v>536226728</v></c>";
  test.each([
    [
      "below a title",
      `<row r="1">${text("A1", "Employees 2024")}</row><row r="3">${text("A3", "Nr")}${text("B3", "SSN")}</row><row r="4"><c r="A4"><v>1</v></c><c r="B4"><v>536226728</v></c></row>`,
    ],
    [
      "right below one",
      `<row r="1">${text("A1", "Employees 2024")}</row><row r="2">${text("A2", "Nr")}${text("B2", "SSN")}</row><row r="3"><c r="A3"><v>1</v></c><c r="B3"><v>536226728</v></c></row>`,
    ],
    ["where no cell says where it is", `<row>${text("", "Nr")}${text("", "SSN")}</row><row>${values}</row>`],
    [
      "in cells that are merged",
      `<row r="1">${text("A1", "SSN")}</row><row r="2"><c r="A2"><v>457555462</v></c><c r="B2"><v>536226728</v></c></row>`,
    ],
    [
      "in two rows",
      `<row r="1">${text("A1", "Person")}${text("B1", "Person")}</row><row r="2">${text("A2", "Nr")}${text("B2", "SSN")}</row><row r="3"><c r="A3"><v>1</v></c><c r="B3"><v>536226728</v></c></row>`,
    ],
    [
      "of a second table",
      `<row r="1">${text("A1", "City")}${text("B1", "Size")}</row><row r="2">${text("A2", "Rome")}<c r="B2"><v>3</v></c></row><row r="9">${text("A9", "Nr")}${text("B9", "SSN")}</row><row r="10"><c r="A10"><v>1</v></c><c r="B10"><v>536226728</v></c></row>`,
    ],
    [
      "above an empty cell",
      `<row r="1">${text("A1", "Nr")}${text("B1", "SSN")}</row><row r="4"><c r="A4"><v>1</v></c><c r="B4"><v>536226728</v></c></row>`,
    ],
  ])("%s", async (_, rows) => {
    const parts = await redacted({
      "xl/worksheets/sheet1.xml": sheetOf(rows, '<mergeCells><mergeCell ref="A1:B1"/></mergeCells>'),
    });
    expect(parts["xl/worksheets/sheet1.xml"]).not.toContain("536226728");
  });
});

describe("a value is found however it stands in its part", () => {
  const card = "4111111111111111";
  test.each([
    ["xl/worksheets/sheet1.xml", sheetOf('<row r="1"><c r="A1"><v>4.111111111111111E15</v></c></row>')],
    ["xl/worksheets/sheet1.xml", sheetOf(`<row r="1"><c r="A1"><v>${card}.0</v></c></row>`)],
    [
      "xl/worksheets/sheet1.xml",
      sheetOf("", '<headerFooter><oddHeader>&amp;C4111 1111&amp;"Arial,Bold" 1111 1111</oddHeader></headerFooter>'),
    ],
    [
      "xl/worksheets/sheet1.xml",
      sheetOf(
        `<row r="1"><c r="A1" t="s"><v>0</v><extLst><ext>ada.lovelace@example.org</ext></extLst><is><t>${card}</t></is></c></row>`,
      ),
    ],
    [
      "xl/worksheets/sheet1.xml",
      sheetOf("", `<hyperlinks><hyperlink ref="A1" tooltip="${[...card].join("\u200b")}"/></hyperlinks>`),
    ],
    ["xl/drawings/vmlDrawing1.vml", "<xml><div><font>ada.lovelace@</font><font>example.org</font></div></xml>"],
    [
      "xl/sharedStrings.xml",
      `<sst ${MAIN}><si><r><t>ada.lovelace@exam</t></r><rPh sb="0" eb="1"><t> zzz </t></rPh><r><t>ple.org</t></r></si></sst>`,
    ],
    ["customXml/item1.xml", '<x Id="ada.lovelace@example.org"/>'],
    [
      "customXml/item1.xml",
      '<x><y Type="ada.lovelace@example.org" uri="ada.lovelace@example.org" typeface="ada.lovelace@example.org"/></x>',
    ],
    ["customXml/item1.xml", "<ssn>457555462</ssn>"],
    ["customXml/item1.xml", '<x password="hunter2xyz"/>'],
    ["customXml/item1.xml", "<ssn><value>457555462</value></ssn>"],
    ["customXml/item1.xml", "<x>ada.lovelace@<b>example.org</b></x>"],
    [
      "docProps/custom.xml",
      '<Properties xmlns:vt="urn:vt"><property name="SSN"><vt:i4>457555462</vt:i4></property></Properties>',
    ],
  ])("%s: %s", async (name, xml) => {
    const strings = { "xl/sharedStrings.xml": `<sst ${MAIN}><si><t>x</t></si></sst>` };
    const left = Object.values(await redacted({ ...strings, [name]: xml }))
      .map(seen)
      .join("\n");
    const plain = left.replaceAll(/[ \u200b]/g, "");
    for (const value of ["ada.lovelace", "example.org", "ple.org", card, "4.1111", "41111111", "457555462", "hunter2xyz"])
      expect(plain).not.toContain(value);
  });
});

test("what must keep a form keeps one", async () => {
  const parts = await redacted(
    {
      "docProps/core.xml":
        '<cp:coreProperties xmlns:cp="urn:cp" xmlns:dcterms="urn:d"><dcterms:created>2024-01-02T03:04:05Z</dcterms:created></cp:coreProperties>',
      "xl/workbook.xml": `<workbook ${MAIN}><sheets><sheet name="ada@example.org"/><sheet name="bob@example.org"/><sheet name="Sheet 1"/></sheets><definedNames><definedName name="area">'bob@example.org'!$A$1:$B$2</definedName></definedNames></workbook>`,
      "xl/worksheets/sheet1.xml": sheetOf(`<row r="1"><c r="A1"><f>1+'ada@example.org'!B1</f><v>1</v></c></row>`),
      "xl/theme/theme1.xml": '<a:theme xmlns:a="urn:a"><a:font script="Hans" typeface="x"/></a:theme>',
    },
    { operator: "tokenise" },
  );
  expect(parts["docProps/core.xml"]).toMatch(/>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ</);
  const names = [...(parts["xl/workbook.xml"] ?? "").matchAll(/<sheet name="([^"]*)"/g)].map(([, name]) => name);
  expect(names).toEqual(["Sheet 2", "Sheet 3", "Sheet 1"]);
  expect(parts["xl/workbook.xml"]).toContain(">'Sheet 3'!$A$1:$B$2<");
  expect(parts["xl/worksheets/sheet1.xml"]).toContain("<f>1+'Sheet 2'!B1</f>");
  expect(parts["xl/theme/theme1.xml"]).toContain('script="Hans"');
});

describe("what cannot be read is refused by its name", () => {
  const base = unzipped(workbookOf("ada@example.org", "1", (text) => text));
  test.each([
    ["xl/vbaProject.bin", "macro"],
    ["xl/media/image1.png", "picture"],
    ["xl/embeddings/oleObject1.bin", "object"],
    ["xl/pivotCache/pivotCacheRecords1.xml", "<r/>"],
    ["xl/revisions/revisionLog1.xml", "<r/>"],
    ["xl/richData/rdrichvalue.xml", "<r/>"],
    ["xl/ada@example.org.xml", "<r/>"],
    ["xl/drawings/a.xml", '<a xmlns:b="urn:ada@example.org"/>'],
    ["xl/_rels/workbook.xml.rels", '<Relationships><Relationship Id="ada@example.org"/></Relationships>'],
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

describe("a cell is never longer than Excel takes", () => {
  const many = "ada@example.org ".repeat(2000).trim();
  const isAs = (shared: boolean) => ({
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    "xl/workbook.xml": "<workbook><sheets/></workbook>",
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData><row r="1">${
      shared
        ? '<c r="A1" t="s"><v>0</v></c>'
        : `<c r="A1" t="inlineStr"><is><r><t>${many.slice(0, 9)}</t></r><r><t>${many.slice(9)}</t></r></is></c>`
    }</row></sheetData></worksheet>`,
    ...(shared ? { "xl/sharedStrings.xml": `<sst><si><t>${many}</t></si></sst>` } : {}),
  });
  test.each([true, false])("shared: %s", async (shared) => {
    const bytes = zipped(isAs(shared));
    const textOf = (file: Uint8Array) => seen(unzipped(file)[shared ? "xl/sharedStrings.xml" : "xl/worksheets/sheet1.xml"] ?? "");
    expect(textOf((await redactXlsx(bytes, optionsOf({ operator: "hash" }))).bytes).match(/EMAIL_ADDRESS/g)).toEqual([
      "EMAIL_ADDRESS",
    ]);
    expect(textOf((await redactXlsx(bytes, optionsOf({ operator: "mask" }))).bytes)).toContain(many.replaceAll(/[a-z]/g, "*"));
    await expect(redactXlsx(bytes, optionsOf({ operator: "tokenise" }))).rejects.toMatchObject({
      code: "validation_failed",
      message: expect.stringContaining("a cell would be longer than Excel takes (32767 characters)"),
    });
  });
});
