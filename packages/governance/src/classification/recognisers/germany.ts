import type { Recogniser } from "../search/recogniser.ts";
import {
  alphanumericsOf,
  digitsOf,
  icao,
  isDay,
  isDayOfAnyCentury,
  mod11And10,
  repeats,
  weighted,
} from "../validators/checksums.ts";

/** Germany. Sources: BMI (documents, ICAO 9303), BZSt (tax ids, ISO 7064), GKV (KVNR), KBV (LANR, BSNR), VO nach SGB VI §147 (RVNR). */
export const germany: readonly Recogniser[] = [
  {
    entity: "DE_TAX_ID",
    country: "de",
    patterns: [
      {
        name: "eleven digits",
        regex: /(?<![A-Za-z\d.-])[1-9]\d{10}(?![A-Za-z\d-])|(?<![A-Za-z\d.-])[1-9]\d \d{3} \d{3} \d{3}(?![A-Za-z\d-])/g,
        score: 0.5,
      },
    ],
    validate: isTaxId,
    context: [
      "steuer-id",
      "steueridentifikationsnummer",
      "identifikationsnummer",
      "idnr",
      "id-nr",
      "steuerid",
      "tax id",
      "steuerliche",
    ],
    prior: 0.5,
  },
  {
    entity: "DE_TAX_NUMBER",
    country: "de",
    patterns: [
      { name: "ELSTER", regex: /(?<![A-Za-z\d.-])(?:0[1-9]|1[0-6])\d{11}(?![A-Za-z\d-])/g, score: 0.5 },
      {
        name: "uniform",
        regex: /(?<![A-Za-z\d.-])(?:1[01]|2[1-8]|3[0-2]|4[01]|5\d|9\d)\d{2}0\d{8}(?![A-Za-z\d-])/g,
        score: 0.25,
      },
      { name: "three-three-five", regex: /(?<![A-Za-z\d/])\d{3}\/\d{3}\/\d{5}(?![A-Za-z\d/])/g, score: 0.4 },
      { name: "two-three-four", regex: /(?<![A-Za-z\d/])\d{2}\/\d{3}\/\d{4,5}(?![A-Za-z\d/])/g, score: 0.2 },
    ],
    context: ["steuernummer", "steuer-nr", "steuernr", "st.-nr", "st-nr", "stnr", "finanzamt", "tax number"],
    prior: 0.55,
  },
  {
    entity: "DE_VAT_ID",
    country: "de",
    patterns: [
      { name: "DE and nine digits", regex: /(?<![\dA-Za-z])DE[ .-]?\d{3}[ .-]?\d{3}[ .-]?\d{3}(?![\dA-Za-z])/gi, score: 0.5 },
    ],
    validate: (match) => {
      if (!/^DE(?:[ .-]?\d{3}){3}$/i.test(match)) return false;
      return mod11And10(digitsOf(match)) ? true : undefined;
    },
    context: ["ust-idnr", "ust-id", "umsatzsteuer", "mehrwertsteuer", "vat", "ustid", "ust"],
    prior: 0.8,
  },
  {
    entity: "DE_ID_CARD",
    country: "de",
    patterns: [
      { name: "since 2010", regex: /(?<![\dA-Za-z])[CFGHJKLMNPRTVWXYZ][0-9CFGHJKLMNPRTVWXYZ]{7}\d(?![\dA-Za-z])/gi, score: 0.4 },
    ],
    validate: (match) => /\d/.test(match.slice(1)) && icao(match.toUpperCase()),
    context: ["personalausweis", "ausweis", "personalausweisnummer", "ausweisnummer", "identity card", "id card", "perso"],
    prior: 0.55,
  },
  {
    entity: "DE_PASSPORT",
    country: "de",
    patterns: [
      { name: "passport series", regex: /(?<![\dA-Za-z])[CFGHJK][0-9CFGHJKLMNPRTVWXYZ]{7}\d(?![\dA-Za-z])/gi, score: 0.45 },
    ],
    validate: (match) => /\d/.test(match.slice(1)) && icao(match.toUpperCase()),
    context: ["reisepass", "pass", "passnummer", "passport", "pass-nr", "reisepassnummer"],
    prior: 0.6,
  },
  {
    entity: "DE_SOCIAL_SECURITY",
    country: "de",
    patterns: [{ name: "insurance number", regex: /(?<![\dA-Za-z])\d{2} ?\d{6} ?[A-Z] ?\d{3}(?![\dA-Za-z])/gi, score: 0.5 }],
    validate: (match) => isPensionNumber(alphanumericsOf(match)),
    context: [
      "rentenversicherung",
      "sozialversicherung",
      "rvnr",
      "versicherungsnummer",
      "sozialversicherungsnummer",
      "sv-nummer",
    ],
    prior: 0.8,
  },
  {
    entity: "DE_HEALTH_INSURANCE",
    country: "de",
    patterns: [{ name: "KVNR", regex: /(?<![\dA-Za-z])[A-Z]\d{9}(?![\dA-Za-z])/gi, score: 0.3 }],
    validate: (match) => isKvnr(match.toUpperCase()),
    context: [
      "krankenversicherung",
      "krankenkasse",
      "versichertennummer",
      "kvnr",
      "gesundheitskarte",
      "egk",
      "krankenversichertennummer",
    ],
    prior: 0.7,
  },
  {
    entity: "DE_FUEHRERSCHEIN",
    country: "de",
    patterns: [{ name: "licence number", regex: /(?<![\dA-Za-z])[A-Z]{2}\d{8}[A-Z0-9](?![\dA-Za-z])/gi, score: 0.35 }],
    context: ["führerschein", "fuehrerschein", "fahrerlaubnis", "führerscheinnummer", "driving licence"],
    prior: 0.6,
  },
  {
    entity: "DE_HANDELSREGISTER",
    country: "de",
    patterns: [{ name: "HRA or HRB", regex: /(?<![\dA-Za-z])HR[AB] ?\d{1,6}(?![\dA-Za-z])/gi, score: 0.5 }],
    context: ["handelsregister", "amtsgericht", "registergericht", "handelsregisternummer"],
    prior: 0.8,
  },
  {
    entity: "DE_KFZ",
    country: "de",
    patterns: [
      {
        name: "plate with blanks or hyphens",
        regex: /(?<![A-Za-z\d-])[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2}[- ]?[1-9]\d{0,3}[EH]?(?![A-Za-z\d-])/g,
        score: 0.25,
      },
    ],
    // No district has these signs; in English text they are words.
    validate: (match) => (/^(?:I|IS|IT|AT|TO|OR|SO|NO|MY|WE|US)[ -]/.test(match) ? false : undefined),
    context: ["kennzeichen", "kfz", "nummernschild", "fahrzeug", "zulassung", "license plate", "auto"],
    prior: 0.5,
  },
  {
    entity: "DE_LANR",
    country: "de",
    patterns: [{ name: "nine digits", regex: /(?<![A-Za-z\d.-])\d{9}(?![A-Za-z\d-])/g, score: 0.2 }],
    validate: (match) => {
      if (!/^\d{9}$/.test(match) || /^0+$/.test(match)) return false;
      return (10 - (weighted(match, [4, 9, 4, 9, 4, 9]) % 10)) % 10 === Number(match[6]);
    },
    context: ["lanr", "arztnummer", "vertragsarzt", "lebenslange"],
    prior: 0.3,
  },
  {
    entity: "DE_BSNR",
    country: "de",
    patterns: [{ name: "nine digits", regex: /(?<![A-Za-z\d.-])\d{9}(?![A-Za-z\d-])/g, score: 0.2 }],
    validate: (match) => (/^\d{9}$/.test(match) && !repeats(match) ? undefined : false),
    context: ["bsnr", "betriebsstättennummer", "betriebsstätte", "praxis"],
    prior: 0.25,
  },
  {
    entity: "DE_PLZ",
    country: "de",
    patterns: [
      { name: "five digits", regex: /(?<![A-Za-z\d.,/-])(?:0[1-9]\d{3}|[1-9]\d{4})(?![A-Za-z\d/-])(?![.,]\d)/g, score: 0.05 },
    ],
    validate: (match) => (Number(match) >= 1001 && Number(match) <= 99_998 ? undefined : false),
    context: ["plz", "postleitzahl", "wohnort", "anschrift"],
    prior: 0.3,
  },
];

