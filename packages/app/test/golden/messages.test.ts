import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Messages, messagesOfToday } from "./messages.ts";

const folder = new URL(".", import.meta.url).pathname;
const releases = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, "messages.json")))
  .map(({ name }) => name);

const ofPartners = `what partners' gateways send each other has another shape than in the release: one of them refuses it, as readers are strict (members that are missing or unknown are errors by name).
Leave the operation as it is and give what is new an operation of its own (peer...), which a partner of the release answers with 404 (docs/stores-and-logs.md)`;
const ofNodes = `what nodes send each other has a field of another number or type than in the release: nodes of the two would misread each other while a cluster
is upgraded. Add a field under a new number, and read its absence as the release meant it (docs/stores-and-logs.md)`;

describe.each(releases)("messages of release %s", (release) => {
  const golden = JSON.parse(readFileSync(join(folder, release, "messages.json"), "utf8")) as Messages;
  const today = messagesOfToday();

  it("between partners are taken and sent as they were: every operation, its body and its reply", () => {
    for (const [id, shapes] of Object.entries(golden.partners))
      expect(today.partners[id], `${id}: ${ofPartners}`).toEqual(shapes);
  });

  it("between nodes keep the number and type of every field, and every call: a node of either release passes over what it does not know", () => {
    for (const [message, fields] of Object.entries(golden.messages))
      for (const [name, field] of Object.entries(fields))
        expect(today.messages[message]?.[name], `${message}.${name}: ${ofNodes}`).toEqual(field);
    for (const [path, types] of Object.entries(golden.calls)) expect(today.calls[path], `${path}: ${ofNodes}`).toEqual(types);
  });

  it("never give the number of a field of nodes to another", () => {
    for (const [message, fields] of Object.entries(golden.messages)) {
      const names = new Map(Object.entries(fields).map(([name, { number }]) => [number, name]));
      for (const [name, { number }] of Object.entries(today.messages[message] ?? {}))
        expect(names.get(number) ?? name, `${message}.${name}: ${ofNodes}`).toBe(name);
    }
  });
});
