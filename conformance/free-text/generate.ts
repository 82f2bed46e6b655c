import { KINDS, type Random } from "../cases/generated-identifiers.ts";
import type { Category, Language, Source, Templates } from "./template.ts";
import type { Values, ValuesOf } from "./values.ts";

/** A value in a text, as its writer meant it. Offsets are UTF-16 code units, `end` exclusive. */
interface Label {
  readonly entity: string;
  readonly start: number;
  readonly end: number;
}

/** A text with everything in it that is to be found. */
export interface LabelledText {
  readonly text: string;
  readonly language: Language;
  readonly source: Source;
  readonly labels: readonly Label[];
  readonly categories: readonly Category[];
}

/** Entities of the places; places that are not here are not labelled. */
const ENTITY: Readonly<Record<string, string>> = {
  person: "PERSON",
  first: "PERSON",
  last: "PERSON",
  email: "EMAIL_ADDRESS",
  phone: "PHONE_NUMBER",
  dob: "DATE_OF_BIRTH",
  address: "STREET_ADDRESS",
  iban: "IBAN_CODE",
  card: "CREDIT_CARD",
  ip: "IP_ADDRESS",
  geo: "GEO_LOCATION",
  secret: "SECRET",
  password: "SECRET",
  city: "LOCATION",
  org: "ORGANIZATION",
  nid: "NATIONAL_ID",
};

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const chars = (random: Random, alphabet: string, n: number) =>
  Array.from({ length: n }, () => pick(random, [...alphabet])).join("");
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const ALPHANUMERIC = `${LETTERS}${LETTERS.toUpperCase()}0123456789`;

/** A sequence that is the same everywhere (Knuth's linear congruential generator). */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const PHONES: Readonly<Record<Language, readonly string[]>> = {
  en: ["+44 20 79## ####", "(212) 555-####", "415-555-####", "+1 617 555 ####", "07700 9#####"],
  de: ["+49 30 2######", "0171 2######", "030/23#####"],
  fr: ["+33 6 12 ## ## ##", "01 42 ## ## ##", "06.12.##.##.##"],
  es: ["+34 612 ### ###", "91 5## ## ##", "612 ## ## ##"],
  it: ["+39 333 #######", "06 69## ####", "347 #######"],
  pt: ["+351 912 ### ###", "21 3## ## ##", "912 ### ###"],
  nl: ["+31 6 12######", "020 62# ####", "06-12######"],
  ar: ["+966 5# ### ####", "05########", "010########", "+971 50 ### ####"],
  hi: ["+91 98### #####", "98########", "98### #####"],
  zh: ["138########", "139 #### ####", "+86 138 #### ####", "010-8#######"],
  ja: ["090-####-####", "080-####-####", "03-3###-####", "+81 90 #### ####"],
};

/** The digit zero as it is written beside a script; each of its languages writes Latin digits too. */
const ZERO: Readonly<Partial<Record<Language, number>>> = { ar: 0x660, hi: 0x966, zh: 0xff10, ja: 0xff10 };
const inDigitsFrom = (zero: number) => (value: string) => value.replace(/\d/g, (d) => String.fromCodePoint(zero + Number(d)));

const luhnCheck = (body: string): string => {
  let sum = 0;
  for (let i = 0; i < body.length; i++) {
    const d = Number(body[body.length - 1 - i]) * (i % 2 === 0 ? 2 : 1);
    sum += d > 9 ? d - 9 : d;
  }
  return String((10 - (sum % 10)) % 10);
};
const weighted = (body: string, weights: readonly number[]) =>
  [...body].reduce((sum, d, i) => sum + Number(d) * (weights[i] ?? 0), 0);

