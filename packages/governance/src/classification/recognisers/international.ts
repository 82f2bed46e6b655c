import { stdnum } from "stdnum";
import type { Recogniser, Verdict } from "../search/recogniser.ts";
import {
  isBirthNumber,
  isCif,
  isEgn,
  isEgyptianId,
  isHkid,
  isHungarianTaxId,
  isIin,
  isLetteredNif,
  isLuhnId,
  isMalteseTin,
  isMatricule,
  isMyNumber,
  isNik,
  isOldChineseId,
  isPersonasKods,
  isPis,
  isSnils,
  isSriLankanId,
  isTaj,
  isUnzr,
} from "../validators/national.ts";

/** `country` and the checks that a value must pass one of: the library's by name, our own as rules. */
type Checks = readonly [country: string, ...checks: readonly (string | ((match: string) => boolean))[]];

function passes([country, ...checks]: Checks, value: string): boolean {
  const plain = value.replace(/[/.]/g, "");
  return checks.some((check) =>
    typeof check === "string" ? stdnum[country]?.[check]?.validate(plain).isValid === true : check(value.toUpperCase()),
  );
}

const start = "(?<![\\dA-Za-z-])";
const end = "(?![\\dA-Za-z-])";

/** Of a form that many numbers have, without a check digit: a hint at the country alone says nothing. */
const ANY_OF_THE_FORM = (): boolean => true;

