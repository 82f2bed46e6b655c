import { stdnum } from "stdnum";

/** One kind of identifier: how values are made (by an independent library where a check digit is involved), how people write them, and what they call them. */
export interface IdentifierKind {
  readonly entity: string;
  readonly country?: string;
  /** A value as people write it. */
  make(random: Random): string;
  /** Names of the identifier in sentences; `{v}` is not part of them. */
  readonly names: readonly string[];
}

/** Draws from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

const pick = <T>(r: Random, list: readonly T[]): T => list[Math.floor(r() * list.length)] as T;
const from = (alphabet: string, n: number) => (r: Random) =>
  Array.from({ length: n }, () => alphabet[Math.floor(r() * alphabet.length)]).join("");
const digits = (n: number) => from("0123456789", n);
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** `#` a digit, `@` a letter, `*` either; anything else stands for itself. */
function shaped(r: Random, shape: string): string {
  return shape.replace(/[#@*]/g, (c) => from(c === "#" ? "0123456789" : c === "@" ? LETTERS : `${LETTERS}0123456789`, 1)(r));
}

/** A value of a shape that the library holds for valid. */
function valid(
  country: string,
  id: string,
  shape: string | ((r: Random) => string),
  accept: (v: string) => boolean = () => true,
) {
  const check = stdnum[country]?.[id];
  if (check === undefined) throw new Error(`no ${country}.${id}`);
  return (r: Random): string => {
    for (let i = 0; i < 200_000; i++) {
      const value = typeof shape === "string" ? shaped(r, shape) : shape(r);
      if (check.validate(value).isValid && accept(value)) return value;
    }
    throw new Error(`no ${country}.${id} of shape ${shape}`);
  };
}

/** Groups of the given widths, joined by one of the separators (one per value), or nothing between. */
function grouped(make: (r: Random) => string, widths: readonly number[], separators: readonly string[]) {
  return (r: Random): string => {
    const value = make(r);
    const separator = pick(r, separators);
    if (separator === "") return value;
    const parts: string[] = [];
    let at = 0;
    for (const width of widths) {
      parts.push(value.slice(at, at + width));
      at += width;
    }
    return parts.join(separator);
  };
}

const two = (n: number) => String(n).padStart(2, "0");
const birth = (r: Random) => ({
  yy: two(Math.floor(r() * 100)),
  mm: two(1 + Math.floor(r() * 12)),
  dd: two(1 + Math.floor(r() * 28)),
});
const luhnOf = (r: Random, head: string, length: number): string => {
  const body = head + digits(length - head.length - 1)(r);
  let sum = 0;
  for (let i = 0; i < body.length; i++) {
    let d = Number(body[body.length - 1 - i]);
    if (i % 2 === 0) d = d * 2 > 9 ? d * 2 - 9 : d * 2;
    sum += d;
  }
  return body + String((10 - (sum % 10)) % 10);
};
const card = (r: Random): string => {
  const [head, length] = pick(r, [
    ["4", 16],
    ["51", 16],
    ["55", 16],
    ["2221", 16],
    ["2650", 16],
    ["34", 15],
    ["37", 15],
    ["6011", 16],
    ["65", 16],
    ["3530", 16],
    ["36", 14],
    ["622126", 16],
    ["6304", 18],
    ["5018", 16],
    ["4", 19],
    ["2200", 16],
  ] as const);
  const value = luhnOf(r, head, length);
  const separator = pick(r, ["", "", " ", "-"]);
  if (separator === "") return value;
  const widths = value.length === 15 ? [4, 6, 5] : value.length === 14 ? [4, 6, 4] : [4, 4, 4, 4, 4];
  return grouped(() => value, widths, [separator])(r).replace(/[ -]+$/, "");
};
const IBAN_SHAPES: Readonly<Record<string, string>> = {
  DE: "##################",
  FR: "##########***********##",
  GB: "@@@@##############",
  NL: "@@@@##########",
  ES: "####################",
  IT: "@##########************",
  PL: "########################",
  SE: "####################",
  CH: "#####************",
  AT: "################",
  NO: "###########",
  BE: "############",
  PT: "#####################",
  DK: "##############",
  FI: "##############",
  CZ: "####################",
  HU: "########################",
  RO: "@@@@****************",
  GR: "#######****************",
  IE: "@@@@##############",
};
const iban = (r: Random): string => {
  const country = pick(r, Object.keys(IBAN_SHAPES));
  const body = shaped(r, IBAN_SHAPES[country] ?? "");
  const number = [...`${body}${country}00`].map((c) => String(Number.parseInt(c, 36))).join("");
  const check = two(98 - Number(BigInt(number) % 97n));
  const value = `${country}${check}${body}`;
  return pick(r, ["", " "]) === "" ? value : (value.match(/.{1,4}/g) ?? []).join(" ");
};
const verhoeffed = (length: number, first: string) => {
  const check = stdnum["IN"]?.["aadhaar"];
  return (r: Random): string => {
    for (;;) {
      const value = from(first, 1)(r) + digits(length - 1)(r);
      if (check?.validate(value).isValid) return value;
    }
  };
};
const npi = (r: Random): string => luhnOf(r, `80840${pick(r, ["1", "2"])}`, 15).slice(5);
const aba = (r: Random): string => {
  for (;;) {
    const v = pick(r, ["01", "02", "03", "06", "07", "10", "11", "12", "21", "26", "31", "32"]) + digits(7)(r);
    const d = [...v].map(Number);
    if (
      (3 * ((d[0] ?? 0) + (d[3] ?? 0) + (d[6] ?? 0)) +
        7 * ((d[1] ?? 0) + (d[4] ?? 0) + (d[7] ?? 0)) +
        (d[2] ?? 0) +
        (d[5] ?? 0) +
        (d[8] ?? 0)) %
        10 ===
      0
    )
      return v;
  }
};
const medicare = (r: Random): string => {
  const v = pick(r, ["2", "3", "4", "5", "6"]) + digits(7)(r);
  const check = [1, 3, 7, 9, 1, 3, 7, 9].reduce((sum, w, i) => sum + w * Number(v[i]), 0) % 10;
  return `${v}${check}${pick(r, [..."12345"])}`;
};
const nhs = (r: Random): string => {
  for (;;) {
    const v = pick(r, ["4", "6", "7"]) + digits(8)(r);
    const check = (11 - ([10, 9, 8, 7, 6, 5, 4, 3, 2].reduce((sum, w, i) => sum + w * Number(v[i]), 0) % 11)) % 11;
    if (check < 10) return `${v}${check}`;
  }
};
const ssn = (r: Random): string => {
  const area = 1 + Math.floor(r() * 898);
  return `${String(area === 666 ? 667 : area).padStart(3, "0")}-${two(1 + Math.floor(r() * 99))}-${String(1 + Math.floor(r() * 9998)).padStart(4, "0")}`;
};
const dvla = (r: Random): string => {
  const { yy, mm, dd } = birth(r);
  const name = pick(r, ["SMITH", "JONES", "KHAN9", "EVANS", "LEE99", "WRIGH", "PATEL"]);
  return `${name}${yy[0]}${mm}${dd}${yy[1]}${pick(r, ["AB", "J9", "KL", "M9"])}${pick(r, ["9", "8", "A"])}${from(LETTERS, 2)(r)}`;
};
const dea = (r: Random): string => {
  const d = digits(6)(r);
  const n = [...d].map(Number);
  const check = ((n[0] ?? 0) + (n[2] ?? 0) + (n[4] ?? 0) + 2 * ((n[1] ?? 0) + (n[3] ?? 0) + (n[5] ?? 0))) % 10;
  return `${pick(r, [..."ABFGM"])}${from(LETTERS, 1)(r)}${d}${check}`;
};
const bitcoin = [
  "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
  "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
  "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
  "1FeexV6bAHb8ybZjqQMjJrcCrHGW9sb6uF",
  "34xp4vRoCGJym3xR7yCVPFHoCNxv4Twseo",
];
const hosts = [
  "acme.co.uk",
  "uni-köln.de",
  "mail.example.com",
  "firma.at",
  "ministere.gouv.fr",
  "startup.io",
  "alumni.mit.edu",
  "nordic.museum",
  "shop.com.br",
  "otago.ac.nz",
];
const ascii = hosts.filter((h) => !/[^ -~]/.test(h));
const kvnr = (r: Random): string => {
  const letter = from(LETTERS, 1)(r);
  const body = digits(8)(r);
  const d = `${two(letter.charCodeAt(0) - 64)}${body}`;
  const sum = [...d].reduce((s, c, i) => {
    const p = Number(c) * (i % 2 === 0 ? 1 : 2);
    return s + Math.floor(p / 10) + (p % 10);
  }, 0);
  return `${letter}${body}${sum % 10}`;
};

/** The kinds, with names that people use for them in several languages. */
export const KINDS: readonly IdentifierKind[] = [
  {
    entity: "CREDIT_CARD",
    make: card,
    names: ["card number", "Visa", "credit card", "Kreditkarte", "numéro de carte", "charged to"],
  },
  { entity: "IBAN_CODE", make: iban, names: ["IBAN", "bank account", "Kontoverbindung", "compte", "please wire to"] },
  {
    entity: "EMAIL_ADDRESS",
    make: (r) =>
      `${pick(r, ["jo.doe", "x", "first_last", "a+tag", "o'neil", "sales-team", "j.r.r.tolkien", "user99"])}@${pick(r, ascii)}`,
    names: ["email", "contact", "Mailadresse", "cc", "write to"],
  },
  {
    entity: "MAC_ADDRESS",
    make: (r) => pick(r, [":", "-"]).replace(/./, (s) => Array.from({ length: 6 }, () => from("0123456789abcdef", 2)(r)).join(s)),
    names: ["MAC", "device", "interface", "hardware address"],
  },
  {
    entity: "IP_ADDRESS",
    make: (r) =>
      pick(r, [
        () => [0, 1, 2, 3].map(() => Math.floor(r() * 255)).join("."),
        () => Array.from({ length: 8 }, () => from("123456789abcdef", 4)(r)).join(":"),
        () => `2001:db8::${from("123456789abcdef", 3)(r)}`,
        () => `fe80::${from("123456789abcdef", 4)(r)}:${from("123456789abcdef", 2)(r)}`,
      ])(),
    names: ["IP", "server", "client", "from host", "login from"],
  },
  {
    entity: "URL",
    make: (r) =>
      `${pick(r, ["https://", "http://", "https://www."])}${pick(r, ascii)}${pick(r, ["", "/path/to?x=1", "/a-b_c.html", ":8080/", "/#top"])}`,
    names: ["see", "link", "website", "homepage"],
  },
  { entity: "CRYPTO", make: (r) => pick(r, bitcoin), names: ["wallet", "BTC", "send coins to", "bitcoin address"] },
  {
    entity: "DATE_TIME",
    make: (r) => {
      const { mm, dd } = birth(r);
      const y = 1950 + Math.floor(r() * 75);
      return pick(r, [
        `${y}-${mm}-${dd}`,
        `${dd}.${mm}.${y}`,
        `${dd}/${mm}/${y}`,
        `${y}/${mm}/${dd}`,
        `${Number(dd)} March ${y}`,
        `August ${Number(dd)}, ${y}`,
        `${y}-${mm}-${dd}T10:20:30Z`,
        `${Number(dd)}-Oct-${y}`,
      ]);
    },
    names: ["on", "date", "since", "due", "valid until"],
  },
  { entity: "US_SSN", country: "us", make: ssn, names: ["SSN", "social security number", "Social Security No.", "soc sec"] },
  {
    entity: "US_ITIN",
    country: "us",
    make: (r) => `9${digits(2)(r)}-${pick(r, ["70", "75", "88", "90", "94", "52", "65"])}-${digits(4)(r)}`,
    names: ["ITIN", "individual taxpayer identification number"],
  },
  { entity: "ABA_ROUTING_NUMBER", country: "us", make: aba, names: ["routing number", "ABA", "routing no.", "RTN"] },
  {
    entity: "US_BANK_NUMBER",
    country: "us",
    make: (r) => digits(10 + Math.floor(r() * 5))(r).replace(/^0/, "7"),
    names: ["checking account", "bank account number", "savings account", "acct"],
  },
  {
    entity: "US_PASSPORT",
    country: "us",
    make: (r) => pick(r, [() => shaped(r, "@########"), () => digits(9)(r)])(),
    names: ["US passport", "passport number", "passport no"],
  },
  {
    entity: "US_DRIVER_LICENSE",
    country: "us",
    make: (r) => shaped(r, pick(r, ["@#######", "@############", "@########"])),
    names: ["driver license", "driver's license number", "driving license", "DL number"],
  },
  {
    entity: "US_MBI",
    country: "us",
    make: (r) => {
      const a = "ACDEFGHJKMNPQRTUVWXY";
      const l = () => from(a, 1)(r);
      const x = () => from(`${a}0123456789`, 1)(r);
      const d = () => digits(1)(r);
      const p = [`${from("123456789", 1)(r)}${l()}${x()}${d()}`, `${l()}${x()}${d()}`, `${l()}${l()}${d()}${d()}`];
      return p.join(pick(r, ["", "-"]));
    },
    names: ["MBI", "Medicare beneficiary", "Medicare number"],
  },
  { entity: "US_NPI", country: "us", make: npi, names: ["NPI", "national provider identifier", "provider number"] },
  { entity: "MEDICAL_LICENSE", country: "us", make: dea, names: ["DEA number", "DEA registration", "prescriber DEA"] },
  {
    entity: "UK_NHS",
    country: "uk",
    make: grouped(nhs, [3, 3, 4], ["", " ", "-"]),
    names: ["NHS number", "NHS no", "National Health Service"],
  },
  {
    entity: "UK_NINO",
    country: "uk",
    make: (r) =>
      grouped(
        () => `${pick(r, ["AB", "CE", "JR", "PW", "SX", "HG"])}${digits(6)(r)}${pick(r, [..."ABCD"])}`,
        [2, 2, 2, 2, 1],
        ["", " "],
      )(r),
    names: ["NINO", "National Insurance number", "NI number"],
  },
  {
    entity: "UK_PASSPORT",
    country: "uk",
    make: (r) => shaped(r, "@@#######"),
    names: ["UK passport", "British passport", "passport number"],
  },
  { entity: "UK_DRIVING_LICENCE", country: "uk", make: dvla, names: ["driving licence", "DVLA number", "driver number"] },
  {
    entity: "UK_POSTCODE",
    country: "uk",
    make: (r) => pick(r, ["SW1A 1AA", "M1 1AE", "B33 8TH", "CR2 6XH", "DN55 1PT", "EC1A 1BB", "G12 8QQ", "LS9 7TF"]),
    names: ["postcode", "post code", "delivery address"],
  },
  {
    entity: "UK_VEHICLE_REGISTRATION",
    country: "uk",
    make: (r) =>
      `${pick(r, ["LK", "AB", "YX", "BD", "GN"])}${pick(r, ["02", "19", "51", "68", "24", "73"])}${pick(r, ["", " "])}${from("ABCDEFGHJKLMNOPRSTUVWXYZ", 3)(r)}`,
    names: ["number plate", "vehicle registration", "car reg", "VRM"],
  },
  {
    entity: "DE_TAX_ID",
    country: "de",
    make: valid("DE", "idnr", (r) => from("123456789", 1)(r) + digits(10)(r), oneRepeated),
    names: ["Steuer-ID", "steuerliche Identifikationsnummer", "IdNr.", "German tax id"],
  },
  {
    entity: "DE_VAT_ID",
    country: "de",
    make: valid("DE", "vat", "DE#########"),
    names: ["USt-IdNr.", "VAT ID", "Umsatzsteuer-Identifikationsnummer"],
  },
  {
    entity: "DE_SOCIAL_SECURITY",
    country: "de",
    make: valid("DE", "svnr", (r) => {
      const { yy, mm, dd } = birth(r);
      return `${pick(r, ["02", "12", "15", "53", "65"])}${dd}${mm}${yy}${from(LETTERS, 1)(r)}${digits(3)(r)}`;
    }),
    names: ["Sozialversicherungsnummer", "Rentenversicherungsnummer", "SV-Nummer"],
  },
  {
    entity: "DE_HEALTH_INSURANCE",
    country: "de",
    make: kvnr,
    names: ["Krankenversichertennummer", "KVNR", "Versichertennummer der Krankenkasse"],
  },
  {
    entity: "DE_FUEHRERSCHEIN",
    country: "de",
    make: (r) => shaped(r, "@@########*"),
    names: ["Führerschein", "Führerscheinnummer", "Fahrerlaubnis"],
  },
  {
    entity: "DE_HANDELSREGISTER",
    country: "de",
    make: (r) => `${pick(r, ["HRB", "HRA"])} ${digits(4 + Math.floor(r() * 3))(r).replace(/^0/, "3")}`,
    names: ["Amtsgericht München", "Handelsregister", "Registergericht Köln"],
  },
  {
    entity: "DE_KFZ",
    country: "de",
    make: (r) =>
      `${pick(r, ["B", "HH", "M", "KA", "LB", "S", "WES"])}${pick(r, ["-", " "])}${from(LETTERS, 2)(r)} ${from("123456789", 1)(r)}${digits(2)(r)}`,
    names: ["Kennzeichen", "Nummernschild", "Kfz-Kennzeichen"],
  },
  {
    entity: "DE_PLZ",
    country: "de",
    make: (r) => `${pick(r, ["10", "20", "80", "50", "76", "04", "01"])}${digits(3)(r)}`,
    names: ["PLZ", "Postleitzahl", "Postleitzahl und Ort:"],
  },
  {
    entity: "ES_NIF",
    country: "es",
    make: valid("ES", "nif", "########@"),
    names: ["DNI", "NIF", "documento nacional de identidad"],
  },
  {
    entity: "ES_NIE",
    country: "es",
    make: valid("ES", "nie", (r) => `${pick(r, ["X", "Y", "Z"])}${shaped(r, "#######@")}`),
    names: ["NIE", "número de identidad de extranjero"],
  },
  {
    entity: "FI_PERSONAL_IDENTITY_CODE",
    country: "fi",
    make: valid("FI", "hetu", (r) => {
      const { yy, mm, dd } = birth(r);
      return `${dd}${mm}${yy}${pick(r, ["-", "A"])}${digits(3)(r)}${from("0123456789ABCDEFHJKLMNPRSTUVWXY", 1)(r)}`;
    }),
    names: ["henkilötunnus", "hetu", "Finnish personal identity code"],
  },
  {
    entity: "IT_FISCAL_CODE",
    country: "it",
    make: valid("IT", "codicefiscale", (r) => {
      const { yy, dd } = birth(r);
      return `${from("BCDFGLMNPRST", 6)(r)}${yy}${from("ABCDEHLMPRST", 1)(r)}${dd}${pick(r, ["H501", "F205", "L219", "A944"])}${from(LETTERS, 1)(r)}`;
    }),
    names: ["codice fiscale", "C.F.", "Italian tax code"],
  },
  {
    entity: "IT_VAT_CODE",
    country: "it",
    make: valid("IT", "iva", (r) => `${digits(7)(r)}${pick(r, ["001", "015", "058", "063"])}${digits(1)(r)}`),
    names: ["partita IVA", "P.IVA", "P. IVA"],
  },
  {
    entity: "IT_PASSPORT",
    country: "it",
    make: (r) => shaped(r, "@@#######"),
    names: ["passaporto", "numero di passaporto", "passaporto italiano"],
  },
  {
    entity: "PL_PESEL",
    country: "pl",
    make: valid("PL", "pesel", (r) => {
      const { yy, mm, dd } = birth(r);
      return `${yy}${mm}${dd}${digits(5)(r)}`;
    }),
    names: ["PESEL", "numer PESEL", "nr PESEL"],
  },
  {
    entity: "SE_PERSONNUMMER",
    country: "se",
    make: valid("SE", "personnummer", (r) => {
      const { yy, mm, dd } = birth(r);
      return `${yy}${mm}${dd}-${digits(4)(r)}`;
    }),
    names: ["personnummer", "Swedish personal identity number", "pnr"],
  },
  {
    entity: "SE_ORGANISATIONSNUMMER",
    country: "se",
    make: valid(
      "SE",
      "orgnr",
      (r) => `${pick(r, ["55", "51", "81", "96"])}${pick(r, [..."23456789"])}${digits(3)(r)}-${digits(4)(r)}`,
    ),
    names: ["organisationsnummer", "org.nr", "orgnr"],
  },
  {
    entity: "TR_NATIONAL_ID",
    country: "tr",
    make: valid("TR", "tckimlik", (r) => from("123456789", 1)(r) + digits(10)(r)),
    names: ["TC kimlik no", "TCKN", "kimlik numarası"],
  },
  {
    entity: "IN_AADHAAR",
    country: "in",
    make: grouped(verhoeffed(12, "23456789"), [4, 4, 4], ["", " ", "-"]),
    names: ["Aadhaar", "Aadhaar number", "UIDAI"],
  },
  {
    entity: "IN_PAN",
    country: "in",
    make: (r) => `${from(LETTERS, 3)(r)}${pick(r, [..."PCHF"])}${shaped(r, "@####@")}`,
    names: ["PAN", "PAN card", "income tax PAN"],
  },
  {
    entity: "IN_PASSPORT",
    country: "in",
    make: (r) => `${from("ABCDEFGHJKLMNPRSTUVWYZ", 1)(r)}${from("123456789", 1)(r)}${digits(6)(r)}`,
    names: ["Indian passport", "passport number", "passport no."],
  },
  {
    entity: "IN_VOTER",
    country: "in",
    make: (r) => shaped(r, "@@@#######"),
    names: ["voter id", "EPIC", "elector photo identity card"],
  },
  {
    entity: "IN_VEHICLE_REGISTRATION",
    country: "in",
    make: (r) =>
      `${pick(r, ["MH", "DL", "KA", "TN", "UP"])}${pick(r, ["", " ", "-"]).replace(/^(.?)$/, (s) => `${s}${two(1 + Math.floor(r() * 40))}${s}${from("ABCDEFGHJKLMNP", 2)(r)}${s}${digits(3)(r)}${from("123456789", 1)(r)}`)}`,
    names: ["vehicle number", "registration", "RTO number plate"],
  },
  {
    entity: "IN_GSTIN",
    country: "in",
    make: valid(
      "IN",
      "gstin",
      (r) => `${pick(r, ["27", "29", "07", "33"])}${from(LETTERS, 3)(r)}${pick(r, [..."PCF"])}${shaped(r, "@####@1Z*")}`,
    ),
    names: ["GSTIN", "GST number", "goods and services tax id"],
  },
  {
    entity: "KR_RRN",
    country: "kr",
    make: (r) => {
      const { yy, mm, dd } = birth(r);
      return `${yy}${mm}${dd}-${pick(r, [..."1234"])}${digits(6)(r)}`;
    },
    names: ["주민등록번호", "RRN", "resident registration number"],
  },
  {
    entity: "KR_FRN",
    country: "kr",
    make: (r) => {
      const { yy, mm, dd } = birth(r);
      return `${yy}${mm}${dd}-${pick(r, [..."5678"])}${digits(6)(r)}`;
    },
    names: ["외국인등록번호", "FRN", "foreigner registration number"],
  },
  {
    entity: "KR_BRN",
    country: "kr",
    make: grouped(
      valid(
        "KR",
        "brn",
        (r) =>
          `${pick(r, ["1", "2", "3", "4", "5"])}${pick(r, ["05", "20", "14"])}${pick(r, ["81", "86", "12", "05"])}${digits(5)(r)}`,
      ),
      [3, 2, 5],
      ["", "-"],
    ),
    names: ["사업자등록번호", "BRN", "business registration number"],
  },
  {
    entity: "PH_TIN",
    country: "ph",
    make: (r) => {
      for (;;) {
        const v = digits(8)(r);
        const c = [9, 8, 7, 6, 5, 4, 3, 2].reduce((s, w, i) => s + w * Number(v[i]), 0) % 11;
        if (c < 10) return `${v.slice(0, 3)}-${v.slice(3, 6)}-${v.slice(6)}${c}-000`;
      }
    },
    names: ["TIN", "BIR TIN", "tax identification number"],
  },
  {
    entity: "SG_NRIC_FIN",
    country: "sg",
    make: (r) => {
      const p = pick(r, ["S", "T", "F", "G"]);
      const v = digits(7)(r);
      const s = ([2, 7, 6, 5, 4, 3, 2].reduce((a, w, i) => a + w * Number(v[i]), 0) + (p === "T" || p === "G" ? 4 : 0)) % 11;
      return `${p}${v}${(p === "S" || p === "T" ? "JZIHGFEDCBA" : "XWUTRQPNMLK")[s]}`;
    },
    names: ["NRIC", "FIN", "Singapore identity number"],
  },
  {
    entity: "SG_UEN",
    country: "sg",
    make: valid("SG", "uen", (r) =>
      pick(r, [() => shaped(r, "########@"), () => shaped(r, `${pick(r, ["2012", "1998"])}#####@`)])(),
    ),
    names: ["UEN", "unique entity number", "ACRA UEN"],
  },
  {
    entity: "TH_TNIN",
    country: "th",
    make: (r) => {
      const v = `${pick(r, ["1", "3", "5"])}${pick(r, ["10", "50", "40", "73"])}${digits(9)(r)}`;
      const s = [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2].reduce((a, w, i) => a + w * Number(v[i]), 0);
      const full = `${v}${(11 - (s % 11)) % 10}`;
      return grouped(() => full, [1, 4, 5, 2, 1], ["", "-"])(r);
    },
    names: ["Thai national id", "เลขประจำตัวประชาชน", "Thai ID"],
  },
  {
    entity: "AU_ABN",
    country: "au",
    make: grouped(
      valid("AU", "abn", (r) => from("123456789", 1)(r) + digits(10)(r)),
      [2, 3, 3, 3],
      ["", " "],
    ),
    names: ["ABN", "Australian Business Number"],
  },
  {
    entity: "AU_ACN",
    country: "au",
    make: grouped(valid("AU", "acn", "#########"), [3, 3, 3], ["", " "]),
    names: ["ACN", "Australian Company Number"],
  },
  {
    entity: "AU_TFN",
    country: "au",
    make: grouped(valid("AU", "tfn", "#########"), [3, 3, 3], ["", " "]),
    names: ["TFN", "tax file number"],
  },
  {
    entity: "AU_MEDICARE",
    country: "au",
    make: grouped(medicare, [4, 5, 1], ["", " "]),
    names: ["Medicare", "Medicare card number", "Medicare no"],
  },
  {
    entity: "CA_SIN",
    country: "ca",
    make: grouped(
      valid("CA", "sin", (r) => from("123456", 1)(r) + digits(8)(r)),
      [3, 3, 3],
      ["", " ", "-"],
    ),
    names: ["SIN", "social insurance number", "numéro d'assurance sociale"],
  },
  { entity: "NG_NIN", country: "ng", make: verhoeffed11, names: ["NIN", "national identification number", "NIMC number"] },
  {
    entity: "NG_VEHICLE_REGISTRATION",
    country: "ng",
    make: (r) => `${from(LETTERS, 3)(r)}${pick(r, ["", "-", " "])}${digits(3)(r)}${from(LETTERS, 2)(r)}`,
    names: ["plate number", "vehicle registration", "number plate"],
  },
  {
    entity: "ZA_ID_NUMBER",
    country: "za",
    make: (r) => {
      for (;;) {
        const { yy, mm, dd } = birth(r);
        const v = luhnOf(r, `${yy}${mm}${dd}${digits(4)(r)}${pick(r, ["08", "18"])}`, 13);
        if (stdnum["ZA"]?.["idnr"]?.validate(v).isValid) return v;
      }
    },
    names: ["SA ID number", "South African identity number", "RSA ID"],
  },
  {
    entity: "PHONE_NUMBER",
    make: (r) => {
      const d = (n: number) => digits(n)(r);
      return pick(r, [
        () => `+49 30 ${d(3).replace(/^[01]/, "2")}${d(4)}`,
        () => `+44 20 7${d(3)} ${d(4)}`,
        () => `+1 (415) 555-${d(4)}`,
        () => `(212) 555-${d(4)}`,
        () => `415-555-${d(4)}`,
        () => `+33 6 12 ${d(2)} ${d(2)} ${d(2)}`,
        () => `06 12 ${d(2)} ${d(2)} ${d(2)}`,
        () => `+91 98765 ${d(5)}`,
        () => `+81 3-3${d(3)}-${d(4)}`,
        () => `0171 ${d(7)}`,
        () => `+46 70 123 ${d(2)} ${d(2)}`,
        () => `+55 11 9${d(4)}-${d(4)}`,
        () => `+61 2 9${d(3)} ${d(4)}`,
        () => `020 7946 ${d(4)}`,
        () => `+353 1 4${d(2)} ${d(4)}`,
        () => `001-415-555-${d(4)} ext. 12`,
        () => `+39 06 698 ${d(5)}`,
        () => `+971 50 123 ${d(4)}`,
      ])();
    },
    names: ["phone", "call", "mobile", "Tel.", "reach me at", "fax", "téléphone"],
  },
  {
    entity: "VENDOR_TOKEN",
    make: (r) =>
      pick(r, [
        () => `AKIA${from(`${LETTERS}234567`, 16)(r)}`,
        () => `ghp_${from("abcdefABCDEF0123456789", 36)(r)}`,
        () => `glpat-${from("abcdefABCDEF0123456789", 20)(r)}`,
        () => `sk_live_${from("abcdefABCDEF0123456789", 24)(r)}`,
        () => `xoxb-${digits(11)(r)}-${from("abcdef0123456789", 24)(r)}`,
      ])(),
    names: ["token", "key", "use", "secret"],
  },
];

/** Of the first ten digits of a German tax id exactly one comes two or three times (BZSt). */
function oneRepeated(v: string): boolean {
  const counts = [...new Set(v.slice(0, 10))].map((d) => v.slice(0, 10).split(d).length - 1).filter((n) => n > 1);
  return counts.length === 1 && (counts[0] ?? 0) <= 3 && !/(.)\1\1/.test(v);
}

function verhoeffed11(r: Random): string {
  const multiply = [
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
  const permute = [
    "0123456789",
    "1576283094",
    "5803796142",
    "8916043527",
    "9453126870",
    "4286573901",
    "2793806415",
    "7046913258",
  ];
  const head = from("123456789", 1)(r) + digits(9)(r);
  for (const check of "0123456789") {
    let c = 0;
    [...`${head}${check}`].reverse().forEach((d, i) => {
      c = Number(multiply[c]?.[Number(permute[i % 8]?.[Number(d)])]);
    });
    if (c === 0) return `${head}${check}`;
  }
  return head;
}
