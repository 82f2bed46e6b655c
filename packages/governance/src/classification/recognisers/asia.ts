import type { Recogniser } from "../search/recogniser.ts";
import { alphanumericsOf, digitsOf, isDayOfAnyCentury, repeats, verhoeff, weighted } from "../validators/checksums.ts";

/** India, Korea, the Philippines, Singapore, Thailand. Sources: UIDAI, GSTN, NTS, MOIS, BIR, ICA, ACRA, DOPA. */
export const asia: readonly Recogniser[] = [
  {
    entity: "IN_AADHAAR",
    country: "in",
    patterns: [
      { name: "groups of four", regex: /(?<![A-Za-z\d-])(?<!\d:)[2-9]\d{3}[- :]\d{4}[- :]\d{4}(?![A-Za-z\d:-])/g, score: 0.3 },
      { name: "twelve digits", regex: /(?<![A-Za-z\d.-])[2-9]\d{11}(?![A-Za-z\d-])/g, score: 0.05 },
    ],
    validate: (match) => {
      const d = digitsOf(match);
      return d > "2" && verhoeff(d) && d !== [...d].reverse().join("");
    },
    context: ["aadhaar", "uidai", "aadhar", "आधार"],
    prior: 0.7,
  },
  {
    entity: "IN_GSTIN",
    country: "in",
    patterns: [
      {
        name: "state, PAN, Z",
        regex: /(?<![\dA-Za-z])(?:0[1-9]|[12]\d|3[0-7])[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z](?![\dA-Za-z])/gi,
        score: 0.85,
      },
    ],
    // No published sample of the peer has a right check character, so the structure decides.
    validate: (match) => /^(?:0[1-9]|[12]\d|3[0-7])[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]$/i.test(match),
    context: ["gstin", "gst", "goods and services"],
    prior: 0.95,
  },
  {
    entity: "IN_PAN",
    country: "in",
    patterns: [
      { name: "holder type known", regex: /(?<![\dA-Za-z])[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z](?![\dA-Za-z])/g, score: 0.5 },
      { name: "five, four, one", regex: /(?<![\dA-Za-z])[A-Z]{5}\d{4}[A-Z](?![\dA-Za-z])/gi, score: 0.1 },
    ],
    context: ["permanent account number", "pan", "pan card", "income tax"],
    prior: 0.7,
  },
  {
    entity: "IN_PASSPORT",
    country: "in",
    patterns: [{ name: "letter and seven digits", regex: /(?<![\dA-Za-z])[A-Z][1-9]\d{6}(?![\dA-Za-z])/gi, score: 0.1 }],
    context: ["passport", "indian passport", "passport number"],
    prior: 0.4,
  },
  {
    entity: "IN_VEHICLE_REGISTRATION",
    country: "in",
    patterns: [
      {
        name: "state, district, series",
        regex:
          /(?<![\dA-Za-z])(?:AN|AP|AR|AS|BH|BR|CG|CH|DD|DL|DN|GA|GJ|HP|HR|JH|JK|KA|KL|LA|LD|MH|ML|MN|MP|MZ|NL|OD|OR|PB|PY|RJ|SK|TN|TR|TS|UK|UP|WB)[- ]?\d{1,2}[- ]?[A-Z]{1,3}[- ]?\d{4}(?![\dA-Za-z])/gi,
        score: 0.5,
      },
      { name: "Bharat series", regex: /(?<![\dA-Za-z])\d{2}BH\d{4}[A-HJ-NP-Z]{1,2}(?![\dA-Za-z])/g, score: 0.5 },
      { name: "diplomatic", regex: /(?<![\dA-Za-z])\d{1,3}(?:CD|CC|UN)\d{1,4}(?![\dA-Za-z])/g, score: 0.2 },
      { name: "old", regex: /(?<![\dA-Za-z])[A-Z]{1,3}\d{4,5}(?![\dA-Za-z])/g, score: 0.01 },
    ],
    validate: (match) => {
      const parts = /^([A-Z]{2})[- ]?(\d{1,2})[- ]?[A-Z]{1,3}[- ]?(\d{4})$/i.exec(match);
      if (parts === null) return undefined;
      return parts[3] !== "0000" && Number(parts[2]) >= 1 && Number(parts[2]) <= 80 ? true : undefined;
    },
    context: ["rto", "vehicle", "plate", "registration"],
    digits: 4,
    prior: 0.5,
  },
  {
    entity: "IN_VOTER",
    country: "in",
    patterns: [
      { name: "EPIC", regex: /(?<![\dA-Za-z])[A-Z][ABCDGHJKMNPRSY][A-Z]\d{7}(?![\dA-Za-z])/gi, score: 0.4 },
      { name: "three letters, seven digits", regex: /(?<![\dA-Za-z])[A-Z]{3}\d{7}(?![\dA-Za-z])/gi, score: 0.3 },
    ],
    // ServiceNow numbers its incidents, problems, changes and requests with three letters and seven digits.
    validate: (match) => (/^(?:INC|PRB|CHG|REQ)/i.test(match) ? false : undefined),
    context: ["voter", "epic", "elector"],
    prior: 0.6,
  },
  {
    entity: "KR_RRN",
    country: "kr",
    languages: ["ko"],
    patterns: [
      {
        name: "birth date, sex 1-4",
        regex: /(?<![A-Za-z\d-])\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-?[1-4]\d{6}(?![A-Za-z\d-])/g,
        score: 0.5,
      },
    ],
    validate: (match) => koreanResident(digitsOf(match), 11),
    context: ["주민등록번호", "주민번호", "rrn", "resident registration", "korean"],
    prior: 0.6,
  },
  {
    entity: "KR_FRN",
    country: "kr",
    languages: ["ko"],
    patterns: [
      {
        name: "birth date, sex 5-8",
        regex: /(?<![A-Za-z\d-])\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-?[5-8]\d{6}(?![A-Za-z\d-])/g,
        score: 0.5,
      },
    ],
    validate: (match) => koreanResident(digitsOf(match), 13),
    context: ["외국인등록번호", "frn", "foreigner registration", "korean"],
    prior: 0.6,
  },
  {
    entity: "KR_BRN",
    country: "kr",
    languages: ["ko"],
    patterns: [
      { name: "three-two-five", regex: /(?<![A-Za-z\d-])\d{3}-\d{2}-\d{5}(?![A-Za-z\d-])/g, score: 0.5 },
      { name: "ten digits", regex: /(?<![A-Za-z\d.-])\d{10}(?![A-Za-z\d-])/g, score: 0.1 },
    ],
    validate: (match) => {
      const d = digitsOf(match);
      const sum = weighted(d, [1, 3, 7, 1, 3, 7, 1, 3, 5]) + Math.floor((Number(d[8]) * 5) / 10);
      // Tax office from 101, kind of business and serial from 1.
      if (d < "101" || d.slice(3, 5) === "00" || d.slice(5, 9) === "0000") return false;
      return !repeats(d) && (10 - (sum % 10)) % 10 === Number(d[9]);
    },
    context: ["사업자등록번호", "brn", "business registration", "korean"],
    prior: 0.45,
  },
  {
    entity: "KR_PASSPORT",
    country: "kr",
    languages: ["ko"],
    patterns: [
      { name: "since 2021", regex: /(?<![\dA-Za-z])[MSRODG]\d{3}[A-Z]\d{4}(?![\dA-Za-z])/gi, score: 0.1 },
      { name: "before 2021", regex: /(?<![\dA-Za-z])[MSRODG]\d{8}(?![\dA-Za-z])/gi, score: 0.05 },
    ],
    context: ["여권", "여권번호", "passport", "korean passport", "대한민국"],
    prior: 0.45,
  },
  {
    entity: "KR_DRIVER_LICENSE",
    country: "kr",
    languages: ["ko"],
    patterns: [
      {
        name: "region, year, serial",
        regex: /(?<![A-Za-z\d-])(?:1[1-9]|2[0-8])[- ]?\d{2}[- ]?\d{6}[- ]?\d{2}(?![A-Za-z\d-])/g,
        score: 0.3,
      },
    ],
    validate: (match) => {
      if (!/^\d{2}([- ]?)\d{2}\1\d{6}\1\d{2}$/.test(match)) return undefined;
      const region = Number(match.slice(0, 2));
      return region >= 11 && region <= 28 && region !== 27 ? true : undefined;
    },
    context: ["운전면허", "면허", "driver license", "driving license", "korean", "license"],
    prior: 0.4,
  },
  {
    entity: "PH_TIN",
    country: "ph",
    patterns: [
      { name: "groups of three", regex: /(?<![A-Za-z\d-])\d{3}-\d{3}-\d{3}(?:-\d{3,5})?(?![A-Za-z\d-])/g, score: 0.05 },
      { name: "digits", regex: /(?<![A-Za-z\d.-])(?:\d{9}|\d{12}|\d{14})(?![A-Za-z\d-])/g, score: 0.01 },
    ],
    // The check digit excludes, but one in eleven numbers has it: passing decides nothing.
    validate: (match) => {
      const d = digitsOf(match);
      const check = weighted(d, [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
      return !repeats(d.slice(0, 9)) && check < 10 && check === Number(d[8]) ? undefined : false;
    },
    context: ["tin", "bir", "taxpayer", "tax id", "tax identification", "philippine"],
    prior: 0.35,
  },
  {
    entity: "SG_NRIC_FIN",
    country: "sg",
    patterns: [
      { name: "series known", regex: /(?<![\dA-Za-z])[STFGM]\d{7}[A-Z](?![\dA-Za-z])/gi, score: 0.5 },
      { name: "letter, seven digits, letter", regex: /(?<![\dA-Za-z])[A-Z]\d{7}[A-Z](?![\dA-Za-z])/gi, score: 0.3 },
    ],
    validate: (match) => (hasNricCheck(match.toUpperCase()) ? true : undefined),
    context: ["fin", "nric", "singapore", "fin#"],
    prior: 0.55,
  },
  {
    entity: "SG_UEN",
    country: "sg",
    patterns: [
      { name: "business", regex: /(?<![\dA-Za-z])\d{8}[A-Z](?![\dA-Za-z])/gi, score: 0.3 },
      { name: "local company", regex: /(?<![\dA-Za-z])(?:19|20)\d{7}[A-Z](?![\dA-Za-z])/gi, score: 0.3 },
      { name: "other entity", regex: /(?<![\dA-Za-z])[TSR]\d{2}[A-Z]{2}\d{4}[A-Z](?![\dA-Za-z])/gi, score: 0.3 },
    ],
    validate: (match) => hasUenCheck(alphanumericsOf(match)),
    context: ["uen", "unique entity number", "business registration", "acra"],
    prior: 0.5,
  },
  {
    entity: "TH_TNIN",
    country: "th",
    languages: ["th"],
    patterns: [
      { name: "thirteen digits", regex: /(?<![A-Za-z\d.-])[1-8]\d{12}(?![A-Za-z\d-])/g, score: 0.5 },
      {
        name: "one-four-five-two-one",
        regex: /(?<![A-Za-z\d-])[1-8][- ]\d{4}[- ]\d{5}[- ]\d{2}[- ]\d(?![A-Za-z\d-])/g,
        score: 0.5,
      },
    ],
    validate: (match) => {
      if (!/^[1-8][\d -]{12,16}$/.test(match) || / $/.test(match)) return false;
      const d = digitsOf(match);
      if (d.length !== 13 || !/^.(?:1\d|2[0-7]|3\d|4\d|5[0-8]|6[0-7]|7[0-7]|8[0-6]|9[0-7])/.test(d)) return false;
      return (11 - (weighted(d, [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === Number(d[12]);
    },
    context: ["thai national id", "thai id", "tnin", "บัตรประชาชน", "เลขประจำตัวประชาชน", "thai"],
    prior: 0.6,
  },
];

/** Sex digit and region; before October 2020 also a check digit, so a failing one decides nothing. */
function koreanResident(d: string, base: number): boolean | undefined {
  if (!isDayOfAnyCentury(d.slice(0, 2), d.slice(2, 4), d.slice(4, 6))) return false;
  const sum = weighted(d, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
  return (((base - (sum % 11)) % 10) + 10) % 10 === Number(d[12]) ? true : undefined;
}

function hasNricCheck(v: string): boolean {
  const sum = weighted(v.slice(1, 8), [2, 7, 6, 5, 4, 3, 2]);
  switch (v[0]) {
    case "S":
      return "JZIHGFEDCBA"[sum % 11] === v[8];
    case "T":
      return "JZIHGFEDCBA"[(sum + 4) % 11] === v[8];
    case "F":
      return "XWUTRQPNMLK"[sum % 11] === v[8];
    case "G":
      return "XWUTRQPNMLK"[(sum + 4) % 11] === v[8];
    case "M":
      return "XWUTRQPNJLK"[10 - ((sum + 3) % 11)] === v[8];
    default:
      return false;
  }
}

const UEN_ENTITY = new Set(
  "LP LL FC PF RF MQ MM NB CC CS MB FM GS DP CP NR CM CD MD HS VH CH MH CL XL CX HC RP TU TC FB FN PA PB SS MC SM GA GB".split(
    " ",
  ),
);
const UEN_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWX0123456789";

function hasUenCheck(v: string): boolean {
  if (/^\d{8}[A-Z]$/.test(v)) return "XMKECAWLJDB"[weighted(v, [10, 4, 9, 3, 8, 2, 7, 1]) % 11] === v[8];
  if (/^\d{9}[A-Z]$/.test(v)) return "ZKCMDNERGWH"[weighted(v, [10, 8, 6, 4, 9, 7, 5, 3, 1]) % 11] === v[9];
  if (!UEN_ENTITY.has(v.slice(3, 5))) return false;
  const weights = [4, 3, 5, 3, 10, 2, 2, 5, 7];
  let sum = 0;
  for (let i = 0; i < 9; i++) sum += UEN_ALPHABET.indexOf(v[i] ?? "") * (weights[i] ?? 0);
  return UEN_ALPHABET[(((sum - 5) % 11) + 11) % 11] === v[9];
}
