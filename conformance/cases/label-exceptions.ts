/**
 * Labels of validator.js that say something else than the register of the number does. Each entry names the rule; what it covers is told by that rule
 * alone, written here a second time so that no recogniser judges itself.
 */
export interface LabelException {
  readonly validator: string;
  readonly locale: string;
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

export const LABEL_EXCEPTIONS: readonly LabelException[] = [
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
    validator: "isIdentityCard",
    locale: "ES",
    label: "invalid",
    rule: "seven digits and their letter are a NIF whose leading zero was left out, as the recogniser cases count it",
    covers: (v) => /^\d{7}[A-Z]$/.test(v),
  },
  {
    validator: "isTaxID",
    locale: "es-ES",
    label: "valid",
    rule: "fewer than seven digits and a letter: leading zeros left out leave no shape to search for",
    covers: (v) => /^\d{1,6}[A-Z]$/.test(v),
  },
  {
    validator: "isTaxID",
    locale: "de-AT",
    label: "valid",
    rule: "no office writes two hyphens",
    covers: (v) => v.includes("--"),
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
    locale: "en-GB",
    label: "valid",
    rule: "a NINO without its suffix is none to the recogniser cases",
    covers: (v) => /^[A-Z]{2}\d{6} *$/.test(v),
  },
  {
    validator: "isTaxID",
    locale: "it-IT",
    label: "invalid",
    rule: "only the check letter fails: the recogniser cases keep such a code as a weak finding",
    covers: (v) => /^[A-Z]{6}[\dL-V]{2}[A-T][\dL-V]{2}[A-Z][\dL-V]{3}[A-Z]$/.test(v),
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
    locale: "CH",
    label: "invalid",
    rule: "only the check digit fails: a number behind its prefix stays a weak finding",
    covers: (v) => /^CHE-\d{3}\.\d{3}\.\d{3} /.test(v),
  },
  {
    validator: "isVAT",
    locale: "GB",
    label: "invalid",
    rule: "only the check digits fail: a number behind its prefix stays a weak finding",
    covers: (v) => /^GB\d{3} \d{4} \d{2}$/.test(v),
  },
];
