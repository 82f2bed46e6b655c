import fc from "fast-check";
import { stdnum } from "stdnum";
import { describe, expect, test } from "vitest";
import {
  isBirthNumber,
  isCif,
  isEgn,
  isHkid,
  isHungarianTaxId,
  isItalianNameAndDay,
  isMalteseTin,
  isMatricule,
  isOldChineseId,
  isSriLankanId,
} from "../src/classification/validators/national.ts";

const digits = (n: number) => fc.stringMatching(new RegExp(`^[0-9]{${n}}$`));
const two = (n: number) => String(n).padStart(2, "0");
const valid = (country: string, id: string, value: string) => stdnum[country]?.[id]?.validate(value).isValid === true;

describe("rules of national numbers", () => {
  test("a Hong Kong card has the check digit that the library computes", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(..."ABCDEFGHJKLMNPRSTVWYZ"),
        digits(6),
        fc.constantFrom(..."0123456789A"),
        (letter, body, check) => {
          const value = `${letter}${body}${check}`;
          expect([value, isHkid(value)]).toEqual([value, valid("HK", "hkid", value)]);
          expect(isHkid(`${letter.toLowerCase()}${body}(${check})`)).toBe(isHkid(value));
        },
      ),
    );
  });

  test("a birth number of the last century is what the library takes", () => {
    const born = fc.tuple(
      fc.integer({ min: 54, max: 99 }),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 28 }),
      fc.boolean(),
    );
    fc.assert(
      fc.property(born, digits(4), ([year, month, day, woman], rest) => {
        const value = `${two(year)}${two(month + (woman ? 50 : 0))}${two(day)}${rest}`;
        fc.pre(Number(value.slice(0, 9)) % 11 !== 10);
        expect([value, isBirthNumber(value)]).toEqual([value, valid("CZ", "rc", value)]);
      }),
    );
  });

  test.each([
    ["960121999", "nine digits end with 1953"],
    ["530121000", "no number 000"],
    ["0124175466", "months +20 begin in 2004"],
    ["7159079945", "11 does not divide it"],
  ])("%s is no birth number: %s", (value) => expect(isBirthNumber(value)).toBe(false));

  test("a CIF with a digit for its control is what the library takes, and only kinds that have letters may have one", () => {
    fc.assert(
      fc.property(fc.constantFrom(..."ABEH"), digits(8), (kind, body) => {
        expect([kind + body, isCif(kind + body)]).toEqual([kind + body, valid("ES", "cif", kind + body)]);
        expect(isCif(`${kind}${body.slice(0, 7)}C`)).toBe(false);
      }),
    );
  });

  test("an ЕГН has a day of its century", () => {
    expect(isEgn("7523169263")).toBe(valid("BG", "egn", "7523169263"));
    expect(isEgn("7521320010")).toBe(false);
  });

  test("what a changed digit breaks is not taken", () => {
    expect([isHungarianTaxId("8071592153"), isHungarianTaxId("8071592152")]).toEqual([true, false]);
    expect([isMatricule("1893120105732"), isMatricule("1893120105742"), isMatricule("2016023005732")]).toEqual([
      true,
      false,
      false,
    ]);
    expect([isOldChineseId("110101491001001"), isOldChineseId("110101491041001")]).toEqual([true, false]);
    expect([isSriLankanId("993151225X"), isSriLankanId("994151225X")]).toEqual([true, false]);
    expect([isMalteseTin("34581M"), isMalteseTin("3200100G"), isMalteseTin("812345608")]).toEqual([true, false, false]);
  });

  test.each([
    ["DMLPRY77D15H501F", true],
    ["AAPPRY77D15H501F", false],
    ["DMLPRY77B29H501F", false],
    ["DMLPRYTTD15H501F", true],
  ])("%s can be of a name and a day: %s", (code, can) => expect(isItalianNameAndDay(code)).toBe(can));
});
