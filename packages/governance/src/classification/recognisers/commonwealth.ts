import type { Recogniser } from "../search/recogniser.ts";
import { digitsOf, isDayOfAnyCentury, luhn, repeats, verhoeff, weighted } from "../validators/checksums.ts";

/** Australia, Canada, Nigeria, South Africa. Sources: ATO, ASIC, Services Australia, ESDC, NIMC, DHA. */
export const commonwealth: readonly Recogniser[] = [
  {
    entity: "AU_ABN",
    country: "au",
    patterns: [
      { name: "two-three-three-three", regex: /(?<![A-Za-z\d-])\d{2} \d{3} \d{3} \d{3}(?![A-Za-z\d-])/g, score: 0.1 },
      { name: "eleven digits", regex: /(?<![A-Za-z\d.-])\d{11}(?![A-Za-z\d-])/g, score: 0.01 },
    ],
    validate: (match) => {
      const d = digitsOf(match);
      return d[0] !== "0" && (weighted(d, [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]) - 10) % 89 === 0;
    },
    context: ["australian business number", "abn"],
    prior: 0.5,
  },
  {
    entity: "AU_ACN",
    country: "au",
    patterns: [
      { name: "groups of three", regex: /(?<![A-Za-z\d-])\d{3} \d{3} \d{3}(?![A-Za-z\d-])/g, score: 0.1 },
      { name: "nine digits", regex: /(?<![A-Za-z\d.-])\d{9}(?![A-Za-z\d-])/g, score: 0.01 },
    ],
    validate: (match) => {
      const d = digitsOf(match);
      return !repeats(d) && (10 - (weighted(d, [8, 7, 6, 5, 4, 3, 2, 1]) % 10)) % 10 === Number(d[8]);
    },
    context: ["australian company number", "acn"],
    prior: 0.42,
  },
  {
    entity: "AU_TFN",
    country: "au",
    patterns: [
      { name: "groups of three", regex: /(?<![A-Za-z\d-])\d{3} \d{3} \d{3}(?![A-Za-z\d-])/g, score: 0.1 },
      { name: "nine digits", regex: /(?<![A-Za-z\d.-])\d{9}(?![A-Za-z\d-])/g, score: 0.01 },
    ],
    validate: (match) => {
      const d = digitsOf(match);
      return !repeats(d) && weighted(d, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0;
    },
    context: ["australian tax file number", "tfn", "tax file"],
    prior: 0.48,
  },
  {
    entity: "AU_MEDICARE",
    country: "au",
    patterns: [
      { name: "four-five-one", regex: /(?<![A-Za-z\d-])[2-6]\d{3} \d{5} \d(?![A-Za-z\d-])/g, score: 0.1 },
      { name: "ten digits", regex: /(?<![A-Za-z\d.-])[2-6]\d{9}(?![A-Za-z\d-])/g, score: 0.01 },
    ],
    validate: (match) => {
      const d = digitsOf(match);
      return weighted(d, [1, 3, 7, 9, 1, 3, 7, 9]) % 10 === Number(d[8]);
    },
    context: ["medicare"],
    prior: 0.5,
  },
  {
    entity: "CA_SIN",
    country: "ca",
    patterns: [
      { name: "groups of three", regex: /(?<![A-Za-z\d-])[1-79]\d{2}[- ]\d{3}[- ]\d{3}(?![A-Za-z\d-])/g, score: 0.5 },
      { name: "nine digits", regex: /(?<![A-Za-z\d.-])[1-79]\d{8}(?![A-Za-z\d-])/g, score: 0.05 },
    ],
    validate: (match) => {
      const d = digitsOf(match);
      return !repeats(d) && luhn(d);
    },
    context: ["sin", "social insurance", "numéro d'assurance sociale", "nas", "canada", "canadian"],
    prior: 0.55,
  },
  {
    entity: "NG_NIN",
    country: "ng",
    patterns: [{ name: "eleven digits", regex: /(?<![A-Za-z\d.-])\d{11}(?![A-Za-z\d-])/g, score: 0.01 }],
    validate: (match) => verhoeff(match) && !repeats(match),
    context: ["nin", "national identification number", "nigeria", "nimc", "national id"],
    prior: 0.4,
  },
  {
    entity: "NG_VEHICLE_REGISTRATION",
    country: "ng",
    patterns: [{ name: "area, serial, year", regex: /(?<![\dA-Za-z])[A-Z]{3}[- ]?\d{3}[A-Z]{2}(?![\dA-Za-z])/gi, score: 0.5 }],
    // Nobody mixes cases on a plate: `Max 256GB`.
    validate: (match) => (/[a-z]/.test(match) && /[A-Z]/.test(match) ? false : undefined),
    context: ["plate", "vehicle", "registration", "nigeria", "plate number"],
    prior: 0.6,
  },
  {
    entity: "ZA_ID_NUMBER",
    country: "za",
    patterns: [
      {
        name: "birth date, citizenship",
        regex: /(?<![A-Za-z\d.-])\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{4}[012][089]\d(?![A-Za-z\d-])/g,
        score: 0.3,
      },
    ],
    validate: (match) =>
      /^\d{13}$/.test(match) &&
      isDayOfAnyCentury(match.slice(0, 2), match.slice(2, 4), match.slice(4, 6)) &&
      /[012]/.test(match[10] ?? "") &&
      luhn(match),
    context: ["south africa", "id number", "rsa id", "sa id", "identity number", "resident number", "said"],
    prior: 0.7,
  },
];
