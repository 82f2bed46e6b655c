import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { meaningOf } from "../src/classification/lexicon.ts";
import { ungluedWord } from "../src/classification/names/glued-words.ts";
import { NAME_LANGUAGES, WORDS_OF_LANGUAGES } from "../src/classification/names/words-of-languages.ts";
import * as names from "../src/classification/prose/names.ts";
import { createClassifier, DEFAULT_TIER_POLICY, policyOf, Surroundings, termOf, tierRank } from "../src/index.ts";

const entityOf = (name: string, around: string | Surroundings = "") => termOf(name, around)?.entity;
const rankOf = (entity: string | undefined) =>
  entity === undefined ? 0 : tierRank(DEFAULT_TIER_POLICY, policyOf(DEFAULT_TIER_POLICY, entity).tier);

/** Names as their words, and what they hold. */
const HOLDING: readonly (readonly [entity: string, words: string])[] = [
  ["PASSWORD", "password"],
  ["PASSWORD", "login password hash"],
  ["API_KEY", "client secret"],
  ["API_KEY", "access token"],
  ["CREDIT_CARD", "credit card number"],
  ["CREDIT_CARD", "card no"],
  ["BANK_ACCOUNT", "bank account number"],
  ["SALARY", "base salary"],
  ["US_SSN", "ssn"],
  ["US_SSN", "social security number"],
  ["NATIONAL_ID", "national id"],
  ["PASSPORT_NUMBER", "passport no"],
  ["DRIVER_LICENSE", "driver license number"],
  ["HEALTH_DATA", "diagnosis code"],
  ["HEALTH_DATA", "blood type"],
  ["DATE_OF_BIRTH", "date of birth"],
  ["PHONE_NUMBER", "mobile phone"],
  ["EMAIL_ADDRESS", "email address"],
  ["STREET_ADDRESS", "home address"],
  ["PERSON", "first name"],
];

/** One name in the ways that people write names. */
const SPELLINGS: readonly (readonly [how: string, write: (words: readonly string[]) => string])[] = [
  ["snake", (words) => words.join("_")],
  ["upper snake", (words) => words.join("_").toUpperCase()],
  ["kebab", (words) => words.join("-")],
  ["camel", ([first = "", ...rest]) => first + rest.map(capital).join("")],
  ["Pascal", (words) => words.map(capital).join("")],
  ["glued", (words) => words.join("")],
  ["GLUED", (words) => words.join("").toUpperCase()],
  ["full width", (words) => words.join("").replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0))],
];
function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