/** ISO 7064 MOD 11,10; among the first ten digits at most one digit repeats, at most three times and never three in a row. */
function isTaxId(match: string): boolean {
  const d = digitsOf(match);
  if (!/^[1-9]\d{10}$/.test(d) || !mod11And10(d)) return false;
  const counts = new Map<string, number>();
  for (const c of d.slice(0, 10)) counts.set(c, (counts.get(c) ?? 0) + 1);
  const repeated = [...counts.values()].filter((n) => n > 1);
  return repeated.length <= 1 && (repeated[0] ?? 0) <= 3 && !/(\d)\1\1/.test(d.slice(0, 10));
}

function isPensionNumber(value: string): boolean {
  if (!/^\d{8}[A-Z]\d{3}$/.test(value)) return false;
  const day = Number(value.slice(2, 4)) % 50;
  if (Number(value.slice(2, 4)) > 81 || day === 0 || day > 31) return false;
  if (!isDayOfAnyCentury(value.slice(6, 8), value.slice(4, 6), String(day)) && !isDay(2000, Number(value.slice(4, 6)), day))
    return false;
  const letter = String((value.charCodeAt(8) ?? 0) - 64).padStart(2, "0");
  const digits = value.slice(0, 8) + letter + value.slice(9, 11);
  const weights = [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1];
  let sum = 0;
  for (let i = 0; i < 12; i++) {
    const product = Number(digits[i]) * (weights[i] ?? 0);
    sum += Math.floor(product / 10) + (product % 10);
  }
  return sum % 10 === Number(value[11]);
}

function isKvnr(value: string): boolean {
  const digits = String(value.charCodeAt(0) - 64).padStart(2, "0") + value.slice(1, 9);
  let sum = 0;
  for (let i = 0; i < 10; i++) {
    const product = Number(digits[i]) * (i % 2 === 0 ? 1 : 2);
    sum += Math.floor(product / 10) + (product % 10);
  }
  return sum % 10 === Number(value[9]);
}
