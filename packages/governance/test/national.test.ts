import fc from "fast-check";
import { stdnum } from "stdnum";
import { describe, expect, test } from "vitest";
import {
  isBirthNumber,
  isCif,
  isEgn,
  isHkid,
  isHungarianTaxId,
  isIin,
  isItalianNameAndDay,
  isMalteseTin,
  isMatricule,
  isNik,
  isOldChineseId,
  isPersonasKods,
  isPis,
  isSnils,
  isSriLankanId,
  isTaj,
  isUnzr,
} from "../src/classification/validators/national.ts";
import { DEFAULT_RECOGNISERS, recognise } from "../src/index.ts";

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

describe("numbers of Ukraine, Indonesia, Greece, Latvia, Hungary, Russia, Kazakhstan, Brazil, Iceland, Portugal", () => {
  /** Published samples: the registers, python-stdnum, law. */
  test.each<[(value: string) => boolean, string]>([
    [isSnils, "112-233-445 95"],
    [isPersonasKods, "161175-19997"],
    [isPersonasKods, "328673-00679"],
    [isNik, "3201011203850001"],
    [isNik, "3171234567890123".replace("4567", "5203")],
    [isUnzr, "19910824-00026"],
  ])("%o takes %s", (rule, value) => expect(rule(value)).toBe(true));

  const birth = fc.tuple(fc.integer({ min: 1, max: 28 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 50, max: 99 }));
  test("of ten numbers that differ in the check digit alone one is right, or none", () =>
    fc.assert(
      fc.property(birth, digits(9), ([day, month, year], rest) => {
        const right = (rule: (value: string) => boolean, body: string) =>
          [..."0123456789"].filter((check) => rule(body + check)).length;
        expect(right(isTaj, rest.slice(0, 8))).toBe(1);
        expect(right(isPersonasKods, `${two(day)}${two(month)}${two(year)}1${rest.slice(0, 3)}`)).toBe(1);
        expect(right(isIin, `${two(year)}${two(month)}${two(day)}3${rest.slice(0, 4)}`)).toBeLessThanOrEqual(1);
        if (rest !== "000000000") expect(right(isPis, `1${rest}`)).toBe(1);
        expect(right((value) => isSnils(value.slice(0, 10) + value.slice(10)), `9${rest}`)).toBeLessThanOrEqual(1);
      }),
    ));

  test("no number of another birth, another province or another length is one", () => {
    expect(isNik("3201013203850001") || isNik("3201017203850001") || isNik("0001011203850001") || isNik("3201011203850000")).toBe(
      false,
    );
    expect(isNik("3201015203850001")).toBe(true);
    expect(isUnzr("19911324-00026") || isIin("990231300001") || isPersonasKods("311175-19997") || isTaj("12345678")).toBe(false);
  });

  /** A number that the library holds for valid, by its check digit or two. */
  const made = (country: string, id: string, body: string, ends: number): string => {
    for (let check = 0; check < 10 ** ends; check++) {
      const value = `${body}${String(check).padStart(ends, "0")}`;
      if (valid(country, id, value)) return value;
    }
    return "";
  };
  test("beside its name each is found as what it is; with another check digit it is not", () => {
    const samples: readonly (readonly [
      text: string,
      value: string,
      entity: string,
      country: string | undefined,
      checked: boolean,
    ])[] = [
      ["РНОКПП", made("UA", "rntrc", "303891234", 1) || made("UA", "rntrc", "303891235", 1), "TAX_ID", "ua", true],
      [
        "ідентифікаційний номер",
        made("UA", "rntrc", "284561277", 1) || made("UA", "rntrc", "284561278", 1),
        "TAX_ID",
        "ua",
        true,
      ],
      ["УНЗР", "19910824-00026", "NATIONAL_ID", "ua", false],
      ["паспорт громадянина України", "001234567", "PASSPORT_NUMBER", undefined, false],
      ["NIK", "3201011203850001", "NATIONAL_ID", "id", false],
      ["nomor induk kependudukan", "3273025507920003", "NATIONAL_ID", "id", false],
      ["ΑΦΜ", made("GR", "vat", "09425921", 1), "TAX_ID", "gr", true],
      ["ΑΜΚΑ", made("GR", "amka", "0108691394", 1), "NATIONAL_ID", "gr", true],
      ["ΑΔΤ", "AK 287654", "NATIONAL_ID", "gr", false],
      ["personas kods", "161175-19997", "NATIONAL_ID", "lv", true],
      ["TAJ", [..."0123456789"].map((check) => `11345678${check}`).find(isTaj) ?? "", "NATIONAL_ID", "hu", true],
      ["СНИЛС", "112-233-445 95", "NATIONAL_ID", "ru", true],
      ["паспорт РФ", "4509 123456", "PASSPORT_NUMBER", "ru", false],
      ["ИИН", [..."0123456789"].map((check) => `90051530012${check}`).find(isIin) ?? "", "NATIONAL_ID", "kz", true],
      ["PIS", "120.56412.54-5", "NATIONAL_ID", "br", true],
      [
        "kennitala",
        made("IS", "kennitala", "12017433", 2) || made("IS", "kennitala", "120174339", 1),
        "NATIONAL_ID",
        "is",
        false,
      ],
    ];
    for (const [name, value, entity, country, checked] of samples) {
      expect([name, value]).not.toEqual([name, ""]);
      const told = (number: string) =>
        recognise(`${name}: ${number}`, DEFAULT_RECOGNISERS).flatMap((found) => [
          [found.entity, found.country],
          ...(found.alternatives ?? []).map((other) => [other.entity, other.country]),
        ]);
      expect([name, value, told(value)]).toEqual([name, value, expect.arrayContaining([[entity, country]])]);
      const other = value.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10));
      if (checked) expect([name, other, told(other)]).not.toEqual([name, other, expect.arrayContaining([[entity, country]])]);
    }
  });
});