/** Identifiers of persons: country, checks, shape, names. Shapes are those of plain numbers, so that names or the country must speak for them. */
const PERSONS: readonly (readonly [entity: string, checks: Checks, shape: string, names: readonly string[]])[] = [
  [
    "NATIONAL_ID",
    ["FR", "nir"],
    "[12] ?\\d{2} ?\\d{2} ?\\d[\\dAB] ?\\d{3} ?\\d{3} ?\\d{2}",
    ["sécurité sociale", "securite sociale", "nir", "insee", "numéro de sécu", "n° de sécu"],
  ],
  [
    "NATIONAL_ID",
    ["BE", "nn", "bis", "insz"],
    "\\d{2}[./]?\\d{2}[./]?\\d{2}[- ]?\\d{3}[-. ]?\\d{2}",
    ["rijksregister", "registre national", "insz", "niss"],
  ],
  ["NATIONAL_ID", ["NL", "bsn"], "\\d{9}", ["bsn", "burgerservicenummer", "sofinummer"]],
  ["TAX_ID", ["PT", "nif"], "\\d{9}", ["nif", "contribuinte"]],
  ["NATIONAL_ID", ["CZ", isBirthNumber], "\\d{6}/?\\d{3,4}", ["rodné číslo", "rodne cislo", "birth number"]],
  ["NATIONAL_ID", ["SK", isBirthNumber], "\\d{6}/?\\d{3,4}", ["rodné číslo", "rodne cislo", "birth number"]],
  ["NATIONAL_ID", ["DK", "cpr"], "\\d{6}-?\\d{4}", ["cpr", "personnummer"]],
  ["NATIONAL_ID", ["NO", "fodselsnummer"], "\\d{6} ?\\d{5}", ["fødselsnummer", "fodselsnummer", "personnummer"]],
  ["NATIONAL_ID", ["EE", "ik"], "[1-6]\\d{10}", ["isikukood"]],
  ["NATIONAL_ID", ["LT", "asmens"], "[3-6]\\d{10}", ["asmens kodas"]],
  ["NATIONAL_ID", ["BG", isEgn, "pnf"], "\\d{10}", ["егн", "egn"]],
  ["NATIONAL_ID", ["RO", "cnp"], "[1-9]\\d{12}", ["cnp", "cod numeric personal"]],
  // The number that the tax office gives to those without a CNP: no check digit.
  ["TAX_ID", ["RO", () => true], "9000\\d{9}", ["nif", "identificare fiscala", "identificare fiscală"]],
  ["NATIONAL_ID", ["HR", "oib"], "\\d{11}", ["oib"]],
  ["NATIONAL_ID", ["SI", "emso", "jmbg"], "\\d{13}", ["emšo", "emso"]],
  ["TAX_ID", ["SI", "ddv"], "\\d{8}", ["davčna", "davcna"]],
  ["NATIONAL_ID", ["RS", "jmbg"], "\\d{13}", ["jmbg", "јмбг"]],
  ["NATIONAL_ID", ["BA", "jmbg"], "\\d{13}", ["jmbg"]],
  ["NATIONAL_ID", ["GR", "amka"], "\\d{11}", ["αμκα", "amka", "α.μ.κ.α", "μητρώου κοινωνικής ασφάλισης"]],
  ["TAX_ID", ["GR", "vat"], "\\d{9}", ["αφμ", "afm", "α.φ.μ", "φορολογικού μητρώου"]],
  // The old identity card: letters that are Greek and Latin alike, no check digit.
  [
    "NATIONAL_ID",
    ["GR", ANY_OF_THE_FORM],
    "[A-ZΑ-Ω]{1,2}[ -]?\\d{6}",
    ["αδτ", "adt", "δελτίου ταυτότητας", "αριθμός ταυτότητας"],
  ],
  ["NATIONAL_ID", ["LV", isPersonasKods], "\\d{6}-?\\d{5}", ["personas kods", "personas kodu", "pers. kods"]],
  ["NATIONAL_ID", ["HU", isTaj], "\\d{3}[ -]?\\d{3}[ -]?\\d{3}", ["taj", "tajszám", "taj-szám"]],
  ["NATIONAL_ID", ["IS", "kennitala"], "\\d{6}-?\\d{4}", ["kennitala", "kt."]],
  ["NATIONAL_ID", ["PT", "cc"], "\\d{8} ?\\d ?[A-Z\\d]{2}\\d", ["cartão de cidadão", "cartao de cidadao", "citizen card"]],
  ["TAX_ID", ["CY", "vat"], "\\d{8}[A-Z]", ["tic", "tax identification"]],
  ["TAX_ID", ["IE", "pps"], "\\d{7}[A-W][A-IW]?", ["pps", "ppsn"]],
  ["NATIONAL_ID", ["CH", "ssn"], "756[.]?\\d{4}[.]?\\d{4}[.]?\\d{2}", ["ahv", "avs"]],
  ["NATIONAL_ID", ["AT", "vnr"], "\\d{4} ?\\d{6}", ["svnr", "sozialversicherung", "versicherungsnummer"]],
  ["TAX_ID", ["AT", "tin"], "\\d{2}[- ]?\\d{3}[/ ]?\\d{4}", ["steuernummer", "abgabenkonto"]],
  ["TAX_ID", ["ES", isCif], "[A-HJNPQRSUVW]\\d{7}[\\dA-J]", ["cif"]],
  ["TAX_ID", ["ES", isLetteredNif], "[KLM]\\d{7}[A-Z]", ["nif"]],
  ["TAX_ID", ["PL", "nip"], "\\d{3}-?\\d{3}-?\\d{2}-?\\d{2}", ["nip"]],
  [
    "TAX_ID",
    ["UA", "rntrc", "edrpou"],
    "\\d{10}",
    ["рнокпп", "rnokpp", "ідентифікаційний код", "ідентифікаційний номер", "облікової картки", "іпн", "інн"],
  ],
  ["NATIONAL_ID", ["UA", isUnzr], "(?:19|20)\\d{6}-?\\d{5}", ["унзр", "unzr", "запису в реєстрі"]],
  [
    "PASSPORT_NUMBER",
    ["RU", ANY_OF_THE_FORM],
    "\\d{2} ?\\d{2} ?(?:№ ?)?\\d{6}",
    ["паспорт рф", "паспорт гражданина", "паспорт серии", "серия и номер"],
  ],
  ["NATIONAL_ID", ["RU", isSnils], "\\d{3}[- ]?\\d{3}[- ]?\\d{3}[- ]?\\d{2}", ["снилс", "snils"]],
  ["NATIONAL_ID", ["KZ", isIin], "\\d{12}", ["иин", "жсн"]],
  ["TAX_ID", ["RU", "inn"], "\\d{10}(?:\\d{2})?", ["инн"]],
  ["TAX_ID", ["FR", "nif", "siren"], "\\d{2} ?\\d{2} ?\\d{3} ?\\d{3} ?\\d{3}", ["numéro fiscal", "numero fiscal", "spi"]],
  ["TAX_ID", ["BR", "cpf"], "\\d{3}[.]?\\d{3}[.]?\\d{3}-?\\d{2}", ["cpf"]],
  ["NATIONAL_ID", ["BR", isPis], "\\d{3}[.]?\\d{5}[.]?\\d{2}-?\\d", ["pis", "pasep", "pis/pasep", "nis", "nit"]],
  ["TAX_ID", ["ZA", "tin"], "\\d{10}", ["sars", "tax reference"]],
  ["TAX_ID", ["AR", "cuit"], "\\d{2}-?\\d{8}-?\\d", ["cuit", "cuil"]],
  ["NATIONAL_ID", ["CL", "rut", "run"], "\\d{1,2}[.]?\\d{3}[.]?\\d{3}-?[\\dK]", ["rut", "run"]],
  ["TAX_ID", ["CO", "nit"], "\\d{3}[.]?\\d{3}[.]?\\d{3}-?\\d", ["nit"]],
  ["NATIONAL_ID", ["EC", "ci"], "\\d{10}", ["cédula", "cedula"]],
  ["NATIONAL_ID", ["MX", "curp"], "[A-Z]{4}\\d{6}[HM][A-Z]{5}[A-Z\\d]\\d", ["curp"]],
  ["TAX_ID", ["MX", "rfc"], "[A-ZÑ&]{3,4}\\d{6}[A-Z\\d]{3}", ["rfc"]],
  ["NATIONAL_ID", ["CN", "ric", isOldChineseId], "(?:\\d{17}[\\dX]|\\d{15})", ["身份证", "resident identity"]],
  ["NATIONAL_ID", ["HK", isHkid], "[A-Z]{1,2}\\d{6}(?:\\([\\dA]\\)|\\[[\\dA]\\]|[\\dA])", ["hkid", "身份證"]],
  ["NATIONAL_ID", ["TW", "natid", "ui"], "[A-Z][A-D1289]\\d{8}", ["身分證", "居留證"]],
  ["NATIONAL_ID", ["MY", "nric"], "\\d{6}-?\\d{2}-?\\d{4}", ["mykad", "kad pengenalan"]],
  ["NATIONAL_ID", ["PK", "cnic"], "\\d{5}-?\\d{7}-?\\d", ["cnic"]],
  ["NATIONAL_ID", ["IL", "idnr"], "\\d{9}", ["teudat zehut", "תעודת זהות"]],
  ["TAX_ID", ["ID", "npwp"], "\\d{2}[.]?\\d{3}[.]?\\d{3}[.]?\\d-?\\d{3}[.]?\\d{3}", ["npwp"]],
  [
    "NATIONAL_ID",
    ["ID", isNik],
    "\\d{2}[.]?\\d{2}[.]?\\d{2}[. ]?\\d{6}[. ]?\\d{4}",
    ["nik", "ktp", "e-ktp", "nomor induk kependudukan"],
  ],
  ["TAX_ID", ["NZ", "ird"], "\\d{2,3}[- ]?\\d{3}[- ]?\\d{3}", ["ird"]],
  ["TAX_ID", ["US", "ein"], "\\d{2}[- ]\\d{7}", ["ein", "employer identification"]],
  ["TAX_ID", ["DE", "idnr"], "\\d{2,3}[/ ]?\\d{3}[/ ]?\\d{3,4}[/ ]?\\d{1,3}", ["idnr", "identifikationsnummer"]],
  ["TAX_ID", ["HU", isHungarianTaxId], "8\\d{9}", ["adóazonosító", "adoazonosito"]],
  ["NATIONAL_ID", ["LU", isMatricule], "[12]\\d{12}", ["matricule"]],
  ["TAX_ID", ["MT", isMalteseTin], "(?:\\d{3,7}[ABGHLMPZ]|\\d{9})", ["tin", "tax identification", "identity card"]],
  ["NATIONAL_ID", ["LK", isSriLankanId], "[1-9]\\d{8}(?:[VX]|\\d{3})", ["nic", "identity card"]],
  ["NATIONAL_ID", ["LY", () => true], "[12](?:19|20)\\d{9}", ["الرقم الوطني", "national number"]],
  // Check digits: Luhn (Absher; ICP of the Emirates), ordinance 85 of 2014, article 5 (Japan). Egypt: century, date, governorate.
  ["NATIONAL_ID", ["SA", isLuhnId], "[12]\\d{9}", ["رقم الهوية", "هوية", "الهوية الوطنية", "الإقامة", "iqama", "هويتي"]],
  ["NATIONAL_ID", ["AE", isLuhnId], "784-?(?:19|20)\\d{2}-?\\d{7}-?\\d", ["الهوية", "هوية", "هويتي", "emirates id"]],
  ["NATIONAL_ID", ["EG", isEgyptianId], "[23]\\d{13}", ["الرقم القومي", "رقم قومي", "رقمه القومي", "رقمها القومي", "بطاقة"]],
  ["NATIONAL_ID", ["JP", isMyNumber], "\\d{4}[ -]?\\d{4}[ -]?\\d{4}", ["マイナンバー", "個人番号", "my number"]],
  ["TAX_ID", ["GB", "utr"], "\\d{10}", ["utr", "unique taxpayer"]],
];

