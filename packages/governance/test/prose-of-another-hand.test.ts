import { describe, expect, test } from "vitest";
import { DEFAULT_RECOGNISERS, recognise } from "../src/index.ts";

const found = (entity: string, text: string) =>
  recognise(text, DEFAULT_RECOGNISERS)
    .filter((finding) => finding.entity === entity)
    .map(({ start, end }) => text.slice(start, end));

describe("people nobody knows are told by what is only said of people", () => {
  test.each([
    ["Niamhara told me she is leaving", "Niamhara"],
    ["Txema me dijo que viene", "Txema"],
    ["Kwezika m'a dit que oui", "Kwezika"],
    ["Qorri mi ha detto di no", "Qorri"],
    ["Wubbo heeft me verteld dat het lukt", "Wubbo"],
    ["Buchung auf den Namen Grzelak", "Grzelak"],
    ["Réservation au nom de Ferreira-Lopez", "Ferreira-Lopez"],
    ["preguntar por Txaro, gracias", "Txaro"],
    ["powiedz Kasi", "Kasi"],
    ["see you\n\nTa,\nBex", "Bex"],
    ["my ex Rodrigolo called", "Rodrigolo"],
    ["Cllr Featherstonehaugh was absent", "Featherstonehaugh"],
    ["ARTHUR PENHALIGON (Claimant) says so", "ARTHUR PENHALIGON"],
    ["payee name L Ferreira, thanks", "L Ferreira"],
    ["Zineb El Amrani called", "Zineb El Amrani"],
  ])("%s", (text, name) => expect(found("PERSON", text)).toContain(name));

  test.each([
    "Everyone told me to wait",
    "Alguien me dijo que no",
    "Jordan, Chad and Georgia are countries",
    "hab das Passwort gegeben",
  ])("nobody is meant: %s", (text) => expect(found("PERSON", text)).toEqual([]));
});

describe("places are told behind house numbers, at stations and where somebody lives", () => {
  test.each([
    ["adress Storgatan 14, Umeå", "Umeå"],
    ["residente in corso Garibaldi 8, Salerno", "Salerno"],
    ["gestolen bij station Zwolle", "Zwolle"],
    ["please arrange assistance at Heathrow", "Heathrow"],
    ["un aspirador comprado em Braga", "Braga"],
    ["La maladie recule en Europe", "Europe"],
  ])("%s", (text, place) => expect(found("LOCATION", text)).toContain(place));
});

describe("streets by the words of the north, Poland and Turkey", () => {
  test.each([
    ["bor på Vasagatan 31", "Vasagatan 31"],
    ["adres ul. Długa 22/4", "ul. Długa 22/4"],
    ["adres: Bahar Sokak No: 12", "Bahar Sokak No: 12"],
    ["na Avenida Sete de Setembro, 1180", "Avenida Sete de Setembro, 1180"],
  ])("%s", (text, street) => expect(found("STREET_ADDRESS", text)).toContain(street));
});

describe("numbers by what stands before them", () => {
  test.each([
    ["BANK_CARD_EXPIRY", "card 5503102000644455 exp 09/28", "09/28"],
    ["BANK_ACCOUNT", "sort code 20-00-00 acc 55779911", "55779911"],
    ["PHONE_NUMBER", "hable con Gorka en el 943 27 18 60", "943 27 18 60"],
    ["PHONE_NUMBER", "bereikbaar op 0623114509", "0623114509"],
  ])("%s: %s", (entity, text, value) => expect(found(entity, text)).toContain(value));

  test.each([
    ["IN_VOTER", "Ticket INC0045512 duplicates INC0045498"],
    ["PHONE_NUMBER", "Ersatzteil 0986-494-123 passt nicht"],
    ["BANK_CARD_EXPIRY", "the milk expires 11/27"],
  ])("no %s: %s", (entity, text) => expect(found(entity, text)).toEqual([]));

  test("the second argument of a client is a key, that of a commit is none", () => {
    const value = "679d39f08c24f50de572335bdd59f51b";
    expect(found("API_KEY", `new Twilio('someone', '${value}')`)).toEqual([value]);
    expect(found("API_KEY", `new Commit('someone', '${value}')`)).toEqual([]);
  });
});
