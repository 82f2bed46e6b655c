import { stdnum } from "stdnum";
import type { Recogniser, Verdict } from "../recogniser.ts";

/** `country` and the checks of the library that a value must pass one of. */
type Checks = readonly [country: string, ...ids: readonly string[]];

function passes([country, ...ids]: Checks, value: string): boolean {
  return ids.some((id) => stdnum[country]?.[id]?.validate(value).isValid === true);
}

const start = "(?<![\\dA-Za-z-])";
const end = "(?![\\dA-Za-z-])";

/** Identifiers of persons: country, checks, shape, names. Shapes are those of plain numbers, so that names or the country must speak for them. */
const PERSONS: readonly (readonly [entity: string, checks: Checks, shape: string, names: readonly string[]])[] = [
  [
    "NATIONAL_ID",
    ["FR", "nir"],
    "[12] ?\\d{2} ?\\d{2} ?\\d[\\dAB] ?\\d{3} ?\\d{3} ?\\d{2}",
    ["sécurité sociale", "securite sociale", "nir", "insee", "numéro de sécu"],
  ],
  [
    "NATIONAL_ID",
    ["BE", "nn", "bis", "insz"],
    "\\d{2}[.]?\\d{2}[.]?\\d{2}[- ]?\\d{3}[. ]?\\d{2}",
    ["rijksregister", "registre national", "insz", "niss"],
  ],
  ["NATIONAL_ID", ["NL", "bsn"], "\\d{9}", ["bsn", "burgerservicenummer", "sofinummer"]],
  ["TAX_ID", ["PT", "nif"], "\\d{9}", ["nif", "contribuinte"]],
  ["NATIONAL_ID", ["CZ", "dic"], "\\d{6}/?\\d{3,4}", ["rodné číslo", "rodne cislo", "birth number"]],
  ["NATIONAL_ID", ["SK", "rc"], "\\d{6}/?\\d{3,4}", ["rodné číslo", "rodne cislo", "birth number"]],
  ["NATIONAL_ID", ["DK", "cpr"], "\\d{6}-?\\d{4}", ["cpr", "personnummer"]],
  ["NATIONAL_ID", ["NO", "fodselsnummer"], "\\d{6} ?\\d{5}", ["fødselsnummer", "fodselsnummer", "personnummer"]],
  ["NATIONAL_ID", ["EE", "ik"], "[1-6]\\d{10}", ["isikukood"]],
  ["NATIONAL_ID", ["LT", "asmens"], "[3-6]\\d{10}", ["asmens kodas"]],
  ["NATIONAL_ID", ["BG", "egn", "pnf"], "\\d{10}", ["егн", "egn"]],
  ["NATIONAL_ID", ["RO", "cnp"], "[1-9]\\d{12}", ["cnp", "cod numeric personal"]],
  ["NATIONAL_ID", ["HR", "oib"], "\\d{11}", ["oib"]],
  ["NATIONAL_ID", ["SI", "emso", "jmbg"], "\\d{13}", ["emšo", "emso"]],
  ["TAX_ID", ["SI", "ddv"], "\\d{8}", ["davčna", "davcna"]],
  ["NATIONAL_ID", ["RS", "jmbg"], "\\d{13}", ["jmbg", "јмбг"]],
  ["NATIONAL_ID", ["BA", "jmbg"], "\\d{13}", ["jmbg"]],
  ["NATIONAL_ID", ["GR", "amka"], "\\d{11}", ["αμκα", "amka"]],
  ["TAX_ID", ["GR", "vat"], "\\d{9}", ["αφμ", "afm"]],
  ["TAX_ID", ["CY", "vat"], "\\d{8}[A-Z]", ["tic", "tax identification"]],
  ["TAX_ID", ["IE", "pps"], "\\d{7}[A-W][A-IW]?", ["pps", "ppsn"]],
  ["NATIONAL_ID", ["CH", "ssn"], "756[.]?\\d{4}[.]?\\d{4}[.]?\\d{2}", ["ahv", "avs"]],
  ["NATIONAL_ID", ["AT", "vnr"], "\\d{4} ?\\d{6}", ["svnr", "sozialversicherung", "versicherungsnummer"]],
  ["TAX_ID", ["AT", "tin"], "\\d{2}[- ]?\\d{3}[/ ]?\\d{4}", ["steuernummer", "abgabenkonto"]],
  ["TAX_ID", ["ES", "cif"], "[A-HJNPQRSUVW]\\d{7}[\\dA-J]", ["cif"]],
  ["TAX_ID", ["PL", "nip"], "\\d{3}-?\\d{3}-?\\d{2}-?\\d{2}", ["nip"]],
  ["TAX_ID", ["UA", "rntrc", "edrpou"], "\\d{10}", ["рнокпп", "ідентифікаційний код", "інн"]],
  ["TAX_ID", ["RU", "inn"], "\\d{10}(?:\\d{2})?", ["инн"]],
  ["TAX_ID", ["FR", "nif", "siren"], "\\d{2} ?\\d{2} ?\\d{3} ?\\d{3} ?\\d{3}", ["numéro fiscal", "numero fiscal", "spi"]],
  ["TAX_ID", ["BR", "cpf"], "\\d{3}[.]?\\d{3}[.]?\\d{3}-?\\d{2}", ["cpf"]],
  ["TAX_ID", ["AR", "cuit"], "\\d{2}-?\\d{8}-?\\d", ["cuit", "cuil"]],
  ["NATIONAL_ID", ["CL", "rut", "run"], "\\d{1,2}[.]?\\d{3}[.]?\\d{3}-?[\\dK]", ["rut", "run"]],
  ["TAX_ID", ["CO", "nit"], "\\d{3}[.]?\\d{3}[.]?\\d{3}-?\\d", ["nit"]],
  ["NATIONAL_ID", ["EC", "ci"], "\\d{10}", ["cédula", "cedula"]],
  ["NATIONAL_ID", ["MX", "curp"], "[A-Z]{4}\\d{6}[HM][A-Z]{5}[A-Z\\d]\\d", ["curp"]],
  ["TAX_ID", ["MX", "rfc"], "[A-ZÑ&]{3,4}\\d{6}[A-Z\\d]{3}", ["rfc"]],
  ["NATIONAL_ID", ["CN", "ric"], "\\d{17}[\\dX]", ["身份证", "resident identity"]],
  ["NATIONAL_ID", ["HK", "hkid"], "[A-Z]{1,2}\\d{6}\\(?[\\dA]\\)?", ["hkid", "身份證"]],
  ["NATIONAL_ID", ["TW", "natid", "ui"], "[A-Z][A-D1289]\\d{8}", ["身分證", "居留證"]],
  ["NATIONAL_ID", ["MY", "nric"], "\\d{6}-?\\d{2}-?\\d{4}", ["mykad", "kad pengenalan"]],
  ["NATIONAL_ID", ["PK", "cnic"], "\\d{5}-?\\d{7}-?\\d", ["cnic"]],
  ["NATIONAL_ID", ["IL", "idnr"], "\\d{9}", ["teudat zehut", "תעודת זהות"]],
  ["TAX_ID", ["ID", "npwp"], "\\d{2}[.]?\\d{3}[.]?\\d{3}[.]?\\d-?\\d{3}[.]?\\d{3}", ["npwp"]],
  ["TAX_ID", ["NZ", "ird"], "\\d{2,3}[- ]?\\d{3}[- ]?\\d{3}", ["ird"]],
  ["TAX_ID", ["US", "ein"], "\\d{2}-\\d{7}", ["ein", "employer identification"]],
  ["TAX_ID", ["GB", "utr"], "\\d{10}", ["utr", "unique taxpayer"]],
];