/** Numbers of businesses that are registered for value added tax: prefix, checks, structure behind the prefix (VIES, HMRC, UID register, Skatteetaten). */
const VAT: readonly (readonly [prefix: string, checks: Checks, structure: string])[] = [
  ["ATU", ["AT", "uid"], "\\d{8}"],
  ["BE", ["BE", "vat"], "[01]\\d{3}[. ]?\\d{3}[. ]?\\d{3}"],
  ["BG", ["BG", "vat"], "\\d{9,10}"],
  ["CHE", ["CH", "vat", "uid"], "[- ]?\\d{3}[. ]?\\d{3}[. ]?\\d{3}(?: ?(?:MWST|TVA|IVA))?"],
  ["CY", ["CY", "vat"], "\\d{8}[A-Z]"],
  ["CZ", ["CZ", "dic"], "\\d{8,10}"],
  ["DK", ["DK", "cvr"], "\\d{2} ?\\d{2} ?\\d{2} ?\\d{2}"],
  ["EE", ["EE", "kmkr"], "\\d{9}"],
  ["EL", ["GR", "vat"], "\\d{9}"],
  ["ES", ["ES", "nif", "cif", "nie", "dni"], "[A-Z\\d]\\d{7}[A-Z\\d]"],
  ["FI", ["FI", "alv"], "\\d{8}"],
  ["FR", ["FR", "tva"], "[A-HJ-NP-Z\\d]{2} ?\\d{3} ?\\d{3} ?\\d{3}"],
  ["GB", ["GB", "vat"], "(?:GD[0-4]\\d{2}|HA[5-9]\\d{2}|\\d{3} ?\\d{4} ?\\d{2}(?: ?\\d{3})?)"],
  ["HR", ["HR", "oib"], "\\d{11}"],
  ["HU", ["HU", "anum"], "\\d{8}"],
  ["IE", ["IE", "vat"], "\\d[A-Z\\d+*]\\d{5}[A-Z]{1,2}"],
  ["IT", ["IT", "iva"], "\\d{11}"],
  ["LT", ["LT", "pvm"], "\\d{9}(?:\\d{3})?"],
  ["LU", ["LU", "tva"], "\\d{8}"],
  ["LV", ["LV", "pvn"], "\\d{11}"],
  ["MT", ["MT", "vat"], "\\d{8}"],
  ["NL", ["NL", "btw"], "\\d{9}B\\d{2}"],
  ["NO", ["NO", "mva"], "\\d{9}MVA"],
  ["PL", ["PL", "nip"], "\\d{3}-?\\d{2,3}-?\\d{2}-?\\d{2,3}"],
  ["PT", ["PT", "nif"], "\\d{9}"],
  ["RO", ["RO", "cif", "cui"], "\\d{2,10}"],
  ["SE", ["SE", "vat"], "\\d{12}"],
  ["SI", ["SI", "ddv"], "\\d{8}"],
  ["SK", ["SK", "dph"], "\\d{10}"],
];

