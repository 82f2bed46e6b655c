import { expect, test } from "vitest";
import { checksums } from "../src/checksums.ts";
import { parseRange } from "../src/range.ts";
import { escapeXml, parseXml } from "../src/xml.ts";

test("check values of the string 123456789 (CRC catalogue; CRC-64/NVME of the NVM Express specification)", async () => {
  const of = async (name: string) => {
    const c = await checksums[name]!.open();
    c.update(Buffer.from("1234"));
    c.update(Buffer.from("56789"));
    return Buffer.from(c.digest(), "base64").toString("hex");
  };
  const values = { crc32: "cbf43926", crc32c: "e3069283", crc64nvme: "ae8b14860a799888" };
  // Of the hashes by python-xxhash 4, which wraps the reference implementation.
  const hashes = { xxhash64: "8cb841db40e6ae83", xxhash3: "72dcb18b67a17dff", xxhash128: "33119477ede5dcd5e9716427681d5860" };
  for (const [name, value] of Object.entries({ ...values, ...hashes })) expect(await of(name), name).toBe(value);
  for (const [name, { bytes, open }] of Object.entries(checksums))
    expect(Buffer.from((await open()).digest(), "base64"), name).toHaveLength(bytes);
});
test("ranges by RFC 9110: several or malformed ones mean the whole", () => {
  expect(parseRange("bytes=0-4", 10)).toEqual({ start: 0, end: 5 });
  expect(parseRange("bytes=5-99", 10)).toEqual({ start: 5, end: 10 });
  expect(parseRange("bytes=-99", 10)).toEqual({ start: 0, end: 10 });
  for (const whole of [undefined, "bytes=-", "bytes=5-1", "bytes=0-1,3-4", "items=0-1", "bytes=a-b"])
    expect(parseRange(whole, 10)).toBeUndefined();
  for (const bad of ["bytes=10-", "bytes=-0"]) expect(() => parseRange(bad, 10)).toThrow();
  expect(() => parseRange("bytes=0-", 0)).toThrow();
  expect(parseRange("bytes=-5", 0)).toBeUndefined();
});
test("XML: what is escaped parses back; entities, DTDs and broken nesting are refused", () => {
  const text = `<a&b>"c'\u0001\t]]>`;
  expect(parseXml(`<r><k>${escapeXml(text)}</k></r>`).children[0]?.text).toBe(text);
  expect(parseXml('<?xml version="1.0"?>\n<r xmlns="x"><a/><b><![CDATA[<x>]]></b></r>').children.map((c) => c.text)).toEqual([
    "",
    "<x>",
  ]);
  for (const bad of [
    "",
    "<a>",
    "<a></b>",
    "<a/><b/>",
    "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
    "<a>&x;</a>",
    "<a>&#0;</a>",
    "x<a/>",
    "<a".repeat(9),
    "<a>".repeat(20),
  ])
    expect(() => parseXml(bad), bad).toThrow(/XML/);
});