/** Numbers of businesses that are registered for value added tax: prefix, checks, structure behind the prefix (VIES, HMRC, UID register, Skatteetaten). */
const VAT: readonly (readonly [prefix: string, checks: Checks, structure: string])[] = [
  ["ATU", ["AT", "uid"], "\\d{8}"],
  ["BE", ["BE", "vat"], "[01]\\d{3}[. ]?\\d{3}[. ]?\\d{3}"],
  ["BG", ["BG", "vat"], "\\d{9,10}"],
  ["CHE", ["CH", "vat", "uid"], "-?\\d{3}[.]?\\d{3}[.]?\\d{3}(?: ?(?:MWST|TVA|IVA))?"],
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
  ["RO", ["RO", "cif", "cui"], "\\d{6,10}"],
  ["SE", ["SE", "vat"], "\\d{12}"],
  ["SI", ["SI", "ddv"], "\\d{8}"],
  ["SK", ["SK", "dph"], "\\d{10}"],
];

const hintOf = (country: string) => (country === "GB" ? "uk" : country.toLowerCase());
/** Passing excludes nothing: one plain number in ten has a right check digit. Failing does, by law. */
const excluding =
  (checks: Checks) =>
  (match: string): Verdict =>
    passes(checks, match) ? undefined : false;

/**
 * Identifiers of further countries, checked by stdnum. Personal ones are looked for only beside their names or under a hint at the country; VAT numbers are told
 * by their prefix.
 */
export const international: readonly Recogniser[] = [
  ...PERSONS.map(
    ([entity, checks, shape, names]): Recogniser => ({
      entity,
      country: hintOf(checks[0]),
      patterns: [{ name: checks.slice(1).join(" or "), regex: new RegExp(`${start}${shape}${end}`, "g"), score: 0.05 }],
      validate: excluding(checks),
      context: names,
      digits: 6,
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
      context: ["vat", "tva", "iva", "btw", "mwst", "ust", "uid", "moms", "dph", "nip", "mva"],
      digits: 3,
      needs: prefix,
      prior: 0.75,
    }),
  ),
];
