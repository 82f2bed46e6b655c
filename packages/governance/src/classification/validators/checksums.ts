/** Check digit algorithms over plain digit strings. All are total: what is not of the shape is simply not valid. */

/** Luhn, ISO/IEC 7812-1 annex B. */
export function luhn(digits: string): boolean {
  let sum = 0;
  for (let i = digits.length - 1, double = false; i >= 0; i--, double = !double) {
    let d = digits.charCodeAt(i) - 48;
    if (d < 0 || d > 9) return false;
    if (double) {
      d *= 2;
      if (d > 9) d -= 9;
    }
    sum += d;
  }
  return digits.length > 0 && sum % 10 === 0;
}

const DIHEDRAL = [
  "0123456789",
  "1234067895",
  "2340178956",
  "3401289567",
  "4012395678",
  "5987604321",
  "6598710432",
  "7659821043",
  "8765932104",
  "9876543210",
];
const PERMUTATION = [
  "0123456789",
  "1576283094",
  "5803796142",
  "8916043527",
  "9453126870",
  "4286573901",
  "2793806415",
  "7046913258",
];

/** Verhoeff, the last digit is the check digit. */
export function verhoeff(digits: string): boolean {
  let c = 0;
  for (let i = 0; i < digits.length; i++) {
    const d = digits.charCodeAt(digits.length - 1 - i) - 48;
    if (d < 0 || d > 9) return false;
    c = Number(DIHEDRAL[c]?.[Number(PERMUTATION[i % 8]?.[d])]);
  }
  return digits.length > 1 && c === 0;
}

/** Sum of digits times weights, from the left. */
export function weighted(digits: string, weights: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += (digits.charCodeAt(i) - 48) * (weights[i] ?? 0);
  return sum;
}

/** ISO 7064 MOD 11,10 with the check digit last. */
export function mod11And10(digits: string): boolean {
  let product = 10;
  for (let i = 0; i < digits.length - 1; i++) {
    let sum = (digits.charCodeAt(i) - 48 + product) % 10;
    if (sum === 0) sum = 10;
    product = (sum * 2) % 11;
  }
  const check = (11 - product) % 10;
  return check === digits.charCodeAt(digits.length - 1) - 48;
}

/** ICAO 9303 check digit: weights 7, 3, 1, letters from 10. */
export function icao(value: string): boolean {
  const weights = [7, 3, 1];
  let sum = 0;
  for (let i = 0; i < value.length - 1; i++) sum += Number.parseInt(value[i] ?? "", 36) * (weights[i % 3] ?? 0);
  return sum % 10 === Number(value[value.length - 1]);
}

/** ISO 7064 MOD 97-10 over letters and digits, as IBAN uses it after moving four characters to the end. */
export function mod97(value: string): number {
  let rest = 0;
  for (const c of value) {
    const n = Number.parseInt(c, 36);
    rest = (n > 9 ? rest * 100 + n : rest * 10 + n) % 97;
  }
  return rest;
}

/** True for a day of the Gregorian calendar; `year` has four digits. */
export function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day <= ([31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0);
}

/** A day whose century is not known: true when it is one in any century. */
export function isDayOfAnyCentury(yy: string, mm: string, dd: string): boolean {
  return isDay(2000 + Number(yy), Number(mm), Number(dd)) || isDay(1900 + Number(yy), Number(mm), Number(dd));
}

/** Only the digits of a text. */
export function digitsOf(text: string): string {
  return text.replace(/[^0-9]/g, "");
}

/** Only letters and digits, upper case. */
export function alphanumericsOf(text: string): string {
  return text.replace(/[^0-9A-Za-z]/g, "").toUpperCase();
}

/** All characters equal, such as 111111111: a placeholder, not an id. */
export function repeats(text: string): boolean {
  return text.length > 0 && text === (text[0] ?? "").repeat(text.length);
}
