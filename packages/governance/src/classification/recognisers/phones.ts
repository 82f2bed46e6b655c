import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import type { Recogniser } from "../search/recogniser.ts";
import { digitsOf, repeats } from "../validators/checksums.ts";

const extension = "(?:[ ,;]{0,2}(?:x|ext\\.?|extension|#) ?\\d{1,7})?";
const left = "(?<![A-Za-z\\d/.@#$€£-])(?<!\\w[ ]?[+(])(?<!\\d[ ])";
const right = "(?![A-Za-z\\d@/])(?![.,-]\\d)(?! \\d{2})";
/** Not a house number before the name of its street. */
const alone = "(?! [A-Za-z])";
const shape = (body: string) => new RegExp(`${left}${body}${extension}${right}`, "gi");

const context = [
  "phone",
  "telephone",
  "mobile",
  "cell",
  "call",
  "calling",
  "called",
  "tel",
  "fax",
  "dial",
  "sms",
  "whatsapp",
  "contact",
  "ring",
  "answering",
  "messages",
  "text me",
  "reach",
  "registered",
  "hotline",
  "handy",
  "telefon",
  "téléphone",
  "teléfono",
  "tél",
  "portable",
  "appele",
  "appelez",
  "rappel",
  "joindre",
  "móvil",
  "movil",
  "celular",
  "llama",
  "llámame",
  "llame",
  "cellulare",
  "chiama",
  "ligue",
  "mobiel",
  "bel mij",
  "ruf mich",
  "anruf",
  "rückruf",
  "erreichbar",
  "bereikbaar",
  "terugbellen",
  "joignable",
  "contactar",
  "localizable",
  "contattare",
  "reperibile",
  "contactável",
  "اتصل",
  "اتصال",
  "تواصل",
  "واتساب",
  "कॉल",
  "komórk",
  "puhelin",
  "тел",
  "телефон",
  "звон",
  "rufnummer",
  "電話",
  "手机",
  "携帯",
  "电话",
  "전화",
  "โทร",
  "هاتف",
  "الهاتف",
  "جوال",
  "الجوال",
  "الموبايل",
  "التليفون",
  "موبايل",
  "على الرقم",
  "फोन",
  "फ\u093cोन",
  "मोबाइल",
  "संपर्क",
  "手機",
  "致电",
  "連絡",
  "cep no",
  "number is",
  "office",
  "phones",
];

