import { fromHex } from "@seneschal/crypto";
import { expect, test } from "vitest";
import { basePoint, Point, readPoint } from "../../src/threshold/scalar-field.ts";

const coded = (code: string) => expect.objectContaining({ code });
const IDENTITY = Point.ZERO.toBytes();
const TORSION = fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");

test("bytes are the same point, or the same refusal, however often, where and after whatever else they are read", () => {
  const points = Array.from({ length: 1200 }, (_, i) => basePoint(BigInt(i + 1)).toBytes());
  for (const bytes of [...points, ...points.slice(0, 20)]) {
    expect(readPoint(bytes).toBytes()).toEqual(bytes);
    expect(readPoint(bytes, "allowed").toBytes()).toEqual(bytes);
  }
  for (let again = 0; again < 2; again++) {
    expect(readPoint(IDENTITY, "allowed").is0()).toBe(true);
    expect(() => readPoint(IDENTITY)).toThrow(coded("protocol_invalid"));
    for (const bytes of [TORSION, new Uint8Array(31), new Uint8Array(32).fill(255)]) {
      for (const identity of ["allowed", "refused"] as const)
        expect(() => readPoint(bytes, identity)).toThrow(coded("protocol_invalid"));
    }
  }
});
