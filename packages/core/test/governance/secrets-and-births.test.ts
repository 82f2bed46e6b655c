import { describe, expect, test } from "vitest";
import { createClassifier } from "../../src/governance/index.ts";

const classifier = createClassifier();
const long = "Zm9vYmFyYmF6cXV4".repeat(6).slice(0, 86);

describe("secrets in the places that programs keep them in", () => {
  test.each([
    "ENV DB_PASS=kP7wq2Lx91",
    "redis_pass: tr0ub4dor",
    "SMTP-PASS=hunter2hunter2",
    "CREATE USER app IDENTIFIED BY 'k3epout-9'",
    'ALTER USER app IDENTIFIED BY "k3epout-9"',
    `hf_${"aB3dE6gH9jKlMnOpQrStUvWxYz012345678".slice(0, 34)}`,
    `AccountName=acme;AccountKey=${long}==;EndpointSuffix=core.windows.net`,
    `post it to https://hooks.slack.com/services/${"T00AAAAAA"}/B00BBBBBB/${"abcdEFGHijklMNOPqrstUVWX"}`,
    "machine ftp.example.org login ada password k3epout9",
  ])("%s", (text) =>
    expect(classifier.classify(text)).toMatchObject({ tier: "RESTRICTED", tags: expect.arrayContaining(["CREDENTIALS"]) }),
  );

  test.each([
    "password = os.environ['DB_PASSWORD']",
    "password = os.environ.DB_PASSWORD",
    "const password = process.env.DB_PASSWORD",
    "password = getpass()",
    "db_pass = config.get('db')",
    "bypass: enabled",
    "the compass=north of it",
  ])("where a secret comes from is none: %s", (text) => expect(classifier.classify(text).tags).not.toContain("CREDENTIALS"));
});

describe("a date beside a word of birth is a date of birth", () => {
  test.each([
    "DOB 03/14/1985",
    "DOB: 1985-03-14",
    "she was born on 14 March 1985 in Leeds",
    "geboren am 14.03.1985",
    "Geburtsdatum: 14.03.1985",
    "née le 14/03/1985",
  ])("%s", (text) =>
    expect(classifier.classify(text)).toMatchObject({ tier: "CONFIDENTIAL", tags: expect.arrayContaining(["DOB"]) }),
  );

  test.each(["the invoice of 14.03.2024", "due on 2024-03-14", "released on 14 March 2024"])("another date is none: %s", (text) =>
    expect(classifier.classify(text).tags).not.toContain("DOB"),
  );
});