/** Telephone numbers: international ones by the numbering plans, national ones by the groups that people write. */
export const phones: readonly Recogniser[] = [
  {
    entity: "PHONE_NUMBER",
    patterns: [
      {
        name: "international",
        regex: new RegExp(
          `(?<![\\d+])(?:\\+|(?<![A-Za-z\\d.-])00)[1-9]\\d{0,2}(?:[ .-]?\\(\\d{1,4}\\)|[ .-]?\\d{1,4})(?:[ .-]?\\d{1,4}){1,5}${extension}(?!\\w)(?!-\\d)`,
          "gi",
        ),
        score: 0.55,
      },
      {
        name: "North American",
        regex: new RegExp(
          `${left}(?:1[ .-])?(?:\\(\\d{3}\\)[ -]?|\\d{3}[ .-])\\d{3}[ .-]\\d{4}${extension}(?![A-Za-z\\d@/])(?!-\\d)`,
          "gi",
        ),
        score: 0.5,
      },
      { name: "area code in parentheses", regex: shape("\\(0?\\d{1,4}\\) ?\\d{2,5}(?:[ -]?\\d{2,5}){0,3}"), score: 0.5 },
      { name: "trunk zero, groups", regex: shape("0[1-9]\\d{0,3}(?: ?\\/ ?|[ .-])\\d{2,4}(?:[ .-]\\d{2,4}){1,4}"), score: 0.45 },
      { name: "trunk zero, two groups", regex: shape("0[1-9]\\d{0,4}[ .\\/-]\\d{5,8}"), score: 0.4 },
      { name: "pairs", regex: shape("\\d{2}(?:(?:-\\d{2}){3,4}|(?: \\d{2}){3,4})"), score: 0.35 },
      { name: "three groups of three", regex: shape("[2-9]\\d{2} \\d{3} \\d{3}"), score: 0.32 },
      { name: "three-four", regex: shape(`[2-9]\\d{2}[ -]\\d{4}${alone}`), score: 0.32 },
      { name: "three-four before a word", regex: shape("[2-9]\\d{2}[ -]\\d{4}"), score: 0.2 },
      { name: "three-two-three", regex: shape("[2-9]\\d{2} \\d{2} \\d{2,3}"), score: 0.32 },
      // Spain: Plan Nacional de Numeración Telefónica.
      { name: "three-two-two-two", regex: shape("[6-9]\\d{2} \\d{2} \\d{2} \\d{2}"), score: 0.35 },
      { name: "two-three-three", regex: shape("[2-9]\\d \\d{3} \\d{3}(?: \\d{4})?"), score: 0.32 },
      { name: "two-three-two-two", regex: shape("[1-9]\\d \\d{3} \\d{2} \\d{2}"), score: 0.32 },
      { name: "two-six", regex: shape("[2-9]\\d \\d{6}"), score: 0.3 },
      { name: "four-four", regex: shape(`[2-9]\\d{3} \\d{4}${alone}`), score: 0.32 },
      { name: "four-four before a word", regex: shape("[2-9]\\d{3} \\d{4}"), score: 0.2 },
      { name: "ten digits", regex: shape("[2-9]\\d{2}[2-9]\\d{6}"), score: 0.25 },
      { name: "trunk zero, digits", regex: shape("0[1-9]\\d{7,9}"), score: 0.25 },
      { name: "trunk eight", regex: shape("8 ?\\(\\d{3,5}\\) ?\\d{1,3}-\\d{2}-\\d{2}"), score: 0.4 },
      { name: "five-five", regex: shape("[6-9]\\d{4}[ -]\\d{5}"), score: 0.2 },
      { name: "two groups", regex: shape("[2-9]\\d{2} \\d{7}"), score: 0.25 },
      { name: "three groups of three from one", regex: shape("1\\d{2} \\d{3} \\d{3}"), score: 0.1 },
      { name: "two-four-four", regex: shape("[1-9]\\d[ -]\\d{4}[ -]\\d{4}"), score: 0.2 },
      { name: "trunk zero, short", regex: shape("0[1-9]\\d{0,2}[ -]\\d{3,4}"), score: 0.1 },
      { name: "digits", regex: shape(`\\d{6,15}${alone}`), score: 0 },
    ],
    validate: (match) => {
      const number = match.replace(/(?:x|ext|#).*$/i, "");
      const digits = digitsOf(number);
      if (digits.length < 6 || digits.length > 15 || repeats(digits)) return false;
      if (number.startsWith("+") || number.startsWith("00")) {
        const parsed = parsePhoneNumberFromString(number.replace(/^00/, "+").replace(/\(0\)/, ""));
        if (parsed?.isPossible() !== true) return false;
        return parsed.isValid() ? true : undefined;
      }
      return undefined;
    },
    context,
    digits: 7,
    prior: 0.5,
  },
  {
    entity: "PHONE_NUMBER",
    patterns: [
      {
        name: "country code without plus",
        regex: shape("(?!\\d{1,12}[.,]\\d{1,2}(?!\\d))[1-9]\\d{0,2}[ .-]?(?:\\(\\d{1,4}\\)|\\d{1,9})(?:[ .-]\\d{2,10}){1,4}"),
        score: 0.1,
      },
    ],
    validate: (match) => (internationalNumber(match)?.isPossible() === true ? undefined : false),
    context,
    digits: 9,
    prior: 0.4,
  },
  {
    // Plans change: numbers of an earlier or a later one keep their country code, of at most fifteen digits in all (E.164).
    entity: "PHONE_NUMBER",
    patterns: [
      {
        name: "country code, length outside today's plan",
        regex: /(?<![\w+])\+[1-9]\d{0,2}(?:[ .-]?\(?\d{1,14}\)?){1,6}(?!\w)(?!-\d)/g,
        score: 0.1,
      },
    ],
    validate: (match) => {
      const length = digitsOf(match).length;
      return length >= 9 && length <= 15 && internationalNumber(match) !== undefined ? undefined : false;
    },
    context,
    digits: 9,
    needs: "+",
    prior: 0.4,
  },
  {
    entity: "PH_MOBILE_NUMBER",
    country: "ph",
    patterns: [
      { name: "+63", regex: /(?<![A-Za-z\d+])\+63[ -]?\(?9\d{2}\)?[ -]?\d{3}[ -]?\d{4}(?![A-Za-z\d-])/g, score: 0.6 },
      { name: "trunk zero", regex: /(?<![A-Za-z\d.+-])0 ?\(?9\d{2}\)?[ -]?\d{3}[ -]?\d{4}(?![A-Za-z\d-])/g, score: 0.5 },
    ],
    validate: confirmed,
    context: [...context, "philippine"],
    prior: 0.6,
  },
  {
    entity: "TR_PHONE_NUMBER",
    country: "tr",
    patterns: [
      {
        name: "+90",
        regex: /(?<![A-Za-z\d+])\+90[ .-]?\(?[2-5]\d{2}\)?[ .-]?\d{3}[ .-]?\d{2}[ .-]?\d{2}(?![A-Za-z\d-])/g,
        score: 0.6,
      },
      {
        name: "trunk zero",
        regex: /(?<![A-Za-z\d.+-])0 ?\(?[2-5]\d{2}\)?[ .-]?\d{3}[ .-]?\d{2}[ .-]?\d{2}(?![A-Za-z\d-])/g,
        score: 0.5,
      },
      {
        name: "three-three-two-two",
        regex: /(?<![A-Za-z\d.+-])[2-5]\d{2}(?: \d{3} \d{2} \d{2}|-\d{3}-\d{2}-\d{2}|\.\d{3}\.\d{2}\.\d{2})(?![A-Za-z\d-])/g,
        score: 0.5,
      },
      { name: "ten digits", regex: /(?<![A-Za-z\d.+-])[2-5]\d{9}(?![A-Za-z\d-])/g, score: 0.2 },
    ],
    validate: confirmed,
    context: [...context, "cep", "telefon"],
    prior: 0.55,
  },
  {
    entity: "PHONE_NUMBER",
    country: "cn",
    // Segments of the numbering plan for mobile numbers (MIIT).
    patterns: [
      { name: "Chinese mobile", regex: /(?<![A-Za-z\d.-])1[3-9]\d(?:\d{8}|[ -]\d{4}[ -]\d{4})(?![A-Za-z\d-])/g, score: 0.1 },
    ],
    validate: (match) => (/^1(?:3\d|4[5-9]|5[0-35-9]|6[2567]|7[0-8]|8\d|9[0-35-9])/.test(match) ? true : undefined),
    context: ["手机", "电话", "手機", "電話", "致电", "联系", "号码", "mobile", "phone"],
    prior: 0.45,
  },
];

/** The number that begins with a country code, whatever is written before it. */
function internationalNumber(match: string) {
  return parsePhoneNumberFromString(`+${digitsOf(match.replace(/(?:x|ext|#).*$/i, ""))}`);
}

/** The numbering plan confirms an international form; of a national form it decides nothing. */
function confirmed(match: string): boolean | undefined {
  return match.startsWith("+") && parsePhoneNumberFromString(match)?.isValid() === true ? true : undefined;
}
