import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClassifier } from "../src/index.ts";

const classifier = createClassifier();
const tags = (text: string) => classifier.classify(text).tags;
const told = (text: string, tag: string): void => {
  expect([text, tags(text)]).toEqual([text, expect.arrayContaining([tag])]);
};

describe("who belongs to a union is told by the union's own name, whatever the language", () => {
  const names = fc.constantFrom("Anna", "Mr Leung", "Cem", "Giulia");
  const frames = fc.constantFrom<readonly [(name: string, union: string) => string, readonly string[]]>(
    [(n, u) => `${n} is a member of ${u} and pays dues`, ["UNISON", "the GMB", "the Teamsters", "Unite", "the UAW", "COSATU"]],
    [(n, u) => `${n} was elected as rep for ${u}`, ["Unite", "UNISON", "Usdaw", "the RMT"]],
    [(n, u) => `${n} ist Mitglied bei der ${u}`, ["IG Metall", "IG BCE", "ver.di", "GEW", "NGG"]],
    [(n, u) => `${n} est adhérent à la ${u}`, ["CGT", "CFDT", "CFTC", "FSU"]],
    [(n, u) => `${n} está afiliado a ${u}`, ["CCOO", "UGT", "Comisiones Obreras"]],
    [(n, u) => `${n} è iscritto alla ${u}`, ["CGIL", "CISL", "UIL"]],
    [(n, u) => `${n} é filiado à ${u}`, ["CGTP", "CUT", "UGT"]],
    [(n, u) => `${n} is lid van de ${u}`, ["FNV", "CNV", "ABVV"]],
    [(n, u) => `${n} należy do ${u}`, ["OPZZ", "Solidarności"]],
    [(n, u) => `${n} är medlem i ${u}`, ["Unionen", "Kommunal", "IF Metall"]],
  );
  const drawn = frames.chain(([say, unions]) =>
    fc.tuple(names, fc.constantFrom(...unions)).map(([name, union]) => say(name, union)),
  );
  test("one sentence says it", () =>
    fc.assert(
      fc.property(drawn, (text) => told(text, "UNION")),
      { numRuns: 200 },
    ));

  test.each([
    "He is on the works council",
    "Sie sitzt im Betriebsrat",
    "Anna voted to strike in the ballot",
    "Payroll: deduct Unite subs for K. Adeyemi",
    "Our new hire is a Teamster",
    "Marek handed out union leaflets in the canteen",
    "Paolo è delegato FIOM",
    "Frau Lorenz ist in der IG-Metall, als IG-Metall-Mitglied",
    "Ginevra Morandini, Trieste. Traduttrice. Iscritta alla CGIL.",
  ])("%s", (text) => told(text, "UNION"));

  test.each([
    "Unite the two branches before merging, he said",
    "The strike price of my option is 40",
    "Der Betriebsrat wurde informiert, sagt Anna",
    "We are members of the Green Book Club, she said",
    "I'm a member of the community",
  ])("none: %s", (text) => expect(tags(text)).not.toContain("UNION"));
});

