import type { Recogniser } from "../search/recogniser.ts";
import { alphanumericsOf, digitsOf, isDay, isDayOfAnyCentury, luhn, repeats, weighted } from "../validators/checksums.ts";
import { isItalianNameAndDay } from "../validators/national.ts";

const SPANISH_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE";
const FINNISH_CHECKS = "0123456789ABCDEFHJKLMNPRSTUVWXY";

/** Spain, Finland, Italy, Poland, Sweden, Turkey. Sources: the registers' published check rules (BOE, DVV, DM 23/12/1976, PESEL, Skatteverket, NVİ). */
export const europe: readonly Recogniser[] = [
  {
    entity: "ES_NIF",
    country: "es",
    patterns: [
      { name: "digits and letter", regex: /(?<![\dA-Za-z])\d{7,8}-?[A-Z](?![\dA-Za-z])/gi, score: 0.5 },
      { name: "groups and letter", regex: /(?<![\dA-Za-z.])\d{1,2}\.\d{3}\.\d{3}[- ]?[A-Z](?![\dA-Za-z])/gi, score: 0.5 },
    ],
    validate: (match) => {
      const v = alphanumericsOf(match);
      return SPANISH_LETTERS[Number(v.slice(0, -1)) % 23] === v.at(-1);
    },
    context: ["documento nacional de identidad", "dni", "nif", "identificación", "identificacion"],
    prior: 0.7,
  },
  {
    entity: "ES_NIE",
    country: "es",
    patterns: [{ name: "X, Y or Z", regex: /(?<![\dA-Za-z])[X-Z]-?\d{7}-?[A-Z](?![\dA-Za-z])/gi, score: 0.5 }],
    validate: (match) => {
      const v = alphanumericsOf(match);
      return SPANISH_LETTERS[Number("XYZ".indexOf(v[0] ?? "") + v.slice(1, -1)) % 23] === v.at(-1);
    },
    context: ["número de identificación de extranjero", "nie", "extranjero", "foreigner"],
    prior: 0.8,
  },
  {
    entity: "ES_PASSPORT",
    country: "es",
    patterns: [{ name: "three letters, six digits", regex: /(?<![\dA-Za-z])[A-Z]{3}\d{6}(?![\dA-Za-z])/gi, score: 0.05 }],
    context: ["pasaporte", "passport", "documento de viaje"],
    prior: 0.5,
  },
  {
    entity: "FI_PERSONAL_IDENTITY_CODE",
    country: "fi",
    patterns: [{ name: "hetu", regex: /(?<![\d-])\d{6}[+\-ABCDEFYXWVU]\d{3}[0-9A-FHJ-NPR-Y](?![\dA-Za-z])/gi, score: 0.5 }],
    validate: (raw) => {
      const match = raw.toUpperCase();
      const century = "+".includes(match[6] ?? "") ? 1800 : "-YXWVU".includes(match[6] ?? "") ? 1900 : 2000;
      if (!isDay(century + Number(match.slice(4, 6)), Number(match.slice(2, 4)), Number(match.slice(0, 2)))) return false;
      return Number(match.slice(7, 10)) >= 2 && FINNISH_CHECKS[Number(match.slice(0, 6) + match.slice(7, 10)) % 31] === match[10];
    },
    context: ["hetu", "henkilötunnus", "personbeteckningen", "personal identity code", "personnummer", "social security"],
    prior: 0.9,
  },
  {
    entity: "IT_FISCAL_CODE",
    country: "it",
    patterns: [
      {
        name: "codice fiscale",
        regex: /(?<![\dA-Za-z])[A-Z]{6}[0-9LMNP-V]{2}[ABCDEHLMPRST][0-9LMNP-V]{2}[A-MZ][0-9LMNP-V]{3}[A-Z](?![\dA-Za-z])/gi,
        score: 0.3,
      },
    ],
    validate: (match) => {
      const code = match.toUpperCase();
      if (!isItalianNameAndDay(code)) return false;
      return hasItalianCheck(code) ? true : undefined;
    },
    context: ["codice fiscale", "cf", "fiscale"],
    needs: (text) => /[A-Za-z\d]{16}/.test(text),
    prior: 0.9,
  },
  {
    entity: "IT_DRIVER_LICENSE",
    country: "it",
    patterns: [
      {
        name: "patente",
        regex: /(?<![\dA-Za-z])(?:[A-Z]{2}\d{7}[A-Z]|U1[BCDFGHLJKMNPRSTUVWYXZ0-9]{7}[A-Z])(?![\dA-Za-z])/gi,
        score: 0.2,
      },
    ],
    context: ["patente", "patente di guida", "licenza", "guida"],
    prior: 0.5,
  },
  {
    entity: "IT_IDENTITY_CARD",
    country: "it",
    patterns: [
      { name: "paper", regex: /(?<![\dA-Za-z])[A-Z]{2} ?\d{7}(?![\dA-Za-z])/gi, score: 0.01 },
      { name: "CIE 2.0", regex: /(?<![\dA-Za-z])\d{7}[A-Z]{2}(?![\dA-Za-z])/gi, score: 0.01 },
      { name: "CIE 3.0", regex: /(?<![\dA-Za-z])[A-Z]{2}\d{5}[A-Z]{2}(?![\dA-Za-z])/gi, score: 0.01 },
    ],
    context: ["carta", "identità", "elettronica", "cie", "documento", "riconoscimento", "espatrio", "identita"],
    prior: 0.35,
  },
  {
    entity: "IT_PASSPORT",
    country: "it",
    patterns: [{ name: "two letters, seven digits", regex: /(?<![\dA-Za-z])[A-Z]{2}\d{7}(?![\dA-Za-z])/gi, score: 0.01 }],
    context: ["passaporto", "elettronico", "italiano", "viaggio", "viaggiare", "estero", "documento", "dogana"],
    prior: 0.4,
  },
  {
    entity: "IT_VAT_CODE",
    country: "it",
    patterns: [
      {
        name: "partita IVA",
        regex: /(?<![A-Za-z\d.-])(?:\d(?:_?\d){10}|\d{5} \d{6}|\d{4} \d{3} \d{4}|\d{2} \d{3} \d{3} \d{3})(?![A-Za-z\d-])/g,
        score: 0.1,
      },
    ],
    validate: (match) => {
      const d = digitsOf(match);
      return d !== "00000000000" && luhn(d) && !repeats(d);
    },
    context: ["piva", "partita iva", "pi", "p.iva", "iva"],
    prior: 0.35,
  },
  {
    entity: "PL_PESEL",
    country: "pl",
    patterns: [
      {
        name: "birth date and series",
        regex: /(?<![A-Za-z\d.-])\d{2}(?:[02468][1-9]|[13579][012])(?:0[1-9]|[12]\d|3[01])\d{5}(?![A-Za-z\d-])/g,
        score: 0.4,
      },
    ],
    validate: (match) => {
      const month = Number(match.slice(2, 4)) % 20;
      if (!/^\d{11}$/.test(match) || !isDayOfAnyCentury(match.slice(0, 2), String(month), match.slice(4, 6))) return false;
      return weighted(match, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0;
    },
    context: ["pesel"],
    prior: 0.6,
  },
  {
    entity: "SE_PERSONNUMMER",
    country: "se",
    patterns: [{ name: "birth date and number", regex: /(?<![\d-])(?:18|19|20)?\d{6}[-+]?\d{4}(?![\dA-Za-z-])/g, score: 0.4 }],
    validate: (match) => {
      const d = digitsOf(match).slice(-10);
      const day = Number(d.slice(4, 6)) % 60;
      if (!isDayOfAnyCentury(d.slice(0, 2), d.slice(2, 4), String(day))) return false;
      return luhn(d);
    },
    context: ["personnummer", "personal identity", "samordningsnummer", "swedish", "pnr", "svenska", "person id"],
    prior: 0.65,
  },
  {
    entity: "SE_ORGANISATIONSNUMMER",
    country: "se",
    patterns: [
      { name: "group, series, check", regex: /(?<![A-Za-z\d-])(?:16)?[1-9]\d[2-9]\d{3}-?\d{4}(?![A-Za-z\d-])/g, score: 0.4 },
    ],
    validate: (match) => luhn(digitsOf(match).slice(-10)),
    context: ["organisationsnummer", "orgnr", "company", "företag", "bolag", "org.nr", "corporate"],
    prior: 0.5,
  },
  {
    entity: "TR_NATIONAL_ID",
    country: "tr",
    patterns: [{ name: "eleven digits", regex: /(?<![A-Za-z\d.-])[1-9]\d{10}(?![A-Za-z\d-])/g, score: 0.3 }],
    validate: (match) => {
      if (!/^[1-9]\d{10}$/.test(match)) return false;
      const d = [...match].map(Number);
      const at = (i: number) => d[i] ?? 0;
      const odd = at(0) + at(2) + at(4) + at(6) + at(8);
      const even = at(1) + at(3) + at(5) + at(7);
      if ((((odd * 7 - even) % 10) + 10) % 10 !== at(9)) return false;
      return d.slice(0, 10).reduce((a, b) => a + b, 0) % 10 === at(10);
    },
    context: ["tckn", "tc kimlik", "t.c. kimlik", "kimlik", "turkish id", "vatandaşlık"],
    prior: 0.8,
  },
  {
    entity: "TR_LICENSE_PLATE",
    country: "tr",
    patterns: [
      {
        name: "province, letters, digits",
        regex:
          /(?<![A-Za-z\d-])(?:0[1-9]|[1-7]\d|8[01])(?: [A-PR-VYZ] \d{2,5}| ?[A-PR-VYZ]{2} ?\d{2,4}| ?(?!JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|BIS)[A-PR-VYZ]{3} ?\d{2,4}|[A-PR-VYZ]\d{4,5})(?![A-Za-z\d/-])/gi,
        score: 0.25,
      },
    ],
    validate: isTurkishPlate,
    context: ["plaka", "araç", "license plate", "plate", "ruhsat", "araba"],
    prior: 0.5,
  },
];

/** Province and the letter-digit combinations of the traffic regulation; capitals decide for it. */
function isTurkishPlate(match: string): boolean | undefined {
  const parts = /^(0[1-9]|[1-7]\d|8[01]) ?([A-PR-VYZ]{1,3}) ?(\d{2,5})$/i.exec(match);
  return parts === null || /[a-z]/.test(match) ? undefined : true;
}

const ITALIAN_ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

function hasItalianCheck(code: string): boolean {
  let sum = 0;
  for (let i = 0; i < 15; i++) {
    const c = code.charCodeAt(i);
    const n = c < 65 ? c - 48 : c - 65;
    sum += i % 2 === 0 ? (ITALIAN_ODD[n] ?? 0) : n;
  }
  return sum % 26 === code.charCodeAt(15) - 65;
}