describe("a name means the same however its words are put together", () => {
  test("with a word for whose it is before it, and a number behind it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...HOLDING),
        fc.constantFrom(...SPELLINGS),
        fc.constantFrom("", "user", "cust", "emp", "customer", "employee", "old"),
        fc.constantFrom("", "2", "2024"),
        ([entity, words], [, write], whose, number) => {
          const name = write([...(whose === "" ? [] : [whose]), ...words.split(" ")]) + number;
          expect([name, entityOf(name)]).toEqual([name, entity]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** Affixes that databases put before and behind a name. */
const BEFORE = "hr cust src old tbl raw sap crm curr emp".split(" ");
const BEHIND = "amt nr nbr val txt enc hash prod cd id bkp2".split(" ");

describe("a glued name is what it would be with its words apart", () => {
  test("whatever stands before and behind", () =>
    fc.assert(
      fc.property(
        fc.constantFrom(...HOLDING),
        fc.constantFrom("", ...BEFORE),
        fc.constantFrom("", ...BEHIND),
        ([, words], before, behind) => {
          const all = [before, ...words.split(" "), behind].filter((word) => word !== "");
          expect([all.join(""), entityOf(all.join(""))]).toEqual([all.join(""), entityOf(all.join("_"))]);
        },
      ),
      { numRuns: 500 },
    ));

  test.each<[string, string]>([
    ["SALARY", "hrsalaryamt gehaltbrutto bruttogehalt salairebrut salariobruto stipendiolordo basepayamt"],
    ["CREDIT_CARD", "ccnum cardpan cardpanenc numcarte numtarjeta"],
    ["TAX_ID", "taxidnr taxidno steuernr steueridnr dninif cpfcliente"],
    ["PATIENT_ID", "krankenkassennr patientennr healthplanid medicalrecnum"],
    ["EMAIL_ADDRESS", "personalemailaddr custemailaddr kundenemailadr"],
    [
      "HEALTH_DATA",
      "dossiermedical patientdiagcode patientenakte krankenakte medhistory medhist expedientemedico cartellaclinica bloodgrp",
    ],
    ["API_KEY", "privkeypem walletseedphrase mnemonicphrase apikeyprod refreshtok jwtsigningkey sshprivkey"],
    ["CREDIT_SCORE", "creditscore custcreditscore"],
    ["NATIONAL_ID", "svnummer sozialversnr rentenversnr secusociale numsecu bsnnummer peselnr"],
    ["PASSWORD", "pwdhash pwdhashsha256 userpinhash dbpasswordprod senhahash"],
    ["BANK_ACCOUNT", "rekeningnr kontonr bankacctnbr"],
    ["DATE_OF_BIRTH", "dtnaissance gebdatum fecnacimiento dtnascimento"],
    ["PASSPORT_NUMBER", "visanumber passportnbr"],
    ["VEHICLE_ID", "vinnumber"],
  ])("%s: %s", (entity, names) => {
    for (const name of names.split(" ")) expect([name, entityOf(name)]).toEqual([name, entity]);
  });

  test("a word of another language, in two words and with its number shortened", () => {
    for (const name of [
      "rekening_nummer",
      "rekening_nr",
      "steuer_nr",
      "steuer_nummer",
      "konto_no",
      "num_tarjeta",
      "dt_nascimento",
    ])
      expect([name, rankOf(entityOf(name)) > 1]).toEqual([name, true]);
  });
});

describe("words that hold others are read as what they are", () => {
  test("of all words of English and German, two in ten thousand at most are taken apart into something above INTERNAL", () => {
    const load = createRequire(import.meta.url);
    for (const list of ["an-array-of-english-words", "an-array-of-german-words"]) {
      const words = (load(list) as readonly string[]).map((word) => word.toLowerCase());
      expect(words.length).toBeGreaterThan(100_000);
      const wrong = words.filter((word) => ungluedWord(word) !== undefined && rankOf(entityOf(word)) > 1);
      expect([list, wrong, wrong.length <= words.length / 5_000]).toEqual([list, wrong, true]);
    }
  });

  test.each([
    "customerid createdat updatedat productname orderid itemcount unitprice totalamt taxrate linetotal qtyonhand statuscode typecd",
    "companyname spanish country region regioncd warehouseid skucode barcode batchno invoiceno invoicenr ordernr shipdate duedate",
    "rownum rowid sessionid pageviews clickcount sourcetable targettable loadts etlbatchid partitionkey sortorder isactive isdeleted",
    "filename filetype filesize hostname servername tablename columnname indexname schemaname jobname taskname eventname campaignname",
    "artikelnr bestellnr rechnungsnr lagerort menge einheit preis waehrung buchungsdatum lieferdatum kostenstelle",
    "cardtype cardcount phonemodel mobileapp planname planid accountid accounttype bankname banknote branchcode swiftcode taxcode",
    "passrate passcount pincount tokencount hashcode checksum saltwater healthcheck unionall partyid racetime agegroup",
    "paymentmethod paymentstatus salescount salestotal grossweight netweight netamount grossamt currcode exchangerate",
  ])("no name of a thing is of a person: %s", (names) => {
    for (const name of names.split(" ")) expect([name, rankOf(entityOf(name)) > 1]).toEqual([name, false]);
  });

  /** Words of English that are wholly made of others, and mean that. */
  const compounds = new Set(["bankcard", "birthdate", "birthplace", "payslip", "numberplate"]);

  test("no word of the documents, no name of a person or a place is taken apart into something above INTERNAL", () => {
    const docs = new URL("../../../docs/", import.meta.url);
    const texts = readdirSync(docs)
      .filter((file) => file.endsWith(".md"))
      .map((file) => readFileSync(new URL(file, docs), "utf8"));
    // Of texts the plain words: no names of members, whose words are glued.
    const plain = texts.flatMap((text) => text.match(/(?<![\w`./@-])\p{Ll}+(?![\w`/@=(-]|\.\w)/gu) ?? []);
    const words = new Set([...plain, ...Object.values(names).flatMap((list) => list.split(/[ |]/))]);
    expect(words.size).toBeGreaterThan(40_000);
    const wrong = [...words].filter(
      (word) => ungluedWord(word) !== undefined && rankOf(entityOf(word)) > 1 && !compounds.has(word),
    );
    expect(wrong).toEqual([]);
  });

  test.each(
    "session shipping adobe sales essex page usage storage account recipient strip trip ship salon disagree passage message mortgage cardinal discard postcard dashboard telnet spinach opinion vintage province sinus business telemetry cancelled excellent hotel".split(
      " ",
    ),
  )("%s", (word) => expect(entityOf(word)).toBeUndefined());

  test("a long word behind letters that nobody knows is read", () => {
    expect(["acmepassword", "XYZCREDITCARD", "qqdateofbirth", "zzsalary"].map((name) => entityOf(name))).toEqual([
      "PASSWORD",
      "CREDIT_CARD",
      "DATE_OF_BIRTH",
      "SALARY",
    ]);
  });

  test("work is bounded: a name of any length is read, and one too long for a name is not taken apart", () => {
    expect(ungluedWord("password".repeat(5))).toHaveLength(5);
    expect(ungluedWord("password".repeat(10_000))).toBeUndefined();
    expect(entityOf("a".repeat(100_000))).toBeUndefined();
  });
});

describe("every kind of data has its words in every language", () => {
  const data = WORDS_OF_LANGUAGES.filter(([means]) => rankOf(entityOf(means)) > 1);

  test.each(data.map(([means, words]) => [means, words] as const))("%s", (means, words) => {
    expect(NAME_LANGUAGES.filter((language) => words[language] === undefined)).toEqual([]);
    const entity = entityOf(means);
    for (const word of Object.values(words).flatMap((list) => list.split(" ")))
      for (const written of new Set([word, word.toUpperCase(), word.normalize("NFD"), `home_${word}`]))
        expect([written, entityOf(written)]).toEqual([written, entity]);
  });
});

describe("a name about a thing is not the thing", () => {
  const ordinary = HOLDING.filter(([entity]) => entity !== "HEALTH_DATA");
  const special = [
    "diagnosis",
    "hiv",
    "pregnancy",
    "disability",
    "religion",
    "ethnicity",
    "sexual_orientation",
    "union_membership",
    "political_party",
    "criminal_record",
  ];

  test.each([
    "policy",
    "template",
    "format",
    "changed_at",
    "verified",
    "status",
    "type",
    "count",
    "sent_at",
    "expired",
    "required",
  ])("%s is a head", (head) => {
    for (const [, words] of ordinary) {
      const name = `${words.replaceAll(" ", "_")}_${head}`;
      expect([name, rankOf(entityOf(name)) > 1]).toEqual([name, false]);
    }
  });

  test.each(["has", "is", "num", "count_of", "require", "validate"])("%s asks", (question) => {
    for (const [, words] of ordinary.filter(([, w]) => /password|secret|email|phone|address/.test(w))) {
      const name = `${question}_${words.replaceAll(" ", "_")}`;
      if (question !== "num" || !/phone/.test(words)) expect([name, entityOf(name)]).toEqual([name, undefined]);
    }
  });

  test.each(["flag", "status", "type", "date", "count", "since"])(
    "a %s of a special category is as telling as itself",
    (head) => {
      for (const name of special)
        expect([`${name}_${head}`, rankOf(entityOf(`${name}_${head}`))]).toEqual([`${name}_${head}`, 4]);
      for (const name of special) expect([`has_${name}`, rankOf(entityOf(`has_${name}`))]).toEqual([`has_${name}`, 4]);
    },
  );

  test.each(["policy", "template", "form_url", "schema_version"])("a %s of a special category is about nobody", (head) => {
    for (const name of special) expect([`${name}_${head}`, entityOf(`${name}_${head}`)]).toEqual([`${name}_${head}`, undefined]);
  });

  test("what is left of a secret is one", () => {
    for (const name of [
      "password_hash",
      "password_salt",
      "password_hint",
      "password_reset_token",
      "password_history",
      "ssn_last4",
      "email_hash",
      "salary_amount",
      "api_key_hash",
      "card_number_masked",
    ])
      expect([name, rankOf(entityOf(name)) > 1]).toEqual([name, true]);
  });
});

describe("a word of several meanings counts where something says that persons are meant", () => {
  const cases: readonly (readonly [name: string, entity: string, table: string, beside: string, otherTable: string])[] = [
    ["race", "ETHNICITY", "employees", "date_of_birth", "races"],
    ["treatment", "HEALTH_DATA", "patients", "diagnosis", "experiments"],
    ["condition", "HEALTH_DATA", "patient_visits", "icd10_code", "items"],
    ["party", "POLITICAL_OPINION", "voters", "", "bookings"],
    ["union", "UNION_MEMBERSHIP", "staff", "salary", "shapes"],
    ["orientation", "SEXUAL_ORIENTATION", "users", "gender", "photos"],
    ["pin", "PASSWORD", "cards", "credit_card_number", "gpio"],
    ["token", "API_KEY", "users", "username", "documents"],
    ["name", "PERSON", "customers", "date_of_birth", "products"],
  ];

  test.each(cases)("%s is %s", (name, entity, table, beside, otherTable) => {
    expect(entityOf(name, table)).toBe(entity);
    expect(entityOf(name)).toBeUndefined();
    expect(entityOf(name, otherTable)).toBeUndefined();
    if (beside !== "") expect(entityOf(name, new Surroundings("t", ["id", beside]))).toBe(entity);
  });

  test("alone it is not public where the word is no usual one, and the answer says what it may be", () => {
    const classifier = createClassifier();
    for (const name of ["race", "treatment", "condition", "party", "union", "orientation", "pin"]) {
      expect(meaningOf(name).possible?.term).toBeDefined();
      const { tier, reasoning, confidence } = classifier.classify(JSON.stringify({ [name]: "x" }));
      expect([name, tier, reasoning.includes(" may name ")]).toEqual([name, "INTERNAL", true]);
      expect(confidence).toBeLessThan(0.5);
    }
    expect(meaningOf("title").possible ?? meaningOf("name").possible ?? meaningOf("page_orientation").possible).toBeUndefined();
  });

  test("keys of the same object and headers of the same table say it", () => {
    const classifier = createClassifier();
    expect(classifier.classify('{"race":"x","date_of_birth":"1980-02-03"}').tags).toContain("ETHNICITY");
    expect(classifier.classify("race,gender\nx,f\ny,m\n").tags).toContain("ETHNICITY");
    expect(classifier.classify('{"patient":{"condition":"x"}}').tags).toContain("HEALTH");
  });

  test("many names beside one another are read once", () => {
    const keys = Array.from({ length: 5000 }, (_, i) => `race ${i}x`);
    const classifier = createClassifier();
    expect(classifier.classify(JSON.stringify(Object.fromEntries(keys.map((key) => [key, 1])))).tier).toBe("INTERNAL");
  });
});

describe("a request is judged by what it asks for, and of whom", () => {
  const classifier = createClassifier();

  test.each([
    ["What is Bob's salary?", "PROPRIETARY"],
    ["what is the CEO's date of birth?", "CONFIDENTIAL"],
    ["get me Maria's phone number", "CONFIDENTIAL"],
    ["what's the root password?", "RESTRICTED"],
    ["give me the patients with HIV", "RESTRICTED"],
    ["list the employees' races", "RESTRICTED"],
    ["show the patients' conditions", "RESTRICTED"],
    ["which customers have a criminal record?", "RESTRICTED"],
    ["What is the salary of Mr Miller?", "PROPRIETARY"],
  ])("%s", (text, tier) => expect(classifier.classify(text).tier).toBe(tier));

  test.each([
    "what is my salary?",
    "What is the password policy?",
    "how long must a password be?",
    "what is a token?",
    "What are the symptoms of diabetes?",
    "what is the race schedule this weekend?",
    "when was the password last changed?",
    "What is today's treatment of history?",
    "what is the weather condition of the coast",
    "export the email templates",
  ])("%s asks for nobody's data", (text) => expect(["PUBLIC", "INTERNAL"]).toContain(classifier.classify(text).tier));
});
