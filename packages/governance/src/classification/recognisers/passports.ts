import type { Recogniser } from "../search/recogniser.ts";

/** Numbers of passports by country as they are printed (PRADO, ICAO member publications). Most are plain numbers, so that their name must stand beside them. */
const STRUCTURES: readonly (readonly [structure: string, ...countries: string[]])[] = [
  ["\\d{7}", "mt"],
  ["\\d{8}", "cz", "se"],
  ["\\d{9}", "bg", "dk", "dz", "hr", "ru", "ua", "uk", "us"],
  ["\\d{8,9}", "ro"],
  ["[A-Z]\\d{5}", "li"],
  ["[A-Z]\\d{6}", "pt"],
  ["[A-Z] ?\\d{7}", "at"],
  ["[A-Z]\\d{7}", "au", "ch", "kz"],
  ["[A-Z]-?\\d{7}", "in"],
  ["A\\d{7}", "is", "jm"],
  ["[A-CEX]\\d{7}", "id"],
  ["[A-Z]\\d{8}", "ir", "mx", "us"],
  ["[AHK]\\d{8}", "my"],
  ["[ADMT]\\d{8}", "za"],
  ["[MS]\\d{8}", "kr"],
  ["[A-Z] ?\\d{8}", "tr"],
  ["(?:G|E[A-HJ-NP-Z\\d])\\d{7,8}", "cn"],
  ["[A-Z](?:\\d{6}|\\d{8})", "cy"],
  ["[A-Z]\\d{7}|[A-Z]{2}\\d{7}", "ee"],
  ["[A-Z]{2}\\d{6}", "be", "br", "ua"],
  ["[A-Z]{2}\\d{6,7}", "hu"],
  ["[A-Z]{2}\\d{7}", "am", "by", "fi", "gr", "jp", "pk"],
  ["[A-Z]{2} ?\\d{7}", "pl"],
  ["P[A-Z]\\d{7}", "si", "sl"],
  ["[A-Z\\d]{2}\\d{7}", "ie", "it", "lv"],
  ["[A-Z\\d]{2}[A-Z\\d]?\\d{6}", "es"],
  ["[A-Z\\d]\\d{7}", "sk"],
  ["[A-Z]{3}\\d{6}", "ar"],
  ["[A-Z]{1,2}\\d{6,7}", "th"],
  ["[A-Z]{2}\\d{6}|[A-Z]\\d{6}[A-Z]{2}", "ca"],
  ["\\d{2}[A-Z]{2}\\d{5}", "fr"],
  ["[A-Z]{2}\\d{7}|\\d{2}[A-Z]{2}\\d{5}", "mz"],
  ["[A-Z]{2}[A-Z\\d]{6}\\d", "nl"],
  ["(?:L[ADFH]|E[AP]|N)\\d{6}", "nz"],
  ["[A-Z]\\d{6}|[A-Z]\\d{7}[A-Z]|[A-Z]{2}\\d{6,7}", "ph"],
  ["[CFGHJ-NPRTV-Z\\d]{9}", "de"],
  ["(?=[A-Z]{0,7}\\d)[A-Z\\d]{8}", "lt", "lu", "ly"],
];

const NAMES = [
  "passport",
  "passeport",
  "pasaporte",
  "passaporto",
  "reisepass",
  "paspoort",
  "pasaport",
  "паспорт",
  "travel document",
];

const shaped = (structure: string): RegExp => new RegExp(`(?<![\\dA-Za-z-])(?:${structure})(?![\\dA-Za-z-])`, "gi");

/** Passport numbers beside the word for one; of which country only a hint can tell. */
export const passports: readonly Recogniser[] = [
  {
    entity: "PASSPORT_NUMBER",
    patterns: [{ name: "number beside its name", regex: shaped("[A-Z]{0,3}\\d{6,9}[A-Z]{0,2}"), score: 0 }],
    context: NAMES,
    onlyKnown: true,
    prior: 0.25,
  },
  ...STRUCTURES.flatMap(([structure, ...countries]) =>
    countries.map(
      (country): Recogniser => ({
        entity: "PASSPORT_NUMBER",
        country,
        patterns: [{ name: "passport of the country", regex: shaped(structure), score: 0 }],
        context: NAMES,
        digits: 3,
        onlyKnown: true,
        prior: 0.2,
      }),
    ),
  ),
];
