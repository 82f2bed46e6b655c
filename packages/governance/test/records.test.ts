import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClassifier } from "../src/index.ts";

const { classify } = createClassifier();
const tierOf = (text: string) => classify(text).tier;
const word = fc.stringMatching(/^[A-Z]{3,12}$/);
const digits = fc.stringMatching(/^[1-9][0-9]{4,9}$/);

describe("a message about a patient is health data", () => {
  test("of HL7 v2: whatever the separators, the ends of segments, and what stands in the fields", () =>
    fc.assert(
      fc.property(
        fc.constantFrom("|", "#", "!"),
        fc.constantFrom("\r", "\n", "\r\n"),
        fc.constantFrom("PID", "OBX", "DG1", "AL1", "RXE", "NK1"),
        word,
        digits,
        (separator, end, segment, name, number) => {
          const header = ["MSH", "^~\\&", name, "LAB", "", "", "20260101", "", "ADT^A01", number, "P", "2.5.1"].join(separator);
          const body = [segment, "1", "", `${number}^^^MR`, "", name].join(separator);
          expect(tierOf(`${header}${end}${body}`)).toBe("RESTRICTED");
          if (separator === "|") expect(tierOf(body)).toBe("RESTRICTED");
        },
      ),
    ));

  test("of X12, with and without its envelope", () =>
    fc.assert(
      fc.property(
        fc.constantFrom("*", "|"),
        fc.constantFrom("~", "~\n"),
        fc.constantFrom("270", "271", "276", "277", "278", "834", "835", "837"),
        digits,
        (separator, end, transaction, number) => {
          const envelope = `ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       *260101*1253*^*00501*${number}*1*P*:`;
          const message = [envelope, `GS*HC*A*B*20260101*0802*1*X*005010`, `ST*${transaction}*0021`].join(end);
          expect(tierOf(message.replaceAll("*", separator))).toBe("RESTRICTED");
          for (const segment of [
            `CLM*${number}*100***11:B:1`,
            `HI*ABK:J45909`,
            `DMG*D8*19430501*F`,
            `NM1*IL*1*DOE*JOHN****MI*${number}`,
          ])
            expect([segment, tierOf(segment)]).toEqual([segment, "RESTRICTED"]);
        },
      ),
      { numRuns: 40 },
    ));

  test.each([
    "UNB+UNOA:2+5021376940009:14+1111111111111:14+200421:1000+0001'UNH+1+MEDCLM:D:98A:UN'BGM+1'",
    "UNB+UNOC:3+1234+5678+200421:1000+1'UNH+00001+AUFN:04:000:00'FKT+10+01+260123456+109999999'",
    '{"resourceType":"Observation","code":{"text":"x"}}',
    '[{"fullUrl":"a","resource":{"resourceType": "AllergyIntolerance"}}]',
    "<ClinicalDocument xmlns='urn:hl7-org:v3'><title>x</title></ClinicalDocument>",
    "(0010,0030) DA [19430501]   # 8, 1",
    "resourceType: Patient\nname: x",
    "0133101Doe\n0143102Jane\n0173103X1011980",
  ])("%s", (text) => expect(tierOf(text)).toBe("RESTRICTED"));
});

describe("a hash of a password is one", () => {
  test.each([
    "root:$6$rounds=5000$abc$def0123456789abcdef:19000:0:99999:7:::",
    "bob:$y$j9T$abc$abcdefghijklmnopqr:19000:0:99999:7:::",
    "eve:ab1cdefghijkl:19000:0:99999:7:::",
    "alice:1001:aad3b435b51404eeaad3b435b51404ee:8846f7eaee8fb117ad06bdd830b7586c:::",
    "admin:$apr1$Z5hQ1kXy$3cH2f9v1aJmWm2qgkIuSx/",
    "it is $2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW",
    "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b27dWRJJTmaaJObG",
    "pbkdf2_sha256$260000$abcdefgh$0123456789abcdefghijklmnopqrstuvwxyz=",
    "SCRAM-SHA-256$4096:c2FsdHNhbHQ=$U3RvcmVkS2V5:U2VydmVyS2V5MTIz",
    "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19",
    "md5a3556571e93b0d20722ba62be61e8c2d",
    "{SSHA}DkMTwBl+a/3DQTxCYEApdUtNXGgdUac3",
    "dn: uid=bob\nuserPassword:: e1NTSEF9aGVsbG8=",
  ])("%s", (text) => expect(tierOf(text)).toBe("RESTRICTED"));

  test.each(["daemon:*:18474:0:99999:7:::", "root:x:0:0:root:/root:/bin/bash", "svc-web:x:998:997::/srv:/usr/sbin/nologin"])(
    "a line of accounts is about people: %s",
    (text) => expect(tierOf(text)).toBe("CONFIDENTIAL"),
  );
});

test.each([
  "MSH|^~\\&|A|B|C|D|20200101||ACK|1|P|2.4\rMSA|AA|1",
  "PID|USER|PR|NI",
  "UNB+UNOA:2+1+2+200421:1000+0001'UNH+1+ORDERS:D:96A:UN'BGM+220+1'",
  "ST*850*0001~BEG*00*SA*4500012345~",
  '{"resourceType":"ValueSet","url":"x"}',
  "the hash is 5f4dcc3b5aa765d61d8327deb882cf99",
  "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
  "localhost:8080:80",
  "x.replace(/(a)(b)/, '$1$2')",
  "from $5 to $6 per month",
  "10:20:30:40 is an offset",
  "a:b:c:d:e:f:g",
])("no message about a person: %s", (text) => expect(["PUBLIC", "INTERNAL"]).toContain(tierOf(text)));
