import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createClassifier,
  DEFAULT_RECOGNISERS,
  isBitcoinAddress,
  isCardNumber,
  isIpv6,
  normalise,
  recognise,
} from "../src/index.ts";

const entities = (text: string, options = {}) => recognise(text, DEFAULT_RECOGNISERS, options).map((f) => f.entity);

describe("recognition", () => {
  test.each(["", "i", "y", "gy", "u"])(
    "a pattern with the flags %j, which would find one match for ever or none, is refused by its name, in any list and for any text",
    (flags) => {
      const own = { entity: "OWN", patterns: [{ name: "of mine", regex: new RegExp("x", flags), score: 1 }], context: [] };
      for (const text of ["", "none", "x and x"])
        expect(() => recognise(text, [...DEFAULT_RECOGNISERS, own])).toThrow(/"of mine" of OWN needs the flag g/);
    },
  );

  test.each([
    ["card 4111 1111 1111 1111", "CREDIT_CARD"],
    ["IBAN DE89 3704 0044 0532 0130 00", "IBAN_CODE"],
    ["reach me at ada@example.org", "EMAIL_ADDRESS"],
    ["host 192.168.0.17 is down", "IP_ADDRESS"],
    ["host 2001:db8::17 is down", "IP_ADDRESS"],
    ["my ssn is 536-22-8726", "US_SSN"],
    ["call +44 20 7946 0958", "PHONE_NUMBER"],
    ["key AKIAIOSFODNN7EXAMPLE", "VENDOR_TOKEN"],
    ["postgres://app:s3cr3t-pass@db.example.org/x", "PASSWORD"],
    ["password: hunter2-hunter2", "PASSWORD"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----", "PRIVATE_KEY"],
    ["send 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "CRYPTO"],
  ])("%s holds %s", (text, entity) => expect(entities(text)).toContain(entity));

  test("no short format is read out of a UUID, in either case, in a text or alone", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.constantFrom("", "plate ", "NIF: ", "id="), fc.boolean(), (uuid, before, upper) => {
        const found = recognise(before + (upper ? uuid.toUpperCase() : uuid), DEFAULT_RECOGNISERS);
        expect(found.filter(({ start, end }) => start >= before.length && end - start <= 10)).toEqual([]);
      }),
      { numRuns: 3000 },
    );
    for (const known of ["ace631cb-24d9-436f-9b09-f6d11522a8d2", "0670783b-46c5-406c-a84d-0501e8a44dc5"]) {
      expect(entities(known)).toEqual([]);
    }
    expect(entities("ace631cb")).not.toEqual([]);
  });

  test("a check digit that fails drops the finding", () => {
    expect(entities("card 4111 1111 1111 1112")).not.toContain("CREDIT_CARD");
    expect(entities("IBAN DE89 3704 0044 0532 0130 01")).not.toContain("IBAN_CODE");
  });

  test("a plain number that is told is one of those whose check digit it has, not of a shape that any number has", () => {
    // By the rule of Thailand's Department of Provincial Administration: weights from 13 to 2.
    const thai = (twelve: string) => {
      const sum = [...twelve].reduce((total, digit, i) => total + Number(digit) * (13 - i), 0);
      return `${twelve}${(11 - (sum % 11)) % 10}`;
    };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 10 ** 9 - 1 }), (second, rest) => {
        const number = thai(`1${second}1${String(rest).padStart(9, "0")}`);
        expect([number, entities(`see ${number} there`)]).not.toEqual([number, ["DE_TAX_NUMBER"]]);
        expect([number, entities(`Steuernummer ${number}`)]).toEqual([number, ["DE_TAX_NUMBER"]]);
      }),
    );
  });

  test("a weak shape alone is silent; its context word or its country speaks for it", () => {
    expect(entities("order A12803456")).not.toContain("US_PASSPORT");
    expect(entities("passport A12803456")).toContain("US_PASSPORT");
    expect(entities("10115", { country: "de" })).toContain("DE_PLZ");
  });

  test.each([
    ["full-width digits", "４１１１ １１１１ １１１１ １１１１"],
    ["zero-width joiners", "4111\u200b 1111 \u200d1111 1111"],
    ["Arabic-Indic digits", "٤١١١ ١١١١ ١١١١ ١١١١"],
    ["odd hyphens", "4111‐1111‑1111–1111"],
    ["no-break spaces", "4111\u00a01111\u00a01111\u00a01111"],
  ])("%s do not hide a card", (_, card) => expect(entities(`card ${card}`)).toContain("CREDIT_CARD"));

  test("look-alike letters do not hide an address", () => expect(entities("mail аda@exаmple.org")).toContain("EMAIL_ADDRESS"));

  test("a whole run of look-alikes in a disguised word is folded, a foreign host keeps its script", () => {
    expect(entities("mail ada@example.сом")).toContain("EMAIL_ADDRESS");
    expect(recognise("siehe http://кулік.укр bitte", DEFAULT_RECOGNISERS)).toMatchObject([{ entity: "URL", start: 6, end: 22 }]);
  });

  test.each(["http://example.com/Rosie's_(Place),", "http://example.com:", "https://example.com/a?b=c!"])(
    "%s alone in its field is the whole address",
    (url) => {
      expect(recognise(url, DEFAULT_RECOGNISERS)).toMatchObject([{ entity: "URL", start: 0, end: url.length }]);
    },
  );

  test("punctuation of the sentence does not belong to the address", () => {
    expect(recognise("see http://example.com/a.", DEFAULT_RECOGNISERS)).toMatchObject([{ entity: "URL", start: 4, end: 24 }]);
  });

  test.each([
    ["phone 55 (17) 96332-2155", "a country code without plus"],
    ["call 372 512 34 567", "a country code without plus"],
    ["phone: +229 20215789", "a plan that has grown since"],
    ["call +52 1 965 4789321", "a plan that has shrunk since"],
    ["mobile 10-1234-5678", "a trunk zero left out"],
  ])("%s: %s is a telephone number beside its word", (text) => expect(entities(text)).toContain("PHONE_NUMBER"));

  test.each(["result 55 (17) 96332-2155", "delta +22920215789", "code 10-1234-5678"])("%s: without the word it is none", (text) =>
    expect(entities(text)).not.toContain("PHONE_NUMBER"),
  );

  test("a national insurance number may lack its suffix, beside its name only", () => {
    expect(entities("national insurance number AA 12 34 56")).toContain("UK_NINO");
    expect(entities("part AA 12 34 56")).not.toContain("UK_NINO");
  });

  test("findings are in order, apart, inside the text, and their offsets are those of the original", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.constantFrom(
              "4111111111111111",
              "ada@example.org",
              "192.168.0.1",
              "４１１１１１１１１１１１１１１１",
              "\u200b",
              "ü",
              "😀 ",
              "536-22-8726",
            ),
            fc.string({ maxLength: 8 }),
          ),
          { maxLength: 12 },
        ),
        (parts) => {
          const text = parts.join(" ");
          let end = 0;
          for (const finding of recognise(text, DEFAULT_RECOGNISERS)) {
            expect(finding.start).toBeGreaterThanOrEqual(end);
            expect(finding.end).toBeGreaterThan(finding.start);
            expect(finding.end).toBeLessThanOrEqual(text.length);
            if (finding.entity === "CREDIT_CARD")
              expect(text.slice(finding.start, finding.end).normalize("NFKC")).toMatch(/^4111/);
            end = finding.end;
          }
        },
      ),
    );
  });

  test("folding keeps a way back for every unit", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        const folded = normalise(text);
        for (let i = 0; i < folded.text.length; i++) {
          expect(folded.start(i)).toBeLessThan(folded.end(i + 1));
          expect(folded.end(i + 1)).toBeLessThanOrEqual(text.length);
        }
      }),
    );
  });
});