const VAT_WORDS = ["vat", "tva", "iva", "btw", "mwst", "ust", "uid", "moms", "dph", "nip", "mva"];

/** Tax numbers of businesses outside these registers as invoices across borders carry them: prefix, country, structure. Checks where stdnum has one. */
const VAT_ELSEWHERE: readonly (readonly [prefix: string, country: string, structure: string, ...checks: string[]])[] = [
  ["AL", "AL", "\\d{9}[A-Z]"],
  ["AR", "AR", "\\d{11}"],
  ["AU", "AU", "\\d{11}", "abn"],
  ["УНП", "BY", "\\d{9}"],
  ["CA", "CA", "\\d{9}"],
  ["CL", "CL", "\\d{8}-\\d"],
  ["CO", "CO", "\\d{10}"],
  ["CR", "CR", "(?:\\d{9}|\\d{12})"],
  ["EC", "EC", "\\d{13}"],
  ["GT", "GT", "\\d{7}-\\d"],
  ["ID", "ID", "(?:\\d{15}|\\d{2}[.]\\d{3}[.]\\d{3}[.]\\d-\\d{3}[.]\\d{3})"],
  ["IL", "IL", "\\d{9}"],
  ["IN", "IN", "(?:\\d{15}|\\d{2}[A-Z]{5}\\d{4}[A-Z][A-Z\\d]Z[A-Z\\d])"],
  ["KZ", "KZ", "\\d{12}"],
  ["MX", "MX", "[A-Z]{3,4}\\d{6}[A-Z\\d]{3}"],
  ["NI", "NI", "\\d{3}-\\d{6}-\\d{4}[A-Z]"],
  ["NZ", "NZ", "\\d{9}"],
  ["PE", "PE", "\\d{11}"],
  ["PY", "PY", "\\d{6,8}-\\d"],
  ["RS", "RS", "\\d{9}"],
  ["SA", "SA", "\\d{15}"],
  ["SM", "SM", "\\d{5}"],
  ["SV", "SV", "\\d{4}-\\d{6}-\\d{3}-\\d"],
  ["TR", "TR", "\\d{10}"],
  ["UA", "UA", "\\d{12}"],
  ["UY", "UY", "\\d{12}"],
  ["UZ", "UZ", "\\d{9}"],
];

