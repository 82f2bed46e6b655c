import { describe, expect, test } from "vitest";
import { createClassifier, DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, redact } from "../src/index.ts";

const classifier = createClassifier();

describe("passwords and codes that people tell each other are hidden", () => {
  test.each([
    ["psst the root pw for the old NAS is still Summer2019!", "Summer2019!"],
    ["il dit que son mot de passe Azur1987! ne marche plus.", "Azur1987!"],
    ["the wifi code is 48213377", "48213377"],
    ["WLAN-Schlüssel: kX83jjw92", "kX83jjw92"],
    ["Das Kennwort lautet Herbst_22", "Herbst_22"],
    ["login: anna / Tulpen99", "Tulpen99"],
    ["user admin pass Qwert!23", "Qwert!23"],
    ["the password is bluebird with a capital B", "bluebird"],
    ["Passwort ist sonnenblume, alles klein", "sonnenblume"],
    ["door code is 4711#", "4711#"],
    ["code de la porte : 2580", "2580"],
    ["El PIN de la tarjeta es 4829", "4829"],
    ["Il codice dell'allarme è 2291", "2291"],
    ["O código do portão é 5582", "5582"],
    ["Portkoden är 1423", "1423"],
    ["Kod do domofonu to 2580#", "2580#"],
    ["Wifi şifresi: kedi1234", "kedi1234"],
    ["My PIN is 2291", "2291"],
    ["hasło to Kotek2020!", "Kotek2020!"],
  ])("%s", (text, secret) => {
    expect(classifier.classify(text)).toMatchObject({ tier: "RESTRICTED", tags: expect.arrayContaining(["CREDENTIALS"]) });
    const { text: hidden } = redact(text, { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [] });
    expect(hidden).not.toContain(secret);
  });

  test.each([
    "export API_KEY=<your key here>\n./run.sh",
    "password: changeme",
    "the password is your_password123",
    "PIN: <your pin>",
    "Use ${DB_PASSWORD} as the password",
    "The password is required",
    "the password must be 12-character at least",
    "error code is 404",
    "connect pin 1234 to ground?",
    "the code for the test is in test2.ts",
    "Login with OAuth2 / SAML2",
    "user guide / v2.1",
    "Your password expires in 30days",
    "pass 1234 tests and fail 12",
  ])("what stands for one, or is said about one, is none: %s", (text) =>
    expect(classifier.classify(text).tags).not.toContain("CREDENTIALS"),
  );
});

describe("an address that every machine has is nobody's", () => {
  test.each(["Bind to 127.0.0.1:8080", "listen on 0.0.0.0 in the container", "mask 255.255.255.0", "ping ::1"])("%s", (text) =>
    expect(classifier.classify(text).tags).not.toContain("IP"),
  );
  test("another is somebody's", () => expect(classifier.classify("from 81.2.69.144").tags).toContain("IP"));
});
