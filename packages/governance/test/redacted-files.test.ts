import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, type RedactionFormat, redactAs } from "../src/index.ts";

const options = { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [] };
const redacted = (format: RedactionFormat, text: string): string => {
  const { text: once } = redactAs(format, text, options);
  expect(redactAs(format, once, options).text).toBe(once);
  return once;
};
/** Names with a value that only its name gives away. */
const SAID = { ssn: "536226728", password: "hunter2xyz", salary: "84500", diagnosis: "flu", last_name: "Zbrozkova" };

describe("the header of a CSV is found", () => {
  const before = [
    "",
    "\ufeff",
    "\n",
    "\r\n\r\n",
    "Employees 2024\n\n",
    "Employees, 2024\n\n",
    "Employees 2024¦¦¦\n",
    "List\nof 2024\n\n\n",
    "Created by¦Ada\nAt¦noon\n\n",
  ];
  const tables = fc.record({
    before: fc.constantFrom(...before, "sep=¦\n", "sep=¦\r\n", "\ufeffsep=¦\n"),
    name: fc.constantFrom(...(Object.keys(SAID) as (keyof typeof SAID)[])),
    place: fc.integer({ min: 0, max: 3 }),
    delimiter: fc.constantFrom(",", ";", "\t", "|"),
    end: fc.constantFrom("\n", "\r\n", "\r"),
    ragged: fc.constantFrom("", "¦", "¦x"),
    quote: fc.constantFrom("", '"'),
    rows: fc.integer({ min: 1, max: 4 }),
  });

  test("behind a byte order mark, `sep=`, empty lines and titles, whatever the delimiter, the line ends and the ragged rows", () => {
    fc.assert(
      fc.property(tables, ({ before, name, place, delimiter, end, ragged, quote, rows }) => {
        const row = (cell: string, i: number) =>
          ["nr", "kind", "unit"]
            .map((c) => `${quote}${c}${i}${quote}`)
            .toSpliced(place, 0, `${quote}${cell}${quote}`)
            .join("¦");
        const lines = [row(name, 0), ...Array.from({ length: rows }, (_, i) => row(SAID[name], i) + ragged), ""];
        const text = (before + lines.join(end)).replaceAll("¦", delimiter);
        expect(redacted("csv", text), text).not.toContain(SAID[name]);
      }),
    );
  });

  test.each([
    ["Employees 2024\n\nssn\n536226728\n", "Employees 2024\n\nssn\n<US_SSN>\n"],
    ["ssn\n\n536226728\n", "ssn\n\n<US_SSN>\n"],
    ["\nssn\n536226728", "\nssn\n<US_SSN>"],
    ["ssn\n536226728\n1, 2\n", "ssn\n<US_SSN>\n1, 2\n"],
  ])("of one column: %j", (given, wanted) =>
    expect(redacted("csv", given).replaceAll(/<[A-Z_]+>, 2/g, "1, 2")).toContain(wanted.slice(0, -5)),
  );

  test("and what stands behind a closing quotation mark is read too, and one that is not closed refused", () => {
    expect(redacted("csv", 'note,n\n"to "ada@example.org,1\n"4111 1111 "1111 1111,2\n')).toBe(
      'note,n\n"to "<EMAIL_ADDRESS>,1\n"<CREDIT_CARD>"<CREDIT_CARD>,2\n',
    );
    for (const text of ['id,ssn\n"1,2\n3,536226728\n', '"', 'a,"b""'])
      expect(() => redacted("csv", text)).toThrow("text: a quotation mark is not closed");
  });

  test("and no row behind it names anything", () => {
    const text = "type,amount,note\nrent,1,x\nssn,2,y\nemail,3,password\nrent,4,z\n";
    expect(redacted("csv", text)).toBe(text);
  });
});

describe("a member's name says what is below it", () => {
  const below: fc.Arbitrary<(value: unknown) => unknown> = fc
    .array(
      fc.constantFrom<(value: unknown) => unknown>(
        (value) => [value],
        (value) => ({ value }),
        (value) => ({ v: value }),
        (value) => ({ kind: true, raw: value }),
        (value) => ["", value, null],
      ),
      { maxLength: 6 },
    )
    .map((steps) => (value) => steps.reduce((inner, step) => step(inner), value));

  test("through objects and lists, in JSON and in events of it", () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.entries(SAID)), below, below, (entry, around, inside) => {
        const [name, value] = entry;
        const json = JSON.stringify({ record: around({ [name]: inside(value) }) });
        expect(redacted("json", json), json).not.toContain(value);
        expect(redacted("sse", `data: ${json}\n\n`), json).not.toContain(value);
      }),
    );
  });

  test("and so does a pair, in either order", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.entries(SAID)),
        fc.constantFrom(["name", "value"], ["Key", "Value"], ["field", "values"], ["code", "valueString"]),
        fc.boolean(),
        below,
        ([name, value], [naming = "", holding = ""], first, inside) => {
          const pair = first ? { [naming]: name, [holding]: inside(value) } : { [holding]: inside(value), [naming]: name };
          expect(redacted("json", JSON.stringify([{ kind: 1 }, pair]))).not.toContain(value);
          expect(redacted("json", JSON.stringify([{ [naming]: name }, { [holding]: "plain" }]))).toContain("plain");
        },
      ),
    );
  });

  test("but not what plainly is something else", () => {
    for (const json of [
      '{"ssn":{"type":"string","length":9}}',
      '{"email":{"verified":true,"at":"noon"}}',
      '{"user":{"status":"active"},"engine":{"status":"ok"}}',
      '{"properties":{"phone":{"type":"string"}}}',
      '[{"name":"size","value":"large"}]',
    ])
      expect(redacted("json", json)).toBe(json);
  });
});

test("a number of JSON is found however its digits are written", () => {
  for (const number of [
    "4111111111111111",
    "4111111111111111.0",
    "4.111111111111111E15",
    "4.111111111111111e+15",
    "41111111111111110e-1",
  ])
    expect(redacted("json", `{"n":${number}}`), number).toBe('{"n":"<CREDIT_CARD>"}');
  for (const number of ["1e400", "1e-400", "0", "-0.5", "12.50", "4.5e3"])
    expect(redacted("json", `{"n":${number}}`)).toBe(`{"n":${number}}`);
});

test("bytes that were read in another encoding than theirs are refused", () => {
  for (const format of ["text", "json", "csv", "sse"] as const)
    for (const text of ["a\0d\0a\0@\0", "\ufffd\ufffda\0"])
      expect(() => redactAs(format, text, options)).toThrow(expect.objectContaining({ code: "validation_failed" }));
});