describe.each<readonly [string, readonly string[], readonly string[]]>([
  [
    "CRIMINAL",
    [
      "Mr Leung was convicted of fraud in 2016, which he disclosed",
      "He served two years in prison for burglary",
      "Anna has a DUI from 2019",
      "He got a police caution for possession",
      "She was sentenced to probation for theft",
      "Herr Krause ist wegen Betrugs vorbestraft",
      "Background screening returned a drink-driving conviction for the applicant, Mr Rasmussen",
      "Vetting found a caution for possession on Mr Boateng's file",
      "DBS check came back with an assault from 2011 for Ms Doyle",
      "Er saß drei Jahre im Knast",
      "Fue condenado por tráfico de drogas",
      "È agli arresti domiciliari",
      "Ele tem cadastro por furto",
      "Er hat eine Strafe auf Bewährung, sagt seine Frau",
      "Son casier judiciaire mentionne un vol",
      "Tiene antecedentes penales, según su jefe",
      "Mia sorella è stata condannata per truffa",
      "O meu irmão esteve preso na cadeia, foi condenado por roubo",
      "Hij heeft een strafblad",
      "Marek był karany za kradzież, powiedziała jego żona Anna",
      "Karin är dömd för stöld, säger Anna",
    ],
    [
      "Peter passed his probation period",
      "I was charged twice for the order",
      "Charged with the task of cleaning up, he left",
      "His record was broken in March",
      "He was arrested by the beauty of the view",
      "Antecedentes familiares: su madre es alta",
      "It is a case of arrested development, he said",
    ],
  ],
  [
    "POLITICS",
    [
      "She votes Labour",
      "I campaigned for the Lib Dems",
      "Er ist seit 2012 in der CDU aktiv",
      "Elle milite chez La France insoumise",
      "Vota a Vox, me dijo",
      "Mio fratello è iscritto al Partito Democratico",
      "Ele é filiado ao PSOL",
      "Hij stemt op de VVD",
      "My neighbour leans left politically",
      "Jonas ist rechtsextrem",
    ],
    [
      "Our green energy plan was approved, she said",
      "He turned left at the crossing",
      "Il a tourné à droite",
      "The labour market is tight, he said",
      "Please join us for the Christmas party, she says",
      "Please vote on the design, he said",
    ],
  ],
  [
    "RELIGION",
    [
      "She fasts during Ramadan",
      "He keeps the Sabbath and needs kosher meals",
      "Ahmed is off for Eid next week",
      "Sie ist aus der Kirche ausgetreten",
      "Mein Kollege ist getauft",
      "Elle va à la messe tous les dimanches",
      "Va a misa con su madre",
      "Hij gaat elke zondag naar de kerk",
      "Mia moglie è stata battezzata",
      "A minha mãe é crente",
    ],
    [
      "The temple was built in 1200, he said",
      "Je vous prie d'agréer mes salutations",
      "Ich habe zur Messe in Hannover ein Ticket",
      "Ho una messa a fuoco lenta",
      "Critical mass was reached, he said",
    ],
  ],
  [
    "ORIENTATION",
    [
      "His husband Mark will pick up the keys",
      "She is married to her wife Anna",
      "Ellie was bullied because her mums are lesbians",
      "Tom is trans and started hormones",
      "sein Ehemann wartet",
      "Elle est mariée à une femme",
      "Mio fratello è unito civilmente",
      "Haar broer kwam uit de kast",
    ],
    ["We came out of the meeting with a plan", "Her husband called", "his wife called", "I'm transitioning to the data team"],
  ],
  [
    "ETHNICITY",
    [
      "The candidate, a Roma woman from Cluj, asked for a room",
      "He is Black and the only one in the team",
      "Sie ist türkischstämmig",
      "Elle est maghrébine",
      "De medewerker is van Marokkaanse afkomst",
      "Mi vecina es gitana",
    ],
    ["My black jacket is lost", "I am in favour of black coffee", "Roma was crowded, he said"],
  ],
  [
    "BIOMETRIC",
    [
      "We stored her fingerprint template",
      "His face scan was enrolled at the gate",
      "Sein Irisscan liegt im System",
      "Nous avons l'empreinte vocale de Mme Dupont",
      "Tenemos el reconocimiento facial de mi empleado",
    ],
    ["Our face recognition API returns a template", "I scanned the print, he said"],
  ],
  [
    "GENETIC",
    [
      "Anna is BRCA1 positive",
      "He is a carrier of the sickle cell gene",
      "Sie ist Anlageträgerin",
      "Elle est porteuse du gène BRCA2",
      "Mi hermana es portadora de la mutación",
    ],
    ["The gene expression in mice was measured, she said", "I need a genetic algorithm for scheduling"],
  ],
])("%s", (tag, somebodys, nobodys) => {
  test.each(somebodys)("is somebody's: %s", (text) => told(text, tag));
  test.each(nobodys)("is nobody's: %s", (text) => expect(tags(text)).not.toContain(tag));
});

describe("pay is a sum that somebody gets, whether or not it is called pay", () => {
  const frames = fc.constantFrom<(name: string, sum: string) => string>(
    (n, s) => `${n} moved to band 6; new base is ${s}`,
    (n, s) => `${n} would accept ${s}`,
    (n, s) => `raise to ${s} for ${n} approved`,
    (n, s) => `${n} got an offer of ${s} a year`,
    (n, s) => `${n}: her bonus was ${s}`,
    (n, s) => `${n}: Sein Stundensatz liegt bei ${s}`,
    (n, s) => `${n} bekommt ${s} netto im Monat`,
    (n, s) => `Augmentation validée : ${n} passe à ${s} net par mois`,
    (n, s) => `${n} gana ${s} al mes`,
    (n, s) => `Lo stipendio di ${n} è di ${s}`,
    (n, s) => `Lönen för ${n} höjs till ${s} i månaden`,
  );
  const sums = fc.constantFrom("$94,000", "£58,400", "3 200 €", "€ 3.975", "41 500 kr", "85k", "4.850 €");
  test("in words of every language", () =>
    fc.assert(
      fc.property(fc.constantFrom("Maria Rossi", "Anna Weber", "Mr Leung"), frames, sums, (name, say, sum) =>
        told(say(name, sum), "SALARY"),
      ),
      { numRuns: 200 },
    ));
  test.each([
    "Anna paid 20 euros for lunch",
    "The offer ends Friday, 20 euros off, tell my wife",
    "He raised $40,000 for charity",
    "I paid $1,200 for the flight",
    "The new base model costs $1,200 and I like it",
    "My server makes 400 requests, 20 euros a month",
    "She makes pizza for 12 euros",
  ])("what things cost is none: %s", (text) => expect(tags(text)).not.toContain("SALARY"));
});
