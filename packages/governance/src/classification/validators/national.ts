import { digitsOf, isDay, isDayOfAnyCentury, luhn, verhoeff, weighted } from "./checksums.ts";

/**
 * Rules of national numbers that the library lacks or takes laxly, each as its register publishes it. All take a match with its separators and are total.
 */

/** Czech and Slovak birth number (zákon 133/2000 Sb. § 13): nine digits up to 1953, then ten that 11 divides; months +50 for women, +20 from 2004 on. */
export function isBirthNumber(match: string): boolean {
  const d = digitsOf(match);
  const year = Number(d.slice(0, 2));
  const month = Number(d.slice(2, 4)) % 50;
  const day = Number(d.slice(4, 6));
  if (d.length === 9) return year <= 53 && d.slice(6) !== "000" && isDay(1900 + year, month, day);
  if (d.length !== 10) return false;
  const full = year >= 54 ? 1900 + year : 2000 + year;
  const plain = month > 20 && full >= 2004 ? month - 20 : month;
  // Until 1985 a rest of ten was written as the digit 0.
  const divides = Number(d) % 11 === 0 || (full < 1986 && Number(d.slice(0, 9)) % 11 === 10 && d.endsWith("0"));
  return isDay(full, plain, day) && divides;
}

/** Bulgarian ЕГН: months +20 for the 19th, +40 for the 21st century; weights 2, 4, 8, 5, 10, 9, 7, 3, 6. */
export function isEgn(match: string): boolean {
  const month = Number(match.slice(2, 4));
  const century = month > 40 ? 2000 : month > 20 ? 1800 : 1900;
  if (!isDay(century + Number(match.slice(0, 2)), month % 20, Number(match.slice(4, 6)))) return false;
  return (weighted(match, [2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11) % 10 === Number(match[9]);
}

/** Hong Kong identity card: one or two letters, six digits, check by weights 9 to 1 modulo 11 (a missing letter counts 36). */
export function isHkid(match: string): boolean {
  const v = match.replace(/[^0-9A-Za-z]/g, "").toUpperCase();
  const parts = /^([A-Z]{1,2})(\d{6})([\dA])$/.exec(v);
  if (parts === null) return false;
  const letters = [...(parts[1] ?? "").padStart(2, " ")].map((c) => (c === " " ? 36 : c.charCodeAt(0) - 55));
  const sum = (letters[0] ?? 0) * 9 + (letters[1] ?? 0) * 8 + weighted(parts[2] ?? "", [7, 6, 5, 4, 3, 2]);
  return (sum + Number.parseInt(parts[3] ?? "", 16)) % 11 === 0;
}

/** Provinces of the first two digits (GB/T 2260). */
const CHINESE_PROVINCE = /^(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3])/;

/** Chinese resident number of the first generation (GB 11643-1989): fifteen digits without a check digit. */
export function isOldChineseId(match: string): boolean {
  return (
    CHINESE_PROVINCE.test(match) &&
    isDay(1900 + Number(match.slice(6, 8)), Number(match.slice(8, 10)), Number(match.slice(10, 12)))
  );
}

/** Spanish CIF (Orden EHA/451/2008): the letter of the kind says whether the control is a digit or a letter. */
export function isCif(match: string): boolean {
  const digits = match.slice(1, 8);
  let sum = 0;
  for (let i = 0; i < 7; i++) {
    const d = Number(digits[i]);
    sum += i % 2 === 0 ? Math.floor((d * 2) / 10) + ((d * 2) % 10) : d;
  }
  const control = (10 - (sum % 10)) % 10;
  const [kind = "", given = ""] = [match[0], match[8]];
  const digit = given === String(control);
  const letter = given === "JABCDEFGHI"[control];
  if (/[ABEH]/.test(kind)) return digit;
  return /[NPQRSW]/.test(kind) ? letter : digit || letter;
}

/** Spanish NIF of K, L and M: seven digits and the letter of their rest by 23. */
export function isLetteredNif(match: string): boolean {
  return "TRWAGMYFPDXBNJZSQVHLCKE"[Number(match.slice(1, 8)) % 23] === match[8];
}

/** Consonants, then vowels, then X: how DM 23/12/1976 art. 2 and 3 take letters from a name. */
const ITALIAN_NAME = /^[B-DF-HJ-NP-TV-Z]*[AEIOU]*X*$/;
const OMOCODIA = "LMNPQRSTUV";

/** True when the letters of a codice fiscale can be those of a name and its day is one (+40 for women). */
export function isItalianNameAndDay(code: string): boolean {
  if (!ITALIAN_NAME.test(code.slice(0, 3)) || !ITALIAN_NAME.test(code.slice(3, 6))) return false;
  const plain = code.replace(/[LMNP-V]/g, (c) => String(OMOCODIA.indexOf(c)));
  const month = "ABCDEHLMPRST".indexOf(code[8] ?? "") + 1;
  return isDayOfAnyCentury(plain.slice(6, 8), String(month), String(Number(plain.slice(9, 11)) % 40));
}

/** Hungarian tax identifier (2017. évi CL. törvény 1. melléklet): 8, days since 1867, number, check by weights 1 to 9. */
export function isHungarianTaxId(match: string): boolean {
  return weighted(match, [1, 2, 3, 4, 5, 6, 7, 8, 9]) % 11 === Number(match[9]);
}

/** Luxembourg matricule (règlement grand-ducal du 21 mars 1979, amended 2011): birth date, number, Luhn digit, Verhoeff digit. */
export function isMatricule(match: string): boolean {
  if (!isDay(Number(match.slice(0, 4)), Number(match.slice(4, 6)), Number(match.slice(6, 8)))) return false;
  return luhn(match.slice(0, 12)) && verhoeff(match.slice(0, 11) + match.slice(12));
}

/** Maltese identity card number or taxpayer number (TIN description of the European Commission). */
export function isMalteseTin(match: string): boolean {
  if (/^\d{9}$/.test(match)) return /^([1-8])\1/.test(match);
  const digits = match.slice(0, -1).padStart(7, "0");
  if (/[AP]$/.test(match)) return !digits.endsWith("0");
  const serial = Number(digits.slice(0, 5));
  return serial <= 32_000 && serial !== Number(digits.slice(5));
}

/** Sri Lankan identity card: day of the year behind the year, +500 for women (Registration of Persons Act). */
export function isSriLankanId(match: string): boolean {
  const day = Number(match.length === 12 ? match.slice(4, 7) : match.slice(2, 5)) % 500;
  return day >= 1 && day <= 366;
}

/** Identity numbers of Saudi Arabia (residents and citizens) and the Emirates: Luhn over all digits. */
export function isLuhnId(match: string): boolean {
  return luhn(digitsOf(match));
}

/** Egyptian national number: century (2 or 3), date of birth, governorate. Its check digit is not published. */
export function isEgyptianId(match: string): boolean {
  const year = Number(match.slice(1, 3)) + (match[0] === "2" ? 1900 : 2000);
  const governorate = Number(match.slice(7, 9));
  return (
    isDay(year, Number(match.slice(3, 5)), Number(match.slice(5, 7))) &&
    ((governorate >= 1 && governorate <= 35) || governorate === 88)
  );
}

/** Japanese individual number (ordinance 85 of 2014, article 5). */
export function isMyNumber(match: string): boolean {
  const d = digitsOf(match);
  const rest = weighted(d, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  return Number(d[11]) === (rest <= 1 ? 0 : 11 - rest);
}

/** Indonesian NIK (Law 24 of 2013, article 64; codes of provinces of the Ministry of Home Affairs): district, day (+40 for women), month and year of birth, a number in turn. */
export function isNik(match: string): boolean {
  const d = digitsOf(match);
  const day = Number(d.slice(6, 8));
  return (
    d.length === 16 &&
    /^(?:1[1-9]|21|3[1-6]|5[1-3]|6[1-5]|7[1-6]|8[12]|9[1-7])(?!00)\d\d(?!00)/.test(d) &&
    !d.endsWith("0000") &&
    isDayOfAnyCentury(d.slice(10, 12), d.slice(8, 10), String(day > 40 ? day - 40 : day))
  );
}

/** Number of an entry in the Ukrainian register of persons, УНЗР (law 5492-VI, article 10): date of birth and five digits. */
export function isUnzr(match: string): boolean {
  const d = digitsOf(match);
  return d.length === 13 && isDay(Number(d.slice(0, 4)), Number(d.slice(4, 6)), Number(d.slice(6, 8)));
}

/** Latvian personas kods: since 2017 32 and nine digits, before that the date of birth, the century and a check digit (rules of the cabinet 130 of 2011; python-stdnum, lv.pvn). */
export function isPersonasKods(match: string): boolean {
  const d = digitsOf(match);
  if (d.length !== 11) return false;
  if (/^3[2-9]/.test(d)) return true;
  const century = 1800 + 100 * Number(d[6]);
  if (century > 2000 || !isDay(century + Number(d.slice(4, 6)), Number(d.slice(2, 4)), Number(d.slice(0, 2)))) return false;
  return ((1 + weighted(d, [10, 5, 8, 4, 2, 1, 6, 3, 7, 9])) % 11) % 10 === Number(d[10]);
}

/** Hungarian number of social security, TAJ (law XX of 1996, annex): weights 3 and 7 in turn. */
export function isTaj(match: string): boolean {
  const d = digitsOf(match);
  return d.length === 9 && weighted(d, [3, 7, 3, 7, 3, 7, 3, 7]) % 10 === Number(d[8]);
}

/** Russian SNILS (order 192p of the Pension Fund of 2006): weights 9 to 1 modulo 101, 100 is 00; numbers up to 001-001-998 have none. */
export function isSnils(match: string): boolean {
  const d = digitsOf(match);
  if (d.length !== 11 || Number(d.slice(0, 9)) <= 1_001_998) return false;
  return (weighted(d, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101) % 100 === Number(d.slice(9));
}

/** Kazakh ИИН (decree 853 of 2003): date of birth, sex and century, four digits; weights 1 to 11, and where that gives ten, 3 to 11 and 1, 2. */
export function isIin(match: string): boolean {
  if (!/^\d{12}$/.test(match) || !/^[1-6]$/.test(match[6] ?? "")) return false;
  if (!isDayOfAnyCentury(match.slice(0, 2), match.slice(2, 4), match.slice(4, 6))) return false;
  const first = weighted(match, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) % 11;
  const check = first === 10 ? weighted(match, [3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2]) % 11 : first;
  return check === Number(match[11]);
}

/** Brazilian PIS, PASEP, NIS and NIT (Caixa): weights 3, 2 and 9 to 2 modulo 11. */
export function isPis(match: string): boolean {
  const d = digitsOf(match);
  if (d.length !== 11 || /^(\d)\1*$/.test(d)) return false;
  const rest = 11 - (weighted(d, [3, 2, 9, 8, 7, 6, 5, 4, 3, 2]) % 11);
  return (rest > 9 ? 0 : rest) === Number(d[10]);
}
