import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClassifier, DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, redact } from "../src/index.ts";

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

describe("a truth under the name of a secret says whether there is one, and is none", () => {
  const truth = fc.constantFrom("true", "false", "TRUE", "yes", "no", "t", "f", "0", "1", "off");
  const name = fc.constantFrom("secret", "client_secret", "password", "session_token", "api_key");
  test("in a column", () =>
    fc.assert(
      fc.property(name, fc.array(truth, { minLength: 1 }), fc.boolean(), (name, values, people) => {
        const rows = values.map((value, i) => `${i},${people ? `u${i}@example.org` : i},${value}`).join("\n");
        expect(classifier.classify(`id,${people ? "email" : "n"},${name}\n${rows}\n`).tags).not.toContain("CREDENTIALS");
        expect(classifier.classify(`id,n,${name}\n${rows}\n9,9,x9Gh27Qpl0\n`).tags).toContain("CREDENTIALS");
      }),
    ));
  test("in JSON", () =>
    fc.assert(
      fc.property(name, fc.oneof(truth, fc.boolean()), (name, value) => {
        expect(classifier.classify(JSON.stringify({ [name]: value })).tags).not.toContain("CREDENTIALS");
      }),
    ));
});

describe("credentials that are called by the plain words for them", () => {
  const hex = "9f86d081884c7d659a2feaa0c55ad015";
  test.each([
    "token=abcDEF1234567890xyzQRS",
    `token: ${hex}`,
    `"token" = '${hex}'`,
    `secret: ${hex}`,
    `{"token":"${hex}"}`,
    `{"session":{"csrfToken":"${hex}"}}`,
    `id,token\n1,${hex}\n`,
    `sessionToken=${hex}`,
    "secret: s3cr3tV4lue!",
    '{"secret":"s3cr3tV4lue!"}',
    "Basic dXNlcjpwYXNzd29yZA==",
    "Authorization: Basic dXNlcjpwYXNzd29yZA==",
    '{"authorization":"Basic bcO8bGxlcjpwYXNzd29ydA=="}',
    "The password is Summer2024!",
    "The password for the staging server is Summer2024!",
    "Das Passwort lautet Sommer2024!",
    "Das Kennwort für den Server ist „Sommer2024!“",
    "Le mot de passe est Ete2024!",
    "Le mot de passe du serveur est maintenant : Ete2024!".replace(" :", ":"),
    "La contraseña es Verano2024!",
    "La password è Estate2024!",
    "A senha é Verao2024!",
    "Het wachtwoord is Zomer2024!",
    "Het wachtwoord voor de router luidt Zomer2024!",
  ])("%s", (text) =>
    expect(classifier.classify(text)).toMatchObject({ tier: "RESTRICTED", tags: expect.arrayContaining(["CREDENTIALS"]) }),
  );

  test.each([
    "the secret: patience",
    "our secret: 3-ingredient sauces",
    "secret: tls-prod-2024",
    "token: true",
    ".a { --token: true; }",
    "const token = response.data.access_token2",
    "const token = getToken1234567890()",
    "secret: my-database-credentials-v2",
    "the token expired after 3600 seconds and was renewed",
    "tokens: 1234567890123456",
    `{"nextPageToken":"${hex}"}`,
    `next_page_token=${hex}`,
    `pageToken=${hex}`,
    '{"secret_name":"pr0d-v4ult-k3y"}',
    '{"token":"design-color-primary-500"}',
    '{"token":true,"secret":"projects/acme/secrets/tls/versions/12"}',
    `{"etag":"${hex}"}`,
    "basic training starts on Monday",
    "Basic dHJhaW5pbmcgb2Ygc3RhZmY=",
    "Das Passwort ist falsch!",
    "the password is required!",
    "Le mot de passe est expiré depuis 2023",
    "the password is 16-character at least",
    "Das Passwort ist seit 2023 abgelaufen",
  ])("is none: %s", (text) => expect(classifier.classify(text).tags).not.toContain("CREDENTIALS"));
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

describe("a secret is hidden as far as it goes, under whatever name programs give it", () => {
  const redacted = (text: string) =>
    redact(text, { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [] }).text;
  test.each([
    ['password: "correct horse battery staple"', "horse battery staple"],
    ["SMTP_PASS='correct horse battery'", "horse battery"],
    ['passphrase = "it\\"s a \\\\ long one"', "a long one"],
    ["password: 'semi;colon,comma&and'", "semi colon comma and"],
    ['{"note": "x", "password": "two wörds"}', "two wörds"],
    ["const dbPassword = 'hunter22x';", "hunter22x"],
    ['adminPassword: "plainwords here"', "plainwords here"],
    ["userPassword=hunter22x", "hunter22x"],
    ["PGPASSWORD=Zebra_99 psql -h db", "Zebra_99"],
    ["SSHPASS=x7Kq9zpT sshpass -e ssh h", "x7Kq9zpT"],
    ["REDISCLI_AUTH=x7Kq9zpT redis-cli", "x7Kq9zpT"],
    ["'password' => 'hunter22x',", "hunter22x"],
    ['password := "hunter22x"', "hunter22x"],
    ["<password>hunter22x</password>", "hunter22x"],
    ['<ns:dbPassword type="plain">two words</ns:dbPassword>', "two words"],
    ["<smtp.password>hunter22x</smtp.password>", "hunter22x"],
    ["the wifi pw is Blu3-Kettle!9", "Blu3-Kettle!9"],
    ["pw: Blu3-Kettle!9", "Blu3-Kettle!9"],
    ["docker login -u deploy -p Qw7!zpT9x registry.example", "Qw7!zpT9x"],
    ["sshpass -p Qw7zpT9x ssh root@h", "Qw7zpT9x"],
    ["redis-cli -h cache -a Qw7zpT9x ping", "Qw7zpT9x"],
    ["sqlcmd -S h -U sa -P 'Zebra 99!' -Q x", "Zebra"],
    ["ldapsearch -D cn=admin -w Qw7zpT9x -b dc=x", "Qw7zpT9x"],
    ["openssl rsa -in k.pem -passin pass:Qw7zpT9x", "Qw7zpT9x"],
    ["Cookie: theme=dark; JSESSIONID=38AFE57A8BC29D34F1; Path=/", "38AFE57A8BC29D34F1"],
    ["Set-Cookie: connect.sid=s%3Aj2k4h5k2j3h4k5.a1b2c3; HttpOnly", "j2k4h5k2j3h4k5"],
  ])("%s", (text, secret) => {
    for (const word of secret.split(" ")) expect(redacted(text)).not.toContain(word);
  });

  test.each([
    "password: string",
    "readonly dbPassword: string;",
    "private String userPassword;",
    "password: Optional[str] = None",
    'password: "{{ vault_pw }}"',
    "password: ${{ secrets.PW }}",
    `password: '$${"{DB_PASSWORD}"}'`,
    "pw = 1800",
    "PWD=/srv/app",
    "docker run -p 8080:80 nginx",
    "redis-cli -h cache -a",
    "mkdir -p build/output",
    "ssh -p 2222 build.host",
    "the cookie sessionid= is empty",
    "the laser has a pw of 20ns",
    "<passwordPolicy>twelve characters at least</passwordPolicy>",
    "const resetPassword = async () => {",
    "this.resetPassword = resetPassword;",
  ])("no secret: %s", (text) => expect(redacted(text)).toBe(text));
});

describe("an address of mail may be one of a network of its own", () => {
  test.each([
    "a.b@corp.local",
    "ops@dc01.internal",
    "root@srv.lan",
    "x@hr.corp",
    "a@b.home.arpa",
    "ada@mail.example",
    "jo%40crm.local",
  ])("%s", (address) => expect(classifier.classify(`write to ${address}, please`).tags).toContain("EMAIL"));
  test.each(["a@localhost", "import x@1.2.local2", "@angular/core", "user@host.notaname"])("none: %s", (text) =>
    expect(classifier.classify(`see ${text} there`).tags).not.toContain("EMAIL"),
  );
});
