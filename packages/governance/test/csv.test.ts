import fc from "fast-check";
import { expect, test } from "vitest";
import { CsvSplitter } from "../src/index.ts";

const rowsOf = (pieces: readonly string[]) => {
  const splitter = new CsvSplitter(",");
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
};

test("where the text is cut makes no difference", () => {
  const text = fc.array(fc.constantFrom('"', ",", "\n", "\r", "a", "bc"), { maxLength: 30 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.array(fc.nat(30), { maxLength: 5 }), (whole, cuts) => {
      const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
      expect(rowsOf(at.slice(1).map((end, i) => whole.slice(at[i], end)))).toEqual(rowsOf([whole]));
    }),
  );
});

test("rows of quoted cells are read back", () => {
  const rows = fc.array(fc.array(fc.string({ maxLength: 6 }), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(rows, fc.constantFrom("\n", "\r\n", "\r"), (table, lineEnd) => {
      const text = table.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")).join(lineEnd);
      expect(rowsOf([text])).toEqual(table);
    }),
  );
});

test.each([
  ['a"b,c', [['a"b', "c"]]],
  [
    "a,\n,b\n",
    [
      ["a", ""],
      ["", "b"],
    ],
  ],
  ['"a"x,b', [["ax", "b"]]],
])("%j", (text, rows) => expect(rowsOf([text])).toEqual(rows));
