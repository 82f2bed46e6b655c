import { checkArgument } from "@seneschal/kernel";
import { luhn, repeats } from "./checksums.ts";

/** Issuer ranges of ISO/IEC 7812 with the lengths that their networks issue. */
const ISSUERS: readonly (readonly [name: string, prefix: RegExp, lengths: readonly number[]])[] = [
  ["Visa", /^4/, [13, 16, 19]],
  ["Mastercard", /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  ["AmEx", /^3[47]/, [15]],
  ["DinersClub", /^(?:30[0-5]|309|36|38|39)/, [14, 15, 16, 17, 18, 19]],
  ["Discover", /^(?:6011|64[4-9]|65)/, [16, 17, 18, 19]],
  ["JCB", /^35/, [16, 17, 18, 19]],
  ["JCB", /^(?:2131|1800)/, [15]],
  ["UnionPay", /^(?:62|81)/, [14, 15, 16, 17, 18, 19]],
  ["Maestro", /^(?:50|5[6-9]|6|0604)/, [12, 13, 14, 15, 16, 17, 18, 19]],
  ["RuPay", /^(?:60|65|81|82|508)/, [16]],
  ["Mir", /^220[0-4]/, [16, 17, 18, 19]],
  ["Troy", /^9792/, [16]],
  ["UATP", /^1/, [15]],
];

/** Networks whose ranges hold the number, without checking the check digit. */
export function cardNetworks(digits: string): readonly string[] {
  return [
    ...new Set(
      ISSUERS.filter(([, prefix, lengths]) => prefix.test(digits) && lengths.includes(digits.length)).map(([name]) => name),
    ),
  ];
}

/** True for a card number: an issuer range of a network, its length, Luhn, and not one digit repeated. */
export function isCardNumber(digits: string): boolean {
  checkArgument("digits", digits, "string");
  return digits.length >= 12 && digits.length <= 19 && !repeats(digits) && luhn(digits) && cardNetworks(digits).length > 0;
}
