import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EVERYDAY_HEALTH } from "../src/classification/prose/everyday-health.ts";
import { DRUGS, ILLNESS_PHRASES, ILLNESSES } from "../src/classification/prose/health-lexicon.ts";
import { isDrug, isIllness, skeletonOf } from "../src/classification/prose/health-words.ts";
import { createClassifier, DEFAULT_RECOGNISERS, recognise } from "../src/index.ts";

const classifier = createClassifier();
const health = (text: string) =>
  recognise(text, DEFAULT_RECOGNISERS)
    .filter(({ entity }) => entity === "HEALTH_DATA")
    .map(({ start, end }) => text.slice(start, end));

/** Sentences about one person, by language. */
const SAID: Readonly<Record<string, (name: string) => string>> = {
  en: (name) => `My sister has ${name} and told me yesterday`,
  de: (name) => `Meine Schwester hat ${name} und nimmt das ernst`,
  fr: (name) => `Ma sœur a ${name} depuis le mois dernier`,
  es: (name) => `Mi hermana tiene ${name} desde el año pasado`,
  it: (name) => `Mia sorella ha ${name} da un anno`,
  pt: (name) => `A minha irmã tem ${name} desde o ano passado`,
  nl: (name) => `Mijn zus heeft ${name} en dat is niet leuk`,
};

describe("a name of medicine is found however a language spells it", () => {
  test.each([
    ["en furosemide", "de Furosemid", "fr furosémide", "es furosemida", "it furosemide", "pt furosemida"],
    ["en carbamazepine", "de Carbamazepin", "fr carbamazépine", "es carbamazepina", "it carbamazepina", "nl carbamazepine"],
    ["en levothyroxine", "de Levothyroxin", "fr lévothyroxine", "es levotiroxina", "it levotiroxina", "pt levotiroxina"],
    ["en clopidogrel", "de Clopidogrel", "fr clopidogrel", "es clopidogrel", "it clopidogrel", "nl clopidogrel"],
    ["en ciclosporin", "de Ciclosporin", "fr ciclosporine", "es ciclosporina", "it ciclosporina", "nl ciclosporine"],
    ["en osteoporosis", "de Osteoporose", "fr ostéoporose", "es osteoporosis", "it osteoporosi", "pt osteoporose"],
    [
      "en cardiomyopathy",
      "de Kardiomyopathie",
      "fr cardiomyopathie",
      "es cardiomiopatía",
      "it cardiomiopatia",
      "nl cardiomyopathie",
    ],
    ["en sarcoidosis", "de Sarkoidose", "fr sarcoïdose", "es sarcoidosis", "it sarcoidosi", "pt sarcoidose"],
    ["en hypothyroidism", "es hipotiroidismo", "it ipotiroidismo", "pt hipotiroidismo"],
    ["en simvastatin", "de Simvastatin", "fr simvastatine", "es simvastatina", "it simvastatina", "pt sinvastatina"],
    ["en warfarin", "de Warfarin", "fr warfarine", "es warfarina", "it warfarin", "pt varfarina"],
    ["en lymphoma", "de Lymphom", "fr lymphome", "es linfoma", "it linfoma", "pt linfoma"],
    ["en endometriosis", "de Endometriose", "fr endométriose", "es endometriosis", "it endometriosi", "nl endometriose"],
  ])("%s", (...spelt) => {
    for (const each of spelt) {
      const [language = "", name = ""] = each.split(" ");
      expect(health(SAID[language]?.(name) ?? "")).toEqual([name]);
    }
  });

  test("a compound whose last part is an illness of the lexicon", () => {
    for (const name of ["Leberzirrhose", "Hirnaneurysma", "Nierenbiopsie", "Parkinson-Krankheit"])
      expect(health(SAID["de"]?.(name) ?? "")).toEqual([name]);
  });

  test("a compound of German or Dutch by its head, whatever it is joined to", () => {
    const german = fc.tuple(
      fc.constantFrom("Knie", "Herz", "Nieren", "Rücken", "Magen", "Schulter", "Haut", "Lungen"),
      fc.constantFrom("schmerzen", "operation", "entzündung", "erkrankung", "verletzung", "beschwerden"),
    );
    const dutch = fc.tuple(
      fc.constantFrom("knie", "hart", "nier", "rug", "maag", "schouder"),
      fc.constantFrom("operatie", "ontsteking", "pijn", "klachten"),
    );
    fc.assert(
      fc.property(german, ([part, head]) => {
        expect(health(SAID["de"]?.(part + head) ?? "")).toEqual([part + head]);
      }),
    );
    fc.assert(
      fc.property(dutch, ([part, head]) => {
        expect(health(SAID["nl"]?.(part + head) ?? "")).toEqual([part + head]);
      }),
    );
  });
});

