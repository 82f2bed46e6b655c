import type { Recogniser } from "../search/recogniser.ts";
import { digitsOf, repeats, weighted } from "../validators/checksums.ts";

/** United Kingdom. Sources: NHS number data dictionary, HMRC NIM39110 (NINO), DVLA formats, BS 7666 postcodes. */
export const uk: readonly Recogniser[] = [
  {
    // Sort code and account number (Pay.UK, formerly VocaLink: six and eight digits), as people give them.
    entity: "BANK_ACCOUNT",
    country: "uk",
    patterns: [
      {
        name: "behind its sort code",
        regex:
          /(?<=(?<![A-Za-z])sort ?code[ :#]{0,3}\d{2}[ -]?\d{2}[ -]?\d{2}(?!\d)[,;./ ]{0,3}(?:(?:and|bank|acc(?:oun)?t?|a\/c|acct|number|num|no|nr)[.,:# ]{0,3}){0,4})\d{8}(?![A-Za-z\d-])/gi,
        score: 0.75,
      },
    ],
    context: [],
    needs: (text) => /sort ?code/i.test(text),
    prior: 0.9,
  },
  {
    entity: "UK_NHS",
    country: "uk",
    patterns: [{ name: "three-three-four", regex: /(?<![A-Za-z\d-])\d{3}[- ]?\d{3}[- ]?\d{4}(?![A-Za-z\d-])/g, score: 0.5 }],
    validate: (match) => {
      const d = digitsOf(match);
      return !repeats(d) && weighted(d, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0;
    },
    context: ["national health service", "nhs", "health services authority", "health authority"],
    prior: 0.5,
  },
  {
    entity: "UK_NINO",
    country: "uk",
    patterns: [
      {
        name: "prefix, digits, suffix",
        regex:
          /(?<![A-Za-z\d-])(?!BG|GB|KN|NK|NT|TN|ZZ|FQ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?![A-Za-z\d-])/gi,
        score: 0.5,
      },
      {
        // Employers' forms may leave the suffix out.
        name: "prefix, digits",
        regex:
          /(?<![A-Za-z\d-])(?!BG|GB|KN|NK|NT|TN|ZZ|FQ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2}(?! ?[A-Za-z\d-])/gi,
        score: 0.1,
      },
    ],
    context: ["national insurance", "ni number", "nino"],
    prior: 0.7,
  },
  {
    entity: "UK_PASSPORT",
    country: "uk",
    patterns: [{ name: "two letters, seven digits", regex: /(?<![\dA-Za-z])[A-Z]{2}\d{7}(?![\dA-Za-z])/gi, score: 0.1 }],
    context: ["passport", "hmpo", "travel document", "uk passport", "british passport"],
    prior: 0.45,
  },
  {
    entity: "UK_DRIVING_LICENCE",
    country: "uk",
    patterns: [
      {
        name: "DVLA driver number",
        regex:
          /(?<![\dA-Za-z])(?=[A-Z])[A-Z9]{5}\d(?:0[1-9]|1[0-2]|5[1-9]|6[0-2])(?:0[1-9]|[12]\d|3[01])\d[A-Z9]{2}[A-Z0-9][A-Z]{2}(?![\dA-Za-z])/gi,
        score: 0.5,
      },
    ],
    context: ["driving", "licence", "license", "dvla", "driver"],
    prior: 0.8,
  },
  {
    entity: "UK_POSTCODE",
    country: "uk",
    patterns: [
      {
        name: "postcode",
        regex:
          /(?<![\dA-Za-z])(?:GIR ?0AA|[A-PR-UWYZ](?:\d{1,2}|\d[A-HJKPSTUW]|[A-HK-Y]\d{1,2}|[A-HK-Y]\d[ABEHMNPRV-Y]) ?\d[ABD-HJLNP-UW-Z]{2})(?![\dA-Za-z])/gi,
        score: 0.1,
      },
    ],
    context: ["postcode", "postal", "address", "post code", "postal code", "from", "delivery", "town", "street", "road"],
    prior: 0.5,
  },
  {
    entity: "UK_VEHICLE_REGISTRATION",
    country: "uk",
    patterns: [
      {
        name: "since 2001",
        regex: /(?<![\dA-Za-z])[A-HJ-PR-Y][A-HJ-PR-Y](?:0[2-9]|[1-7]\d) ?[A-HJ-PR-Z]{3}(?![\dA-Za-z])/gi,
        score: 0.5,
      },
      { name: "prefix 1983-2001", regex: /(?<![\dA-Za-z])[A-HJ-NPR-TV-Y]\d{1,3} ?[A-HJ-PR-Z]{3}(?![\dA-Za-z])/gi, score: 0.2 },
      { name: "suffix 1963-1983", regex: /(?<![\dA-Za-z])[A-HJ-PR-Z]{3} ?\d{1,3}[A-HJ-NPR-TV-Y](?![\dA-Za-z])/gi, score: 0.15 },
    ],
    validate: (match) => {
      const age = /^[A-Z]{2}(\d{2}) ?[A-Z]{3}$/i.exec(match)?.[1];
      if (age === undefined) return undefined;
      return (Number(age) >= 2 && Number(age) <= 29) || (Number(age) >= 51 && Number(age) <= 79);
    },
    context: [
      "vehicle",
      "registration",
      "number plate",
      "numberplate",
      "licence plate",
      "license plate",
      "reg",
      "vrm",
      "dvla",
      "v5c",
      "car",
      "mot",
    ],
    prior: 0.4,
  },
];
