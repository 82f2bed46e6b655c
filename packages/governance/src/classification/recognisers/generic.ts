import { countrySpecs } from "ibantools";
import { parse as parseHost } from "tldts";
import type { Recogniser } from "../search/recogniser.ts";
import { isBitcoinAddress } from "../validators/bitcoin.ts";
import { isCardNumber } from "../validators/card.ts";
import { digitsOf, luhn, mod97, repeats } from "../validators/checksums.ts";
import { isIpv6 } from "./ip.ts";

const MAIL_WORDS = ["email", "e-mail", "mail", "address", "contact"];
const URL_WORDS = ["url", "website", "link", "web", "site", "domain", "page"];

const SCHEME_AND_HOST =
  "(?:https?|ftps?):\\/\\/(?:[\\w.~-]{0,63}(?::[^\\s@/:]{0,63})?@)?(?:[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?\\.){1,100}[\\p{L}][\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}]";

/** Entities of no country: mail, cards, accounts, addresses of machines, web addresses, wallets. */
export const generic: readonly Recogniser[] = [
  {
    entity: "CREDIT_CARD",
    patterns: [
      { name: "contiguous", regex: /(?<![\dA-Za-z])(?<!\d[.,])\d{12,19}(?![\dA-Za-z])(?!\.\d)/g, score: 0.3 },
      { name: "groups of four", regex: /(?<![A-Za-z\d-])\d{4}(?:[ ._-]\d{4}){2}[ ._-]\d{1,7}(?![A-Za-z\d])/g, score: 0.3 },
      { name: "five groups of four", regex: /(?<![A-Za-z\d-])\d{4}(?:[ ._-]\d{4}){3}[ ._-]\d{1,3}(?![A-Za-z\d])/g, score: 0.3 },
      { name: "four-six-five", regex: /(?<![A-Za-z\d-])\d{4}[ -]\d{6}[ -]\d{4,5}(?![A-Za-z\d])/g, score: 0.3 },
    ],
    validate: (match) => isCardNumber(digitsOf(match)),
    context: [
      "credit",
      "card",
      "visa",
      "mastercard",
      "amex",
      "american express",
      "discover",
      "jcb",
      "diners",
      "maestro",
      "debit",
      "cc",
      "cc#",
      "pan",
      "billed",
      "payment",
    ],
    prior: 0.8,
  },
  {
    // PCI DSS 3.3.1.2: what is printed on a card to verify it, under the names that brands give it.
    entity: "CREDIT_CARD",
    patterns: [
      {
        name: "card verification code",
        regex:
          /(?<=(?<![\p{L}\d])(?:cv[vc]2?|cvn2|cav2|card (?:security|verification) (?:code|number|value)|kartenprüfnummer|cryptogramme(?: visuel)?)["']?(?: (?:is|ist|est|es|è|é|code|number|no\.?))? ?[:=#]?["' ]{0,2})\d{3,4}(?![\p{L}\d])(?![.,]\d)/giu,
        score: 0.75,
      },
    ],
    context: [],
    needs: (text) => /cv[vcn]|cav2|security|verification|kartenpr|cryptogramme/i.test(text),
    prior: 0.9,
  },
  {
    // ISO/IEC 7813: month and year until which a card is valid; only where a card is spoken of.
    entity: "BANK_CARD_EXPIRY",
    patterns: [
      {
        name: "month and year of a card",
        regex:
          /(?<=(?<!\p{L})(?:exp(?:\.|iry|ires|iration|iring)?|valid (?:thru|until|till|to)|good thru|gültig bis|läuft ab|ablauf(?:datum)?|verfall(?:sdatum)?|expire(?: fin| le| en)?|expiration|valable jusqu'au|caduca|vence|caducidad|vencimiento|scad(?:enza|e)?|validade|vencimento|válido até|geldig tot|vervaldatum|verloopt|ważna do|giltig till|son kullanma)(?: ?(?:date|datum|on|am|in|le|en|el|il|em|op))?[ .:=]{1,3})(?:0[1-9]|1[0-2]) ?[/-] ?(?:20)?[2-4]\d(?![\d/-])/giu,
        score: 0.7,
      },
    ],
    context: [],
    needs: (text) =>
      /(?:\d[ -]?){13}|credit|debit|visa|mastercard|amex|cv[vc]|kredit|bancaire|crédito|carta di|creditcard/i.test(text) &&
      /\d ?[/-] ?\d{2}/.test(text),
    prior: 0.9,
  },
  {
    entity: "EMAIL_ADDRESS",
    patterns: [
      {
        name: "address",
        regex:
          /(?<![\w.!#$%'*+^~-])[\w!#$%'*+^~-][\w.!#$%'*+^~-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]\b/g,
        score: 0.5,
      },
    ],
    validate: isMailAddress,
    context: MAIL_WORDS,
    needs: "@",
    prior: 0.9,
  },
  {
    entity: "EMAIL_ADDRESS",
    patterns: [
      {
        // RFC 6531: both sides in any script.
        name: "address with letters beyond ASCII",
        regex:
          /(?<![\p{L}\p{N}.!#$%'*+^~_-])[\p{L}\p{N}_+-][\p{L}\p{N}.!#$%'*+^~_-]{0,63}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}\p{L}[\p{L}\p{N}-]{0,61}[\p{L}\p{N}](?![\p{L}\p{N}])/gu,
        score: 0.5,
      },
    ],
    validate: isMailAddress,
    context: MAIL_WORDS,
    needs: (text) => text.includes("@") && /[^ -~\s]/.test(text),
    prior: 0.9,
  },
  // As addresses stand in web addresses, and as people write them against robots.
  ...(["%40", "[at]", "(at)"] as const).map(
    (at): Recogniser => ({
      entity: "EMAIL_ADDRESS",
      patterns: [
        {
          name: "address in disguise",
          regex: new RegExp(
            `(?<![\\w.-])\\w[\\w.+-]{0,63} ?${at.replace(/[[\]()]/g, "\\$&")} ?[A-Za-z0-9-]{1,63}(?: ?(?:\\.|\\[dot\\]|\\(dot\\)) ?[A-Za-z0-9-]{1,63}){1,4}\\b`,
            "gi",
          ),
          score: 0.5,
        },
      ],
      validate: (match) =>
        isMailAddress(
          match
            .toLowerCase()
            .replace(at, "@")
            .replace(/[[(]dot[\])]/g, ".")
            .replace(/ /g, ""),
        ),
      context: MAIL_WORDS,
      needs: at,
      prior: 0.9,
    }),
  ),
  {
    entity: "IBAN_CODE",
    patterns: [
      {
        name: "groups of four",
        regex: /(?<![\dA-Za-z])[A-Z]{2}\d{2}(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?(?![\dA-Za-z])/gi,
        score: 0.5,
      },
      {
        name: "groups with hyphens or dots",
        regex:
          /(?<![\dA-Za-z])[A-Z]{2}\d{2}(?:(?:-[A-Z0-9]{4}){2,7}(?:-[A-Z0-9]{1,4})?|(?:\.[A-Z0-9]{4}){2,7}(?:\.[A-Z0-9]{1,4})?)(?![\dA-Za-z])/g,
        score: 0.5,
      },
      { name: "contiguous", regex: /(?<![\dA-Za-z])[A-Z]{2}\d{2}[A-Z0-9]{11,30}(?![\dA-Za-z])/gi, score: 0.5 },
    ],
    fit: fitIban,
    validate: isIban,
    context: ["iban", "bank", "account", "transaction", "transfer"],
    prior: 0.95,
  },
  {
    entity: "MAC_ADDRESS",
    patterns: [
      {
        name: "colons",
        regex: /(?<![A-Za-z\d])(?<![A-Za-z\d]:)[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}(?![A-Za-z\d:])/g,
        score: 0.6,
      },
      { name: "hyphens", regex: /(?<![A-Za-z\d-])[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5}(?![A-Za-z\d-])/g, score: 0.6 },
      { name: "dots", regex: /(?<![A-Za-z\d.])[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}(?![A-Za-z\d])/g, score: 0.6 },
    ],
    validate: (match) => (repeats(match.replace(/[:.-]/g, "").toLowerCase()) ? false : undefined),
    context: ["mac", "hardware", "physical", "ethernet", "interface"],
    needs: (text) => /[\dA-Fa-f]{2}[:.-][\dA-Fa-f]{2}/.test(text),
    prior: 0.8,
  },
  {
    entity: "URL",
    patterns: [
      {
        name: "with scheme",
        regex: new RegExp(`(?<![A-Za-z\\d])${SCHEME_AND_HOST}(?::\\d{1,5})?(?:[/?#][^\\s"'<>\`]{0,2048})?`, "giu"),
        score: 0.6,
      },
      {
        // RFC 3986 has apostrophes in paths and empty ports; a sentence around the address would have its own.
        name: "alone in its field",
        regex: new RegExp(`^${SCHEME_AND_HOST}(?::\\d{0,5})?(?:[/?#][^\\s"<>\`]{0,2048})?$`, "giu"),
        score: 0.6,
      },
      {
        name: "with scheme and address",
        regex:
          /(?<![A-Za-z\d])(?:https?|ftps?):\/\/(?:[\w.~-]{0,63}(?::[^\s@/:]{0,63})?@)?(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]{2,45}\])(?![\w.-])(?::\d{1,5})?(?:[/?#][^\s"'<>`]{0,2048})?/gi,
        score: 0.6,
      },
      {
        // The quotes belong to the match, as in the peer's cases.
        name: "in quotes",
        regex: /"https?:\/\/[^\s"'<>`]{4,2048}"|'https?:\/\/[^\s"'<>`]{4,2048}'/gi,
        score: 0.6,
      },
    ],
    fit: fitUrl,
    validate: (match) => (isWebAddress(match) ? undefined : false),
    context: URL_WORDS,
    needs: "://",
    prior: 0.6,
  },
  {
    entity: "URL",
    patterns: [
      {
        name: "bare host",
        regex:
          /(?<![A-Za-z\d@./:-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z][A-Za-z-]{1,62}(?![A-Za-z\d@-])(?:[/?#][^\s"'<>`]{0,2048})?/g,
        score: 0.5,
      },
    ],
    fit: fitUrl,
    validate: (match) => (isWebAddress(match) ? undefined : false),
    context: URL_WORDS,
    needs: ".",
    prior: 0.6,
  },
  {
    entity: "CRYPTO",
    patterns: [
      { name: "base58", regex: /(?<![\dA-Za-z])[13][a-km-zA-HJ-NP-Z1-9]{25,34}(?![\dA-Za-z])/g, score: 0.5 },
      { name: "bech32", regex: /(?<![\dA-Za-z])bc1[02-9ac-hj-np-z]{11,71}(?![\dA-Za-z])/gi, score: 0.5 },
      { name: "ethereum", regex: /(?<![\dA-Za-z])0x[0-9a-fA-F]{40}(?![\dA-Za-z])/g, score: 0.5 },
    ],
    validate: (match) => (match.startsWith("0x") ? undefined : isBitcoinAddress(match)),
    context: ["wallet", "btc", "bitcoin", "crypto", "ethereum", "address"],
    needs: (text) => /[A-Za-z\d]{14}/.test(text),
    prior: 0.9,
  },
  {
    entity: "IMEI",
    patterns: [{ name: "imei", regex: /(?<![A-Za-z\d-])\d{2}-?\d{6}-?\d{6}-?\d(?![A-Za-z\d-])/g, score: 0.1 }],
    validate: (match) => (luhn(digitsOf(match)) ? undefined : false),
    context: ["imei"],
    prior: 0.2,
  },
  {
    entity: "VEHICLE_ID",
    patterns: [
      { name: "vin", regex: /(?<![\dA-Za-z])[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{8}(?![\dA-Za-z])/g, score: 0.1 },
      { name: "vin without check digit", regex: /(?<![\dA-Za-z])[A-HJ-NPR-Z0-9]{13}\d{4}(?![\dA-Za-z])/g, score: 0 },
    ],
    validate: isVin,
    context: ["vin", "chassis", "vehicle identification", "fahrgestell", "châssis", "bastidor", "telaio"],
    digits: 4,
    prior: 0.3,
  },
];

/** RFC 5321 dot-string at a host that ends in a public suffix. */
function isMailAddress(match: string): boolean {
  const at = match.lastIndexOf("@");
  const local = match.slice(0, at);
  const host = match.slice(at + 1);
  return !local.endsWith(".") && !local.includes("..") && (isPublicHost(host) || isPrivateHost(host));
}

/**
 * Names that no registry delegates and networks use all the same: the special-use names of IANA's register (RFC 6761, 6762 with its appendix G, 7686, 8375,
 * 9476) and `internal`, which ICANN reserves for private use.
 */
const PRIVATE_NAMES = new Set(
  "example test invalid localhost local localdomain onion alt arpa internal intranet private corp home lan".split(" "),
);

/** True when a host of several labels ends in a name that is kept for networks of one's own: people have addresses of mail and accounts there. */
function isPrivateHost(host: string): boolean {
  return host.length <= 253 && host.includes(".") && PRIVATE_NAMES.has(host.slice(host.lastIndexOf(".") + 1).toLowerCase());
}

/**
 * ISO 13616: the structure of the country and the check digits. Check digits inside national account numbers are not asked for: banks have accounts that lack
 * them, and a number that passes modulo 97 is an account to whoever reads it. Lower case only when the whole is; spaces only between groups of four.
 */
function isIban(match: string): boolean {
  if (/[a-z]/.test(match) && /[A-Z]/.test(match)) return false;
  const compact = match.replace(/[ .-]/g, "").toUpperCase();
  const spec = countrySpecs[compact.slice(0, 2)];
  const bban = STRICT_BBAN[compact.slice(0, 2)] ?? spec?.bban_regexp;
  if (spec === undefined || bban === undefined || bban === null || compact.length !== spec.chars) return false;
  return new RegExp(bban).test(compact.slice(4)) && mod97(compact.slice(4) + compact.slice(0, 4)) === 1;
}

/** Structures of the SWIFT registry that the library has laxer or stricter. */
const STRICT_BBAN: Readonly<Record<string, string>> = {
  GB: "^[A-Z]{4}\\d{14}$",
  IE: "^[A-Z]{4}\\d{14}$",
  NL: "^[A-Z]{4}\\d{10}$",
  PS: "^[A-Z]{4}[A-Z0-9]{21}$",
  VG: "^[A-Z]{4}\\d{16}$",
};

/** A grouped match may have swallowed the word behind it: cuts it to the length of its country. */
function fitIban(match: string): string {
  let left = countrySpecs[match.slice(0, 2).toUpperCase()]?.chars ?? 0;
  let at = 0;
  for (; at < match.length && left > 0; at++) if (!/[ .-]/.test(match[at] ?? "")) left--;
  return left === 0 && (at === match.length || /[ .-]/.test(match[at] ?? "")) ? match.slice(0, at) : match;
}

/** Punctuation of the sentence around a web address does not belong to it, nor does a bracket that was opened before it. */
function fitUrl(match: string, alone: boolean): string {
  if (alone || /^["']/.test(match)) return match;
  let end = match.length;
  for (; end > 0; end--) {
    const last = match[end - 1] ?? "";
    if (/[.,;:!?*\\]/.test(last)) continue;
    if (last !== ")" && last !== "]" && last !== "}") break;
    const opening = last === ")" ? "(" : last === "]" ? "[" : "{";
    if (match.slice(0, end).split(opening).length >= match.slice(0, end).split(last).length) break;
  }
  return match.slice(0, end);
}

/** RFC 3986 with a host that can be reached by name, or an address behind a scheme; a user part that is not empty, a port from 1. */
function isWebAddress(match: string): boolean {
  const [, scheme, user, host = "", port] =
    /^["']?(?:((?:https?|ftps?):\/\/))?(?:([^@/?#]{0,127})@)?(\[[^\]]{0,45}\]|[^/:?#"']{1,253})(?::(\d{1,5})(?!\d))?/i.exec(
      match,
    ) ?? [];
  if (user === ":" || user === "" || (port !== undefined && (Number(port) < 1 || Number(port) > 65_535))) return false;
  if (scheme !== undefined && isAddress(host)) return true;
  if (!isPublicHost(host)) return false;
  return scheme !== undefined || isLikelyHost(host);
}

/** An IPv4 address or an IPv6 one in brackets, as RFC 3986 has them for hosts. */
function isAddress(host: string): boolean {
  if (host.startsWith("[")) return isIpv6(host.slice(1, -1));
  return /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(host);
}

/** True when the host ends in a public suffix that ICANN delegates. */
function isPublicHost(host: string): boolean {
  if (host.length > 253) return false;
  const { isIcann, domain } = parseHost(host, { validateHostname: true });
  return isIcann === true && domain !== null;
}

const FILE_LIKE = new Set("py sh md rs pl ps zip mov java cc so ai app name".split(" "));

/** A bare host that is not rather a file name, a member access or the joint of two sentences (`end.So`). */
function isLikelyHost(host: string): boolean {
  const labels = host.split(".");
  if (labels.length === 2 && labels[0]?.toLowerCase() === "www") return false;
  const last = labels.at(-1) ?? "";
  if (labels.length === 2 && FILE_LIKE.has(last.toLowerCase())) return false;
  return last === last.toLowerCase() || host === host.toUpperCase();
}

const VIN_WEIGHTS = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
const VIN_VALUES = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ";

/** North American check digit (49 CFR 565); other makers do not set it, so failing decides nothing. */
function isVin(match: string): boolean | undefined {
  if (!/[A-Z]/.test(match) || repeats(match)) return false;
  let sum = 0;
  for (let i = 0; i < 17; i++) sum += (VIN_VALUES.indexOf(match[i] ?? "") % 10) * (VIN_WEIGHTS[i] ?? 0);
  return "0123456789X"[sum % 11] === match[8] ? true : undefined;
}
