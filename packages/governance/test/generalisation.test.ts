import { describe, expect, test } from "vitest";
import { createClassifier, DEFAULT_RECOGNISERS, recognise, tierRank } from "../src/index.ts";

const entities = (text: string, options = {}) => recognise(text, DEFAULT_RECOGNISERS, options).map((f) => f.entity);
const classifier = createClassifier();
const rank = (text: string) => tierRank(classifier.policy, classifier.classify(text).tier);

describe("identifiers as people write them elsewhere", () => {
  test.each([
    ["Kreditkarte 5555.5555.5555.4444", "CREDIT_CARD"],
    ["card:4111_1111_1111_1111", "CREDIT_CARD"],
    ["DE89.3704.0044.0532.0130.00", "IBAN_CODE"],
    ["https://x.example.com/?u=ada%40lovelace.org", "EMAIL_ADDRESS"],
    ["ada [at] lovelace [dot] org", "EMAIL_ADDRESS"],
    ["josé@correo.es", "EMAIL_ADDRESS"],
    ["info@bücher.de", "EMAIL_ADDRESS"],
    ["llámame al 612 345 678", "PHONE_NUMBER"],
    ["тел. 8 (495) 123-45-67", "PHONE_NUMBER"],
    ["DNI: 12.345.678-Z", "ES_NIF"],
    ["RUT 12.531.909-2", "NATIONAL_ID"],
    ["身份证号 11010519491231002X", "NATIONAL_ID"],
    ["เลขประจำตัวประชาชน 3408579114111", "TH_TNIN"],
    ["671994746 is the Australian Company Number on file", "AU_ACN"],
    ["Passwort: Sommer2024!", "PASSWORD"],
    ["mot de passe : azerty123", "PASSWORD"],
    ["mysqldump -u root -pS3cretPass! shop", "PASSWORD"],
    ["run it with --password=S3cretPass!", "PASSWORD"],
    ["Señora García llamó ayer", "PERSON"],
    ["je m'appelle Amélie Poulain", "PERSON"],
    ["Rufnummer 089 / 12 34 56", "PHONE_NUMBER"],
    ["手机 13800138000", "PHONE_NUMBER"],
    ["Fahrgestellnummer WVWZZZ1JZXW000001", "VEHICLE_ID"],
    ["redis://:p4ssw0rd@cache.example.org:6379/0", "PASSWORD"],
    ["curl -u admin:S3cretPass https://x.example.com", "PASSWORD"],
    ["Patient, 63 Jahre alt", "AGE"],
    ["I live at 221B Baker Street, London", "STREET_ADDRESS"],
    ["wohnt in der Lindenstraße 12a", "STREET_ADDRESS"],
    ["habite 12 bis rue de la Paix", "STREET_ADDRESS"],
    ["vive en Calle Mayor, 5", "STREET_ADDRESS"],
    ["geboren am 3. März 1985", "DATE_TIME"],
    ["nacida el 5 de mayo de 1978", "DATE_TIME"],
  ])("%s holds %s", (text, entity) => expect(entities(text)).toContain(entity));
});

describe("numbers of things", () => {
  test.each([
    "Bestellung 4500987654 wird morgen geliefert",
    "numéro de série 123456789012",
    "upgrade from 10.4.1.2 to 10.4.1.3",
    "firmware 1.2.3.4-beta.5",
    "credit of 100000000000 granted by the bank",
    "the social network has 536228726 users",
    "account for 12345678 euros of revenue",
    "OpenSSL 30 Jan 2024",
    "stringify │ 10000 │ 273968.62 op/sec",
    "template according to RFC6570",
    "leak a native zlib handle",
    "extract the cookie with the given name from the header",
    "Aktenzeichen 12 C 345/24",
    "iPhone 15 Pro Max 256GB",
    "mise à jour 10.2.3.4 disponible",
    "12 Main Points of the Road Map",
    "Wochen 12 bis 16",
  ])("%s is not confidential", (text) => expect(rank(text)).toBeLessThan(2));

  test("a check digit that one number in ten has by chance needs its name or its country, unless nothing else is there", () => {
    expect(entities("value 130692544 ok")).not.toContain("CA_SIN");
    expect(entities("social insurance 130692544 ok")).toContain("CA_SIN");
    expect(entities("value 130692544 ok", { country: "ca" })).toContain("CA_SIN");
    expect(entities("130692544")).toContain("CA_SIN");
  });

  test("a quantity in a text that names an identifier does not hide the identifier", () =>
    expect(entities("12345678 users; ssn 536228726")).toContain("US_SSN"));
});

