import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { people } from "../../src/arbitraries/index.ts";
import { areTwoPeople, findSamePerson, isSamePerson } from "../../src/keys/index.ts";

describe("people", () => {
  it("nobody is two people and one at once, and both questions are the same from either side", () => {
    fc.assert(
      fc.property(people, people, (a, b) => {
        expect(isSamePerson(a, b) && areTwoPeople(a, b)).toBe(false);
        expect(isSamePerson(a, b)).toBe(isSamePerson(b, a));
        expect(areTwoPeople(a, b)).toBe(areTwoPeople(b, a));
        expect(isSamePerson(a, a)).toBe(true);
      }),
    );
  });

  it("to say more of the same people never makes two out of one", () => {
    fc.assert(
      fc.property(people, people, fc.constantFrom("ada@x.example", "bob@x.example"), (a, b, email) => {
        fc.pre(isSamePerson(a, b));
        const more = { ...a, emails: [...a.emails, email] };
        expect(areTwoPeople(more, b)).toBe(false);
      }),
    );
  });

  it("who is the same as somebody before is found in any number of people, first come first named", () => {
    fc.assert(
      fc.property(fc.array(people, { maxLength: 6 }), (all) => {
        const place = all.findIndex((one, i) => all.slice(0, i).some((other) => isSamePerson(one, other)));
        expect(findSamePerson(all)).toBe(place < 0 ? undefined : place);
      }),
    );
  });

  it("an address is the same in other letters; accounts of two kinds without addresses prove nothing", () => {
    const admin = { id: "1", emails: ["Ada@Acme.example"], accounts: "admin" };
    expect(isSamePerson(admin, { id: "x", emails: [" ada@acme.example"], accounts: "jwt" })).toBe(true);
    const token = { id: "x", emails: [], accounts: "jwt" };
    expect([isSamePerson(admin, token), areTwoPeople(admin, token)]).toEqual([false, false]);
    expect(areTwoPeople(token, { id: "y", emails: [], accounts: "jwt" })).toBe(true);
    expect(areTwoPeople(admin, { id: "x", emails: ["bob@acme.example"], accounts: "jwt" })).toBe(true);
  });
});