test("every everyday name is found, whole, where a relative has it", () => {
  const missed = EVERYDAY_HEALTH.trim()
    .split(/[|\n]/)
    .filter((name) => !health(`My sister Anna has ${name}, they say`).some((found) => found.includes(name)));
  expect(missed).toEqual([]);
});

test("every part of the body that hurts, broke or fails is one finding", () => {
  const part = fc.constantFrom("knee", "back", "hip", "kidney", "heart", "lung", "shoulder", "wrist", "liver", "neck");
  fc.assert(
    fc.property(part, fc.constantFrom("pain", "failure", "surgery", "infection", "injury", "transplant"), (at, what) => {
      expect(health(`My brother has ${at} ${what}, poor man`)).toEqual([`${at} ${what}`]);
    }),
  );
  fc.assert(
    fc.property(part, fc.constantFrom("broken", "swollen", "torn", "infected", "dislocated"), (at, how) => {
      expect(health(`My brother has a ${how} ${at}, poor man`)).toEqual([`${how} ${at}`]);
    }),
  );
});

describe("a finding is the whole of what is told: qualifiers, stage, part of the body, dose", () => {
  test.each([
    ["She has type 2 diabetes mellitus.", "type 2 diabetes mellitus"],
    ["She has stage III breast cancer.", "stage III breast cancer"],
    ["He has chronic obstructive pulmonary disease.", "chronic obstructive pulmonary disease"],
    ["He has acute myocardial infarction.", "acute myocardial infarction"],
    ["She has cancer of the left kidney.", "cancer of the left kidney"],
    ["He takes metoprolol 50 mg twice daily.", "metoprolol 50 mg twice daily"],
    ["Er nimmt Bisoprolol 5 mg 1-0-0.", "Bisoprolol 5 mg 1-0-0"],
    ["Elle a un cancer du sein depuis mai.", "cancer du sein"],
    ["Mi hijo tiene síndrome del intestino irritable.", "síndrome del intestino irritable"],
    ["Mon fils a une maladie valvulaire.", "maladie valvulaire"],
    ["Elle a une insuffisance cardiaque.", "insuffisance cardiaque"],
    ["Mi madre tiene cáncer de pulmón.", "cáncer de pulmón"],
    ["Mia madre ha il diabete tipo 1.", "diabete tipo 1"],
    ["A minha mãe tem insuficiência renal crónica.", "insuficiência renal crónica"],
    ["Her Graves' disease is back.", "Graves' disease"],
  ])("%s", (text, whole) => expect(health(text).join(" + ")).toContain(whole));
});

test("a value of a laboratory test is found with its unit, and only of somebody", () => {
  const test = fc.constantFrom(
    "HbA1c 8.2 %",
    "CD4 210",
    "PSA 9.1 ng/mL",
    "BP 160/95",
    "LDL 190 mg/dL",
    "TSH 9.4 mIU/L",
    "eGFR 38",
    "CRP: 44 mg/l",
    "INR 3.8",
    "PHQ-9 of 17",
    "SpO2 88 %",
  );
  fc.assert(
    fc.property(test, (value) => {
      expect(health(`The patient's ${value} today`).join(" ")).toBe(value);
      expect(health(`Reference for ${value} in laboratories`)).toEqual([]);
    }),
  );
});