function namesOf([, ...checks]: Checks): string {
  return checks.map((check) => (typeof check === "string" ? check : "rule of the register")).join(" or ");
}

const hintOf = (country: string) => (country === "GB" ? "uk" : country.toLowerCase());
/** Passing excludes nothing: one plain number in ten has a right check digit. Failing does, by law. */
const excluding =
  (checks: Checks, prefix = "") =>
  (match: string): Verdict =>
    passes(checks, match.slice(prefix.length)) ? undefined : false;

/**
 * Identifiers of further countries, checked by stdnum. Personal ones are looked for only beside their names or under a hint at the country; VAT numbers are told
 * by their prefix.
 */
export const international: readonly Recogniser[] = [
  ...PERSONS.map(
    ([entity, checks, shape, names]): Recogniser => ({
      entity,
      country: hintOf(checks[0]),
      patterns: [
        {
          name: namesOf(checks),
          regex: new RegExp(`${start}${shape}${end}`, "gi"),
          score: checks.includes(ANY_OF_THE_FORM) ? 0 : 0.05,
        },
      ],
      validate: excluding(checks),
      context: names,
      onlyKnown: true,
      prior: 0.3,
    }),
  ),
  ...VAT.map(
    ([prefix, checks, structure]): Recogniser => ({
      entity: "VAT_ID",
      country: hintOf(checks[0]),
      patterns: [{ name: `${prefix} and number`, regex: new RegExp(`${start}${prefix} ?${structure}${end}`, "g"), score: 0.25 }],
      validate: (match) => passes(checks, match) || passes(checks, match.slice(prefix.length).trim()) || undefined,
      context: VAT_WORDS,
      needs: prefix,
      prior: 0.75,
    }),
  ),
  ...VAT_ELSEWHERE.map(
    ([prefix, country, structure, ...checks]): Recogniser => ({
      entity: "VAT_ID",
      country: country.toLowerCase(),
      patterns: [{ name: `${prefix} and number`, regex: new RegExp(`${start}${prefix} ?${structure}${end}`, "g"), score: 0.05 }],
      ...(checks.length === 0 ? {} : { validate: excluding([country, ...checks], prefix) }),
      context: VAT_WORDS,
      needs: prefix,
      onlyKnown: true,
      prior: 0.3,
    }),
  ),
];
