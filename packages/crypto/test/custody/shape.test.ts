import { expect, test } from "vitest";
import { name } from "../../src/custody/shape.ts";

test("a name is one text to everybody who reads it: nothing in it is unseen, turns the line or can be written in another way", () => {
  for (const fine of [
    "a",
    "Ada Lovelace",
    "Zo\u00eb",
    "\u738b\u5c0f\u660e",
    "\u0627\u062d\u0645\u062f",
    "x".repeat(128),
    "\u{1f511}".repeat(128),
  ]) {
    expect(name(fine), fine).toBe(true);
  }
  const unseen = [
    "\u0000",
    "\u0085",
    "\u00ad",
    "\u200b",
    "\u200d",
    "\u200e",
    "\u202e",
    "\u2066",
    "\u2028",
    "\u2029",
    "\ufeff",
    "\u{e0041}",
  ];
  for (const character of [...unseen, "\ud800"]) expect(name(`a${character}b`), JSON.stringify(character)).toBe(false);
  for (const other of ["Zoe\u0308", "\u212b", "\uac00\u11a8"]) expect(name(other), JSON.stringify(other)).toBe(false);
  for (const wrong of ["", "x".repeat(129), 7, null]) expect(name(wrong)).toBe(false);
});
