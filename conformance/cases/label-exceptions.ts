/**
 * Labels of validator.js that say something else than the register of the number does. Each entry names the rule; what it covers is told by that rule
 * alone, written here a second time so that no recogniser judges itself.
 */
export interface LabelException {
  readonly validator: string;
  /** Of the group; absent: of the group without a locale. */
  readonly locale?: string;
  readonly label: "valid" | "invalid";
  readonly rule: string;
  readonly covers: (value: string) => boolean;
}

const digits = (value: string) => [...value.replace(/\D/g, "")].map(Number);
const dot = (value: string, weights: readonly number[]) =>
  weights.reduce((sum, weight, i) => sum + weight * (digits(value)[i] ?? 0), 0);
const luhnSum = (value: string) =>
  digits(value)
    .reverse()
    .reduce((sum, d, i) => sum + (i % 2 === 0 ? d : d > 4 ? 2 * d - 9 : 2 * d), 0);
const isDate = (year: number, month: number, day: number) => {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

const LABEL_EXCEPTIONS: readonly LabelException[] = [
  {
    validator: "isIdentityCard",
    locale: "PL",
    label: "valid",
    rule: "a PESEL holds a date: month (modulo 20) and day that no calendar has",
    covers: (v) => !isDate(2000 + Number(v.slice(0, 2)), Number(v.slice(2, 4)) % 20, Number(v.slice(4, 6))),
  },
  {
    validator: "isIdentityCard",
    locale: "LK",
    label: "valid",
    rule: "the day of the year ends with 366, with 866 for women",
    covers: (v) => Number(v.slice(2, 5)) % 500 > 366,
  },
  {
    validator: "isTaxID",
    locale: "dk-DK",
    label: "invalid",
    rule: "the modulus 11 of a CPR number is no longer kept since 1 October 2007",
    covers: (v) => dot(v, [4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 !== 0,
  },
  {
    validator: "isTaxID",
    locale: "en-CA",
    label: "valid",
    rule: "no SIN begins with 0",
    covers: (v) => v.startsWith("0"),
  },
  {
    validator: "isTaxID",
    locale: "en-GB",
    label: "valid",
    rule: "the first digit of a UTR checks the other nine",
    covers: (v) => /^\d{10}$/.test(v) && "21987654321"[dot(v.slice(1), [6, 7, 8, 9, 10, 5, 4, 3, 2]) % 11] !== v[0],
  },
  {
    validator: "isTaxID",
    locale: "sk-SK",
    label: "valid",
    rule: "11 divides every ten-digit birth number and DIČ",
    covers: (v) => /^\d{10}$/.test(v) && Number(v) % 11 !== 0,
  },
  {
    validator: "isTaxID",
    locale: "sv-SE",
    label: "valid",
    rule: "the check digit of a personnummer is that of its last ten digits, the century is not in it",
    covers: (v) => luhnSum(v.replace(/\D/g, "").slice(-10)) % 10 !== 0,
  },
  {
    validator: "isVAT",
    locale: "CY",
    label: "valid",
    rule: "a Cypriot VAT number is eight digits and a letter (VIES)",
    covers: (v) => !/[A-Z]$/.test(v),
  },
  {
    validator: "isVAT",
    locale: "BG",
    label: "valid",
    rule: "the ninth digit of an ЕИК checks the other eight (weights 1 to 8, then 3 to 10, modulo 11)",
    covers: (v) => {
      const first = dot(v, [1, 2, 3, 4, 5, 6, 7, 8]) % 11;
      return /^BG\d{9}$/.test(v) && (first < 10 ? first : (dot(v, [3, 4, 5, 6, 7, 8, 9, 10]) % 11) % 10) !== digits(v)[8];
    },
  },
  {
    validator: "isVAT",
    locale: "FR",
    label: "valid",
    rule: "a SIREN ends in its Luhn digit",
    covers: (v) => luhnSum(v.slice(-9)) % 10 !== 0,
  },
  {
    validator: "isVAT",
    locale: "GB",
    label: "valid",
    rule: "the last two of nine digits check the other seven modulo 97, since 2010 also less 55 (HMRC)",
    covers: (v) =>
      digits(v).length >= 9 && ![0, 42].includes((dot(v, [8, 7, 6, 5, 4, 3, 2]) + Number(digits(v).slice(7, 9).join(""))) % 97),
  },
  {
    validator: "isURL",
    label: "valid",
    rule: "compatibility forms (NFKC) of letters are those letters: the same list calls javascript:alert(1)@... invalid in ASCII",
    covers: (v) => v.normalize("NFKC") !== v && v.normalize("NFKC").startsWith("javascript:"),
  },
];

/** The exception that tells why a sample is not judged, if one does. */
export function exceptionFor(
  validator: string,
  locale: unknown,
  label: "valid" | "invalid",
  value: string,
): LabelException | undefined {
  return LABEL_EXCEPTIONS.find((e) => e.validator === validator && e.locale === locale && e.label === label && e.covers(value));
}