describe("a person is seen where notes and messages mean one", () => {
  test.each([
    "Pat. klagt über Kopfschmerzen, nimmt Ibuprofen.",
    "Pt. seen today. Reports vertigo.",
    "Pte. refiere cefalea.",
    "Diagnosis: cholecystitis",
    "Hx: asthma, eczema",
    "Rx: warfarin 5 mg",
    "my mum has shingles",
    "Our son has chickenpox",
    "feeling awful, flu",
    "Off sick with tonsillitis",
    "can't come in today, migraine",
    "Krankmeldung bis Freitag, Bronchitis",
    "Sr. Gómez de baja por lumbalgia",
    "Mrs Hall came in at nine. Slept badly. Reports palpitations.",
  ])("%s", (text) =>
    expect(classifier.classify(text)).toMatchObject({ tier: "RESTRICTED", tags: expect.arrayContaining(["HEALTH"]) }),
  );
});

describe("what holds for everybody, or is no illness, is about nobody", () => {
  test.each([
    "Osteoarthritis is the commonest disease of joints worldwide",
    "Furosemide is a loop diuretic, i.e. it acts on the kidney",
    "Gastroparesis is diagnosed when the emptying of the stomach is delayed",
    "Psychosis refers to a loss of touch with reality, in which the patient hears voices",
    "Ibuprofen 400 mg, pack of 20 tablets, price 3.99",
    "The ministry reported more cases of measles this spring",
    "Die Leitlinie empfiehlt Metoprolol bei Herzinsuffizienz",
    "La bronquitis afecta a los pulmones",
    "I enable the metadata cache and she reviews the pull request",
    "My colleague lived in Lisbon before",
    "He said the power supply has a failure and the disk is slow",
    "Her ticket: server failure after the upgrade",
  ])("%s", (text) => expect(health(text)).toEqual([]));

  test("words of offices and programs name neither an illness nor a drug", () => {
    const words =
      "metadata enable disable lived living module modules service services session sessions customer customers project projects meeting invoice invoices delivery contract contracts server client clients cluster deploy release version branch commit merge request requests review reviews ticket tickets table tables column columns query queries index import export option options string number object array function method class account accounts password address letter letters number numbers rechnung vertrag kunde lieferung sitzung abteilung leistung zahlung buchung facture contrat livraison reunion equipe projet factura contrato reunion equipo proyecto fattura contratto riunione progetto fatura contrato reuniao equipa projeto factuur contract vergadering afdeling specialist specialists mechanism relationships championships confidentiality personality socialist electronic telephonique especialistas mecanismos migranten organismen geschlossene beschlossen haciendose facendosi vendite rendite premie pandemie servir sobrevivir pericoloso orgoglioso".split(
        " ",
      );
    expect(words.filter((word) => isIllness(word) || isDrug(word))).toEqual([]);
  });
});

