import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClassifier, DEFAULT_RECOGNISERS, recognise } from "../src/index.ts";

const classifier = createClassifier();
const persons = (text: string) =>
  recognise(text, DEFAULT_RECOGNISERS)
    .filter(({ entity }) => entity === "PERSON")
    .map(({ start, end }) => text.slice(start, end));

describe("people are found by the names that they go by, whole", () => {
  test.each([
    ["I spoke to Margaret Whitfield this morning", "Margaret Whitfield"],
    ["Dear Mr Okonkwo,", "Okonkwo"],
    ["signed by J. Kowalski", "J. Kowalski"],
    ["Kind regards,\nEleni Papadaki", "Eleni Papadaki"],
    ["ask Priya about it", "Priya"],
    ["ruf bitte Jürgen Weber an", "Jürgen Weber"],
    ["j'ai parlé à Hélène Dubois", "Hélène Dubois"],
    ["Kun je Pieter van den Berg bellen?", "Pieter van den Berg"],
    ["Ursula von der Leyen came", "Ursula von der Leyen"],
  ])("%s", (text, name) => expect(persons(text)).toEqual([name]));

  test.each([
    "Meet me at Victoria Station",
    "The Johnson & Johnson vaccine",
    "Will do. May I go?",
    "Open Settings and click Save",
    "12 rue Victor Hugo",
    "Hello World",
    "We run Apache Kafka behind Jenkins",
    "Mark the task as done",
    "see docs/Anna_Smith.md",
  ])("things that are called like people are none: %s", (text) => expect(persons(text)).toEqual([]));
});

describe("health and other special categories are restricted where somebody is meant", () => {
  test.each([
    ["She was diagnosed with lupus last year", "HEALTH"],
    ["HIV test result: positive, patient informed", "HEALTH"],
    ["my mother takes atorvastatin", "HEALTH"],
    ["Er leidet seit Jahren an einer Depression", "HEALTH"],
    ["Elle souffre d'arthrite", "HEALTH"],
    ["Soffre di emicrania da anni, dice mia sorella", "HEALTH"],
    ["My colleague is a member of the union", "UNION"],
    ["Mein Kollege ist in der Gewerkschaft", "UNION"],
    ["She is Muslim and prays at noon", "RELIGION"],
    ["He told me that he is gay", "ORIENTATION"],
    ["I vote for the Greens", "POLITICS"],
    ["We scanned her fingerprint for the door", "BIOMETRIC"],
  ])("%s", (text, tag) =>
    expect(classifier.classify(text)).toMatchObject({ tier: "RESTRICTED", tags: expect.arrayContaining([tag]) }),
  );

  test.each([
    "Asthma affects one in ten adults",
    "What are the symptoms of diabetes?",
    "The study of 400 volunteers showed no effect on hypertension",
    "Was hilft gegen Migräne?",
    "The union negotiates for the whole sector",
    "Which religions celebrate in spring?",
    "The request was aborted by the client",
    "ssh key fingerprint of the host",
  ])("what holds for everybody is about nobody: %s", (text) =>
    expect(classifier.classify(text).tags.filter((tag) => /HEALTH|UNION|RELIGION|BIOMETRIC/.test(tag))).toEqual([]),
  );
});

test("pay is the word, the sum and the person", () => {
  expect(classifier.classify("She earns $142,500 a year").tags).toContain("SALARY");
  expect(classifier.classify("Sein Gehalt beträgt 72.000 Euro").tags).toContain("SALARY");
  expect(classifier.classify("The invoice is paid, 400 euros").tags).not.toContain("SALARY");
});

test("a finding beside a word of birth is a date of birth, in the findings too", () => {
  const { findings } = classifier.classify("Anna Smith, born 14 March 1985");
  expect(findings.map(({ entity }) => entity).sort()).toEqual(["DATE_OF_BIRTH", "PERSON"]);
});

