import type { Recogniser } from "../search/recogniser.ts";
import { digitsOf, luhn, repeats, weighted } from "../validators/checksums.ts";

const ssnContext = ["social", "security", "ssn", "ssns", "ssid", "ss#", "ss number"];

/** United States. Sources: SSA, IRS, CMS (MBI format, NPI check digit), ABA routing check, DEA registration check. */
export const us: readonly Recogniser[] = [
  {
    entity: "US_SSN",
    country: "us",
    patterns: [
      {
        name: "grouped",
        regex: /(?<![A-Za-z\d-])(?:\d{3}-\d{2}-\d{4}|\d{3}\.\d{2}\.\d{4}|\d{3} \d{2} \d{4})(?![A-Za-z\d-])/g,
        score: 0.5,
      },
      { name: "partly grouped", regex: /(?<![A-Za-z\d-])(?:\d{3}-\d{6}|\d{5}-\d{4})(?![A-Za-z\d-])/g, score: 0.05 },
      { name: "nine digits", regex: /(?<![A-Za-z\d.-])\d{9}(?![A-Za-z\d-])/g, score: 0.05 },
    ],
    validate: (match) => (isSsn(digitsOf(match)) ? undefined : false),
    context: ssnContext,
    prior: 0.6,
  },
  {
    entity: "US_ITIN",
    country: "us",
    patterns: [
      {
        name: "grouped",
        regex: /(?<![A-Za-z\d-])9\d{2}[ -](?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])[ -]\d{4}(?![A-Za-z\d-])/g,
        score: 0.55,
      },
      {
        name: "nine digits",
        regex: /(?<![A-Za-z\d-])9\d{2}(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\d{4}(?![A-Za-z\d-])/g,
        score: 0.3,
      },
      {
        name: "partly grouped",
        regex:
          /(?<![A-Za-z\d-])9\d{2}(?:-(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])|(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])-)\d{4}(?![A-Za-z\d-])/g,
        score: 0.05,
      },
    ],
    context: ["individual", "taxpayer", "itin", "tax", "payer", "taxid", "tin"],
    prior: 0.65,
  },
  {
    entity: "ABA_ROUTING_NUMBER",
    country: "us",
    patterns: [
      { name: "hyphenated", regex: /(?<![A-Za-z\d-])[0123678]\d{3}-\d{4}-\d(?![A-Za-z\d-])/g, score: 0.3 },
      { name: "nine digits", regex: /(?<![A-Za-z\d.-])[0123678]\d{8}(?![A-Za-z\d-])/g, score: 0.05 },
    ],
    validate: (match) => {
      const d = digitsOf(match);
      return (
        !repeats(d) &&
        weighted(d, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0 &&
        /^(?:0\d|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)/.test(d)
      );
    },
    context: ["aba", "routing", "abarouting", "association", "bankrouting", "rtn"],
    prior: 0.6,
  },
  {
    entity: "US_BANK_NUMBER",
    country: "us",
    patterns: [{ name: "digits", regex: /(?<![A-Za-z\d.-])\d{8,17}(?![A-Za-z\d-])/g, score: 0.05 }],
    context: ["check", "account", "account#", "acct", "bank", "save", "savings", "debit"],
    prior: 0.15,
  },
  {
    entity: "US_DRIVER_LICENSE",
    country: "us",
    patterns: [
      {
        name: "letters and digits",
        regex:
          /(?<![A-Za-z\d-])(?:[A-Z]\d{3,6}|[A-Z]\d{7,9}|[A-Z]\d{11,14}|[A-Z]{2}\d{2,7}|\d{3}[A-Z]{2}\d{4}|\d{2}[A-Z]{3}\d{5,6}|\d{7}[A-Z]|[A-Z]\d{2}-\d{2}-\d{4}|[A-Z]\d{2} \d{3} \d{3}|\d{9}[A-Z]|[A-Z]\d{6}R)(?![A-Za-z\d-])/gi,
        score: 0.1,
      },
      { name: "Washington", regex: /(?<![A-Za-z\d*])[A-Z]{1,7}[A-Z0-9*]{4,11}(?![A-Za-z\d*])/g, score: 0.05 },
      { name: "digits", regex: /(?<![A-Za-z\d.-])(?:\d{6,14}|\d{16}|\d{4}-\d{2}-\d{4})(?![A-Za-z\d-])/g, score: 0.01 },
    ],
    validate: (match) => (/\d/.test(match) ? undefined : false),
    context: ["driver", "license", "licence", "permit", "lic", "identification", "dls", "cdls", "driving", "dl"],
    digits: 2,
    prior: 0.35,
  },
  {
    entity: "US_PASSPORT",
    country: "us",
    patterns: [
      { name: "next generation", regex: /(?<![\dA-Za-z])[A-Z]\d{8}(?![\dA-Za-z])/gi, score: 0.1 },
      { name: "nine digits", regex: /(?<![\d.-])\d{9}(?![A-Za-z\d-])/g, score: 0.05 },
    ],
    context: ["passport", "passport#", "travel", "document"],
    prior: 0.4,
  },
  {
    entity: "US_MBI",
    country: "us",
    patterns: [
      {
        name: "hyphenated",
        regex:
          /(?<![A-Za-z\d-])[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-[AC-HJKMNP-RT-Y]{2}\d{2}(?![A-Za-z\d-])/gi,
        score: 0.5,
      },
      {
        name: "contiguous",
        regex:
          /(?<![A-Za-z\d-])[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d[AC-HJKMNP-RT-Y]{2}\d{2}(?![A-Za-z\d-])/gi,
        score: 0.3,
      },
    ],
    context: ["medicare", "mbi", "beneficiary", "cms", "medicaid", "hic", "hicn"],
    prior: 0.7,
  },
  {
    entity: "US_NPI",
    country: "us",
    patterns: [
      { name: "grouped", regex: /(?<![A-Za-z\d-])[12]\d{3}[ -]\d{3}[ -]\d{3}(?![A-Za-z\d-])/g, score: 0.1 },
      { name: "ten digits", regex: /(?<![A-Za-z\d.-])[12]\d{9}(?![A-Za-z\d-])/g, score: 0.1 },
    ],
    validate: (match) => {
      const d = digitsOf(match);
      return !repeats(d) && luhn(`80840${d}`);
    },
    context: ["npi", "national provider", "provider", "taxonomy"],
    prior: 0.6,
  },
  {
    entity: "MEDICAL_LICENSE",
    country: "us",
    patterns: [
      {
        name: "DEA certificate",
        regex:
          /(?<![\dA-Za-z])(?:[ABCDEFGHJKLMPRSTUX][A-Z]|[ABCDEFGHJKLMPRSTUX]9)\d{7}(?![\dA-Za-z])|(?<![\dA-Za-z])[ABCDEFGHJKLMPRSTUX]9\d{7}(?![\dA-Za-z])/gi,
        score: 0.4,
      },
    ],
    validate: (match) => {
      const d = match.slice(-7);
      const sum = weighted(d, [1, 2, 1, 2, 1, 2]);
      return sum % 10 === Number(d[6]);
    },
    context: ["medical", "certificate", "dea", "prescriber", "controlled"],
    prior: 0.6,
  },
];

/** Area, group and serial that the SSA never issues, and the numbers that were printed in advertisements. */
function isSsn(d: string): boolean {
  if (repeats(d) || d.startsWith("000") || d.startsWith("666")) return false;
  if (d.slice(3, 5) === "00" || d.slice(5) === "0000") return false;
  return !["078051120", "219099999", "123456789", "987654321", "457555462"].some((known) => d === known);
}
