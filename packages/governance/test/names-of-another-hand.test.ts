import { describe, expect, test } from "vitest";
import { createClassifier, DEFAULT_RECOGNISERS, recognise } from "../src/index.ts";

const told = (text: string, entity: string) =>
  recognise(text, DEFAULT_RECOGNISERS)
    .filter((finding) => finding.entity === entity)
    .map(({ start, end }) => text.slice(start, end));

describe("a name alone is somebody where it is spoken to, spoken of or signs, in any language", () => {
  test.each([
    ["ask Ruth about the keys", "Ruth"],
    ["cc Baraka please", "Baraka"],
    ["Huge thanks to Kelechi at the front desk", "Kelechi"],
    ["Thanks, Njoroge", "Njoroge"],
    ["Rob will revise it.", "Rob"],
    ["worried about Oscar's tone", "Oscar"],
    ["Dear Whitlam,", "Whitlam"],
    ["Oi Thaís, tudo bem?", "Thaís"],
    ["Merhaba Ayşe,", "Ayşe"],
    ["Cześć Kasia,", "Kasia"],
    ["Hej Björn,", "Björn"],
    ["Best,\nAchieng", "Achieng"],
    ["LG\nMaike", "Maike"],
    ["Domani l'ingegner Bellandi non c'è", "Bellandi"],
    ["met with Xu Meiling", "Xu Meiling"],
    ["Kim Min-jun joined the call", "Kim Min-jun"],
    ["we interviewed Zsofia Tothova today", "Zsofia Tothova"],
    ["@jonas can you review?", "jonas"],
    ["assigned to kowalski_anna", "kowalski_anna"],
    ["reviewer j.kowalski approved", "j.kowalski"],
    ["Passenger: ANDERSSON/KARIN MRS. Passport", "ANDERSSON/KARIN MRS"],
  ])("%s", (text, name) => expect(told(text, "PERSON")).toEqual([name]));

  test.each([
    "Morgan Stanley raised its target",
    "Ernst & Young audited it",
    "Mercedes Benz opened a plant",
    "The new Hugo Boss store opens",
    "Renault rappelle des véhicules",
    "Moore's law is dead",
    "Use Newton's method when it is cheap",
    "Mark the task as done",
    "May will be warm",
    "Bill will be paid",
    "Grant access to the repo",
    "tell Google about it",
    "ping Finance about it",
    "ask Jenkins to rebuild",
    "Thanks,\nThe Team",
    "docs/Anna_Smith.md",
    "see @angular/core",
    "npm i lodash.debounce",
    "const max_width = 3",
  ])("nobody: %s", (text) => expect(told(text, "PERSON")).toEqual([]));
});

describe("who logs in is told by the lines of sshd, sudo and PAM, and by the home of somebody", () => {
  test.each([
    ["sshd[4112]: Accepted publickey for mwangi from 81.2.69.144 port 50122 ssh2", "mwangi"],
    ["sshd[1]: Failed password for invalid user tomasz from 81.2.69.144", "tomasz"],
    ["sudo: hveldt : TTY=pts/0 ; PWD=/srv ; COMMAND=/bin/ls", "hveldt"],
    ["pam_unix(sshd:session): session opened for user mwangi by (uid=0)", "mwangi"],
    ["wrote /home/anna.k/report.txt", "anna.k"],
  ])("%s", (text, name) => expect(told(text, "USERNAME")).toEqual([name]));
  test.each([
    "session opened for user root by (uid=0)",
    "cd /home/ubuntu/app",
    "sudo: deploy : TTY=pts/0",
    "set the user to default",
  ])("nobody: %s", (text) => expect(told(text, "USERNAME")).toEqual([]));
});

describe("places and organisations are told by what stands around them", () => {
  test.each([
    ["Liam is to talk to the Leeds site", "Leeds"],
    ["the Nairobi office is closed", "Nairobi"],
    ["Trains from Paddington are delayed", "Paddington"],
    ["flooding near Reading", "Reading"],
    ["meet me at Victoria Station", "Victoria Station"],
    ["Il treno per Ravenna parte", "Ravenna"],
    ["Rua do Almada 210, 3º Esq., Porto: a sua renda", "Porto"],
  ])("%s", (text, name) => expect(told(text, "LOCATION")).toContain(name));
  test.each([
    ["between Tallow & Finch LLP and her", "Tallow & Finch LLP"],
    ["à l'ordre de la SARL Menuiserie Cadiou.", "SARL Menuiserie Cadiou"],
    ["IBAN PT50, Carpintaria Seixas, Lda", "Carpintaria Seixas, Lda"],
    ["at the Riverside Dental Practice", "Riverside Dental Practice"],
    ["Universität Heidelberg forscht", "Universität Heidelberg"],
    ["el Ministerio de Sanidad informa", "Ministerio de Sanidad"],
    ["Hugo Boss opened", "Hugo Boss"],
  ])("%s", (text, name) => expect(told(text, "ORGANIZATION")).toEqual([name]));
  test.each(["reading the docs", "in Research & Development", "a mobile app", "the Team & Project board"])("none: %s", (text) =>
    expect([...told(text, "LOCATION"), ...told(text, "ORGANIZATION")]).toEqual([]),
  );
});

test("a version is no date, and a day of birth is one in every language's word for it", () => {
  const { findings } = createClassifier().classify("version 4.17.21 is slower than 4.17.20");
  expect(findings).toEqual([]);
  for (const text of ["nasceu a 30/01/1977", "née le 14/03/1985", "geb. 14.03.1985", "urodzona 14.03.1985", "född 1985-03-14"])
    expect([text, createClassifier().classify(text).tags]).toEqual([text, expect.arrayContaining(["DOB"])]);
});