/** A national identifier with its check digit: Saudi Arabia and the Emirates, India, China (GB 11643), Japan (ordinance 85 of 2014, article 5). */
function nationalId(language: Language, random: Random): string {
  const digits = (n: number) => chars(random, "0123456789", n);
  const day = `${19}${7 + Math.floor(random() * 3)}${digits(1)}0${1 + Math.floor(random() * 9)}1${digits(1)}`;
  switch (language) {
    case "ar": {
      const body = random() < 0.6 ? `${pick(random, ["1", "2"])}${digits(8)}` : `784198${digits(8)}`;
      const whole = body + luhnCheck(body);
      return whole.length === 10 ? whole : whole.replace(/^(...)(....)(.......)(.)$/, "$1-$2-$3-$4");
    }
    case "hi":
      return KINDS.find(({ entity }) => entity === "IN_AADHAAR")?.make(random) ?? "";
    case "zh": {
      const body = `${pick(random, ["110101", "310104", "440305", "510104"])}${day}${digits(3)}`;
      return body + "10X98765432"[weighted(body, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11];
    }
    default: {
      const body = `${1 + Math.floor(random() * 9)}${digits(10)}`;
      const rest = weighted(body, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
      return body + String(rest <= 1 ? 0 : 11 - rest);
    }
  }
}

function makeValue(place: string, language: Language, values: Values, random: Random): string {
  const shaped = (shape: string) => shape.replace(/#/g, () => String(1 + Math.floor(random() * 9)));
  const kind = (entity: string) => KINDS.find((k) => k.entity === entity)?.make(random) ?? "";
  switch (place) {
    case "person": {
      const last = pick(random, values.last);
      const first = pick(random, values.first);
      if (language === "zh") return `${last}${first}`;
      if (language === "ja") return `${last}${pick(random, ["", " ", "\u3000"])}${first}`;
      if (language === "ar" || language === "hi") return `${first} ${last}`;
      const form = random();
      if (form < 0.8) return `${first} ${last}`;
      if (form < 0.88) return `${first} ${pick(random, [..."ABCDEGHJKLMPRST"])}. ${last}`;
      if (form < 0.94) return `${first}-${pick(random, values.first)} ${last}`;
      return `${first} ${last}-${pick(random, values.last).split(" ").at(-1)}`;
    }
    case "first":
    case "last":
    case "city":
    case "org":
    case "illness":
    case "drug":
      return pick(random, values[place]);
    case "address":
    case "salary":
    case "dob":
      return shaped(pick(random, values[place]));
    case "email": {
      if (language in ZERO) return `user${shaped("####")}@${pick(random, ["gmail.com", "example.org"])}`;
      const name = `${pick(random, values.first)}.${pick(random, values.last)}`.normalize("NFD").replace(/[^\w.]/g, "");
      return `${name.toLowerCase()}@${pick(random, ["gmail.com", "outlook.com", "posteo.net", "web.de", "acme-tools.com"])}`;
    }
    case "phone":
      return shaped(pick(random, PHONES[language]));
    case "nid":
      return nationalId(language, random);
    case "iban":
      return kind("IBAN_CODE");
    case "card":
      return kind("CREDIT_CARD");
    case "ip":
      return `${shaped("8#.1#.2#")}.${shaped("##")}`;
    case "geo":
      return shaped(pick(random, ["5#.52####, 1#.40####", "4#.71##° N, 7#.00##° W", "-3#.86####,15#.20####"]));
    case "secret":
      return pick(random, [
        () => `ghp_${chars(random, ALPHANUMERIC, 36)}`,
        () => `sk-proj-${chars(random, ALPHANUMERIC, 48)}`,
        () => `sk_live_${chars(random, ALPHANUMERIC, 24)}`,
        () => chars(random, ALPHANUMERIC, 40),
        () => chars(random, "0123456789abcdef", 32),
      ])();
    case "password":
      return `${chars(random, LETTERS, 4)}${chars(random, "!$%&#", 1)}${chars(random, ALPHANUMERIC, 5)}`;
    case "date":
      return shaped(pick(random, ["1# May", "2#/0#/202#", "202#-0#-1#"]));
    case "n":
      return shaped("####");
    default:
      throw new Error(`no place ${place}`);
  }
}

/** How texts are bent on their way; labels move along. */
type Noise = (piece: string, random: Random) => string;
const NOISE: readonly Noise[] = [
  (t) => t,
  (t) => t,
  (t) => t,
  (t) => t.replace(/ /g, "\u00a0"),
  (t) => t.normalize("NFD"),
  (t) => t.replace(/'/g, "’"),
  (t) => t.replace(/\n/g, "\r\n"),
  (t) => t.replace(/\n/g, "\n> "),
  (t) => t.replace(/ (?=\S)/g, (blank, at: number) => (at % 11 === 0 ? "  " : blank)),
];

/** `each` texts of every template. The same seed gives the same texts. */
export function generate(templates: Templates, values: ValuesOf, seed: number, each: number): LabelledText[] {
  const random = randomFrom(seed);
  const texts: LabelledText[] = [];
  for (const language of Object.keys(templates) as Language[]) {
    const own = values[language];
    if (own === undefined) throw new Error(`no values of ${language}`);
    const zero = ZERO[language];
    for (const [source, template, ...categories] of templates[language] ?? []) {
      for (let i = 0; i < each; i++) {
        const noise = pick(random, NOISE);
        const digits = zero !== undefined && random() < 0.4 ? inDigitsFrom(zero) : (value: string) => value;
        const labels: Label[] = [];
        let text = "";
        for (const piece of template.split(/(\{\w+\})/)) {
          const place = /^\{(\w+)\}$/.exec(piece)?.[1];
          const written = noise(place === undefined ? piece : digits(makeValue(place, language, own, random)), random);
          const entity = place === undefined ? undefined : ENTITY[place];
          if (entity !== undefined) labels.push({ entity, start: text.length, end: text.length + written.length });
          text += written;
        }
        texts.push({ text, language, source, labels, categories });
      }
    }
  }
  return texts;
}
