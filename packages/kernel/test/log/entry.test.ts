import fc from "fast-check";
import { expect, test } from "vitest";
import { isCoded } from "../../src/errors.ts";
import { decodeEntry, encodeEntry } from "../../src/log/entry.ts";

test.each([
  "null",
  "1",
  '"x"',
  "true",
  "[]",
  "{}",
  "",
  "{",
  '{"v":1}',
  '{"at":1,"batch_id":"b","commands":{},"prev_hash":"","seq":1,"v":1}',
])("%s is no entry, and is refused as a log that diverged", (text) => {
  try {
    decodeEntry(text);
    expect.unreachable();
  } catch (error) {
    expect(isCoded(error, "log_diverged"), String(error)).toBe(true);
  }
});

test("any JSON is an entry, which is written as it was read, or refused with that code", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      try {
        expect(encodeEntry(decodeEntry(text))).toBe(text);
      } catch (error) {
        expect(isCoded(error, "log_diverged"), String(error)).toBe(true);
      }
    }),
  );
});