describe("queries of languages without a parser here", () => {
  test.each([
    ["query { users { id email ssn } }", ["EMAIL", "SSN"]],
    ["{ customer(id: 7) { fullName creditCard { number } } }", ["NAME", "CREDIT_CARD"]],
    ["db.users.find({}, { email: 1, ssn: 1 })", ["EMAIL", "SSN"]],
    ["db.customers.aggregate([{ $project: { iban: '$account.iban' } }])", ["IBAN"]],
    ["MATCH (p:Person) RETURN p.email, p.ssn", ["EMAIL", "SSN"]],
    ["g.V().hasLabel('customer').values('email')", ["EMAIL"]],
    ["customers | where country == 'DE' | project email, phone", ["EMAIL", "PHONE"]],
  ])("%s names %s", (text, tags) => {
    const answer = classifier.classify(text);
    expect(answer.form).toBe("query");
    expect(answer.tags).toEqual(expect.arrayContaining(tags));
  });

  test.each([
    ['{"_source":["email","phone"],"query":{"match_all":{}}}', ["EMAIL", "PHONE"]],
    ['{"TableName":"Users","ProjectionExpression":"email, ssn"}', ["EMAIL", "SSN"]],
    ['{"query":"{ users { email dateOfBirth } }"}', ["EMAIL", "DOB"]],
  ])("%s names %s", (text, tags) => expect(classifier.classify(text).tags).toEqual(expect.arrayContaining(tags)));

  test.each([
    "query { products { sku price } }",
    "db.products.find({ price: { $gt: 100 } }, { sku: 1 })",
    "if (x) { return y; }",
  ])("%s names nothing sensitive", (text) => expect(rank(text)).toBeLessThan(2));

  test("half a megabyte of openings is read to the end", () => {
    for (const unit of ["'select ", "{a{", "query x", "x | ", "db.a", "match (", "exporter ", "]}} ", "}} "]) {
      const text = unit.repeat(500_000 / unit.length);
      expect(classifier.classify(text).confidence).toBeGreaterThanOrEqual(0);
      expect(classifier.classify(`{a{${text}`).confidence).toBeGreaterThanOrEqual(0);
    }
  }, 60_000);
});

describe("requests in other languages mean what they mean in English", () => {
  test.each([
    ["Exportiere alle E-Mail-Adressen unserer Kunden", "EXPORT", "EMAIL"],
    ["Bitte alle Telefonnummern der Patienten herunterladen", "EXPORT", "PHONE"],
    ["Zeige mir die Gehälter aller Mitarbeiter", "READ", "SALARY"],
    ["Lösche alle Adressen der Nutzer", "DELETE", "ADDRESS"],
    ["Télécharger les numéros de téléphone des patients", "EXPORT", "PHONE"],
    ["supprimer les dates de naissance des utilisateurs", "DELETE", "DOB"],
    ["Muéstrame los salarios de todos los empleados", "READ", "SALARY"],
    ["Exporta todos los correos electrónicos de los clientes", "EXPORT", "EMAIL"],
  ])("%s", (text, operation, tag) =>
    expect(classifier.classify(text)).toMatchObject({ operation, tags: expect.arrayContaining([tag]) }),
  );

  test.each([
    "Kunden ohne E-Mail-Adressen exportieren",
    "exporter les clients sans leurs e-mails",
    "exportar clientes sin correos",
    "Wie viele Kunden haben wir?",
    "Combien de clients avons-nous ?",
    "¿Cuántos clientes tenemos?",
  ])("%s is about business, not about persons", (text) => expect(rank(text)).toBe(1));

  test("numbers of cards are not a number of cards", () => {
    expect(rank("download all credit card numbers of our clients")).toBe(4);
    expect(rank("the number of credit cards per month")).toBe(3);
  });
});