test("findings lie inside the text, whatever the text", () => {
  const piece = fc.constantFrom(
    "Anna ",
    "Müller",
    "e\u0301",
    "Dr. ",
    "\u{1f600}",
    "'",
    "-",
    " de la ",
    ". ",
    "\n",
    "has asthma ",
    "A",
    "İ",
    "ﬃ",
    "𝐀nna ",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string({ unit: "grapheme" })), { maxLength: 20 }), (pieces) => {
      const text = pieces.join("");
      let last = 0;
      for (const { start, end } of recognise(text, DEFAULT_RECOGNISERS)) {
        expect(start).toBeGreaterThanOrEqual(last);
        expect(end).toBeGreaterThan(start);
        expect(end).toBeLessThanOrEqual(text.length);
        last = end;
      }
    }),
  );
});

describe("who asks about somebody by name asks for personal data", () => {
  const names = fc.constantFrom("Bob", "Maria", "Ahmed", "Priya", "Pierre", "Giulia", "Juan", "Jan", "Anna");
  const illnesses = fc.constantFrom("HIV", "hiv", "diabetes", "leukaemia", "hepatitis");
  const asked = fc.constantFrom<(name: string, illness: string) => string>(
    (name, illness) => `does ${name} have ${illness}?`,
    (name, illness) => `Has ${name} been treated for ${illness}?`,
    (name, illness) => `can you find out whether ${name} has ${illness}`,
    (name, illness) => `hat ${name} ${illness}?`,
    (name, illness) => `leidet Frau ${name} an ${illness}?`,
    (name, illness) => `Est-ce que ${name} a le ${illness} ?`,
    (name, illness) => `${name} a-t-il le ${illness} ?`,
    (name, illness) => `¿Tiene ${name} ${illness}?`,
    (name, illness) => `${name} ha l'${illness}?`,
    (name, illness) => `O ${name} tem ${illness}?`,
    (name, illness) => `Heeft ${name} ${illness}?`,
  );
  test("for health, in seven languages", () =>
    fc.assert(
      fc.property(names, illnesses, asked, (name, illness, ask) => {
        const text = ask(name, illness);
        expect([text, classifier.classify(text).tier]).toEqual([text, "RESTRICTED"]);
      }),
      { numRuns: 200 },
    ));

  test.each([
    ["which medication does Bob take?", "RESTRICTED"],
    ["is Priya sick?", "RESTRICTED"],
    ["welche Medikamente nimmt Bob?", "RESTRICTED"],
    ["Hat Frau Müller Krebs?", "RESTRICTED"],
    ["Hat Anna Krebs?", "RESTRICTED"],
    ["does Xiomara have cancer?", "RESTRICTED"],
    ["is Ahmed muslim?", "RESTRICTED"],
    ["Has Tom ever been arrested?", "RESTRICTED"],
    ["ist Anna vorbestraft?", "RESTRICTED"],
    ["which party did Tom vote for?", "RESTRICTED"],
    ["show Bob's therapist notes", "RESTRICTED"],
    ["how much does Bob earn?", "PROPRIETARY"],
    ["wie viel verdient Herr Kowalczyk?", "PROPRIETARY"],
    ["combien gagne Pierre ?", "PROPRIETARY"],
    ["¿Cuánto gana Juan?", "PROPRIETARY"],
    ["quanto guadagna Giovanni?", "PROPRIETARY"],
    ["quanto ganha o João?", "PROPRIETARY"],
    ["hoeveel verdient Jan?", "PROPRIETARY"],
  ])("%s", (text, tier) => expect(classifier.classify(text).tier).toBe(tier));

  test.each([
    "does Aspirin have side effects?",
    "Does Python have a GIL?",
    "Does Germany have a cancer registry?",
    "Does Windows have a firewall?",
    "What is Alzheimer's disease?",
    "does Medicare cover diabetes?",
    "how much does Tesla pay?",
    "what does HIV stand for?",
    "what does the average teacher earn?",
    "Is depression common in adults?",
  ])("and about nobody, not: %s", (text) => expect(["PUBLIC", "INTERNAL"]).toContain(classifier.classify(text).tier));
});