describe("who has it is anybody that a sentence names by role, age, work or relation, in every language", () => {
  const SENTENCES: Readonly<Record<string, readonly [said: (who: string) => string, who: string]>> = {
    en: [
      (who) => `The ${who} suffers badly, epilepsy again`,
      "teacher intern plaintiff goalkeeper toddler policyholder guest plumber caller 72-year-old newcomer receptionist",
    ],
    de: [
      (who) => `${who} hat Epilepsie, bitte beachten`,
      "Azubine Anruferin Kläger Lehrerin Zwillinge Praktikant Mieterin Säugling Schwager 67-jährige",
    ],
    fr: [(who) => `La ${who} a une épilepsie`, "stagiaire locataire petite institutrice plaignante belle-mère dame serveuse"],
    es: [(who) => `La ${who} tiene epilepsia`, "becaria inquilina niña maestra jefa suegra mujer camarera asegurada"],
    it: [(who) => `La ${who} ha l'epilessia`, "stagista inquilina bambina maestra suocera donna cameriera assicurata"],
    pt: [(who) => `A ${who} tem epilepsia`, "estagiária inquilina menina professora sogra mulher segurada"],
    nl: [(who) => `De ${who} heeft epilepsie`, "stagiaire huurder kleine juf schoonmoeder verzekerde buurvrouw"],
  };
  const cases = Object.values(SENTENCES).flatMap(([said, list]) => list.split(" ").map((who) => said(who)));
  test.each(cases)("%s", (text) => expect(health(text)).toHaveLength(1));

  test.each([
    // A name of no lexicon, as the subject.
    "so Oisin was diagnosed with MS last week",
    "Heard that Xiulan has epilepsy, please be kind",
    // Taken up by a pronoun behind, in the next clause or sentence.
    "Pregnant?? She told Megan at lunch",
    "Colitis is confirmed; I have started her on tablets",
    // An age instead of a name.
    "Sortie prévue : 82 ans, ostéoporose",
    "34 y/o, gestational diabetes",
    // No subject, where the verb says it.
    "Tiene epilepsia desde pequeño",
    // What an examination found.
    "Biopsy confirmed melanoma. Discussed with the family.",
  ])("%s", (text) => expect(health(text)).not.toEqual([]));

  test.each([
    "A 45-year-old bridge with a hernia of steel",
    "Kids with epilepsy need a plan",
    "My laptop has a virus infection",
    "I'm allergic to Mondays",
    "Ich bin allergisch gegen Meetings",
    "Soy alérgico a madrugar",
    "He's addicted to Netflix",
    "This project gives me a headache",
    "My boss nearly had a heart attack when he saw the bill",
    "We all have World Cup fever, says Paul",
    "Please excuse Noah from PE this week",
    "She bought MS Office",
  ])("but not: %s", (text) => expect(health(text)).toEqual([]));

  test("an allergy to what people are allergic to is one", () => {
    for (const cause of ["penicillin", "peanuts", "cats", "latex", "shellfish"])
      expect(health(`My son is allergic to ${cause}`)).not.toEqual([]);
  });

  test("a value whose test is named in words, with whose it is between them", () => {
    for (const text of ["Paciente dela: TSH dela deu 8,2", "her hemoglobin came back 8.2", "Mum's cholesterol is 7.1"])
      expect(health(text).join(" ")).toMatch(/8[.,]2|7\.1/);
    expect(health("My recipe has glucose 300 mg")).toEqual([]);
  });

  test("an operation and what it is for, in Chinese", () => {
    expect(health("他老婆住院了，说是肺炎")).toHaveLength(2);
  });
});

test("the lexicon is what looking up finds: skeletons, in order, each once", () => {
  for (const list of [DRUGS.split(" "), ILLNESSES.split(" "), ILLNESS_PHRASES.split("|")])
    expect([...new Set(list)].sort()).toEqual(list);
  // A skeleton has nothing more to take away but what a second look at its end would.
  for (const each of [...DRUGS.split(" "), ...ILLNESSES.split(" ")])
    expect(skeletonOf(`${each}a`).length).toBeGreaterThanOrEqual(3);
});

test("an illness in one member of JSON is of whom another member names", () => {
  const record = {
    patient: { id: "MRN-0055512", birthDate: "1970-03-02" },
    condition: { text: "Chronic kidney disease stage 3" },
  };
  expect(classifier.classify(JSON.stringify(record))).toMatchObject({
    tier: "RESTRICTED",
    tags: expect.arrayContaining(["HEALTH"]),
  });
  expect(classifier.classify(JSON.stringify({ article: { title: "Chronic kidney disease", pages: 12 } })).tags).not.toContain(
    "HEALTH",
  );
});