describe("checks against slow references", () => {
  const luhnOf = (digits: string) =>
    [...digits]
      .reverse()
      .reduce((sum, d, i) => sum + (i % 2 === 0 ? Number(d) : Number(d) * 2 > 9 ? Number(d) * 2 - 9 : Number(d) * 2), 0) %
      10 ===
    0;

  test("a card number always passes Luhn", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^4[0-9]{15}$/), (digits) => {
        expect(isCardNumber(digits)).toBe(luhnOf(digits) && !/^(.)\1*$/.test(digits));
      }),
    );
  });

  test("eight groups are an IPv6 address however the zeros are run together", () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        expect(isIpv6(address)).toBe(true);
        expect(isIpv6(`${address}:1:2:3:4:5:6:7:8`)).toBe(false);
      }),
    );
  });

  // BIP 173 and BIP 350 test vectors
  test.each([
    ["BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", true],
    ["bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", true],
    ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", false],
    ["1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", true],
    ["1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", false],
  ])("bitcoin address %s: %s", (address, valid) => expect(isBitcoinAddress(address)).toBe(valid));
});

describe("the answer", () => {
  const classifier = createClassifier();

  test("never repeats what it found", () => {
    const secrets = ["4111111111111111", "536-22-8726", "ada.lovelace@example.org", "AKIAIOSFODNN7EXAMPLE"];
    fc.assert(
      fc.property(
        fc.subarray(secrets, { minLength: 1 }),
        fc.constantFrom(
          (s: string) => s,
          (s: string) => JSON.stringify({ [s]: s }),
          (s: string) => `id,note\n1,${s}\n`,
        ),
        (some, form) => {
          const answer = JSON.stringify(classifier.classify(form(some.join(" "))));
          for (const secret of some) expect(answer).not.toContain(secret);
        },
      ),
    );
  });

  test("has a confidence in [0,1] and a tier of the scale for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
        const { confidence, tier } = classifier.classify(text);
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(1);
        expect(classifier.policy.tiers).toContain(tier);
      }),
    );
  });

  test("three quasi-identifiers in one record identify people", () => {
    expect(classifier.classify('{"zip":"10115","gender":"f","age":41}').tier).toBe("CONFIDENTIAL");
    expect(classifier.classify('{"zip":"10115","gender":"f"}').tier).toBe("INTERNAL");
  });

  test("an unknown fault is classification_failed, never PUBLIC", () => {
    const broken = createClassifier({
      recognisers: [
        {
          entity: "X",
          patterns: [{ name: "x", regex: /x/g, score: 1 }],
          context: [],
          validate: () => {
            throw new Error("boom");
          },
        },
      ],
    });
    expect(() => broken.classify("x")).toThrow(expect.objectContaining({ code: "classification_failed" }));
  });
});
