import {
  createMessage,
  judgeDelivery,
  lifetimes,
  type MessageFacts,
  type MessageInput,
  messageStatuses,
  receiveMessage,
  stepMessage,
  timestamp,
} from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";

const now = Date.UTC(2026, 0, 1);
const party = fc.constantFrom("acme", "globex", "initech");
const facts: fc.Arbitrary<MessageFacts> = fc.record({
  id: fc.uuid(),
  conversation_id: fc.option(fc.uuid()),
  sender_org_id: party,
  sender_id: fc.string({ minLength: 1 }),
  recipient_org_id: party,
  recipient_id: fc.string({ minLength: 1 }),
  subject: fc.string(),
  body: fc.base64String(),
  expires_at: fc.integer({ min: 1, max: lifetimes.messageMax }).map((ms) => timestamp(now + ms)),
});
/** What a partner's gateway may add to what it sends of its own copy. */
const claims = fc.record(
  {
    status: fc.constantFrom(...messageStatuses),
    read_at: fc.constant(timestamp(now)),
    attempts: fc.nat(),
    org_id: party,
    direction: fc.constantFrom("sent", "received"),
    created_at: fc.constant(timestamp(0)),
  },
  { requiredKeys: [] },
);
const inputs: fc.Arbitrary<MessageInput> = fc.oneof(
  fc.constant<MessageInput>({ kind: "deliver" }),
  fc.constant<MessageInput>({ kind: "read" }),
  fc.record({ kind: fc.constantFrom("miss" as const, "refuse" as const), detail: fc.string() }),
);
const codeOf = (work: () => unknown): string => {
  try {
    work();
    return "";
  } catch (error) {
    if (isCoded(error)) return error.code;
    throw error;
  }
};

test("both copies say what the sender said, and nothing that a sender claims of its own copy becomes the recipient's", () => {
  fc.assert(
    fc.property(facts, claims, (said, claimed) => {
      const sent = createMessage({ ...said, ...claimed }, now);
      const received = receiveMessage({ ...sent, ...claimed }, now + 1);
      expect(sent).toEqual({ ...received, ...sent });
      expect(sent).toMatchObject({ ...said, org_id: said.sender_org_id, direction: "sent", status: "pending", attempts: 0 });
      const at = timestamp(now + 1);
      const own = { org_id: said.recipient_org_id, direction: "received", status: "delivered", read_at: null, attempts: 0 };
      expect(received).toMatchObject({ ...said, ...own, delivered_at: at, created_at: at });
    }),
  );
});

test("a message that is over, or lies further ahead than a year, or ends at no time at all, is made by nobody", () => {
  fc.assert(
    fc.property(
      facts,
      fc.constantFrom(timestamp(now), timestamp(now - 1), timestamp(now + lifetimes.messageMax + 1000), "soon"),
      (said, at) => {
        for (const make of [createMessage, receiveMessage])
          expect(codeOf(() => make({ ...said, expires_at: at }, now))).toBe("VALIDATION_ERROR");
      },
    ),
  );
});

test("a partner delivers its own organisation's messages to its own partner alone; the same one again is nothing new, another one of that id is refused", () => {
  const digest = fc.constantFrom("aa", "bb");
  fc.assert(
    fc.property(facts, party, party, digest, fc.option(digest, { nil: undefined }), (said, partner, host, own, before) => {
      const parties = { partner, host, digest: own, ...(before === undefined ? {} : { before }) };
      const told = codeOf(() => judgeDelivery(said, parties));
      if (said.sender_org_id !== partner || said.recipient_org_id !== host) expect(told).toBe("FORBIDDEN");
      else if (before !== undefined && before !== own) expect(told).toBe("CONFLICT");
      else expect(judgeDelivery(said, parties)).toBe(before === undefined);
    }),
  );
});

test("a sent copy that was delivered or refused stays so, and only an expired one fails by misses", () => {
  fc.assert(
    fc.property(facts, fc.array(fc.tuple(inputs, fc.nat(2 * lifetimes.message)), { maxLength: 12 }), (said, steps) => {
      let copy = createMessage(said, now);
      let at = now;
      for (const [input, later] of steps) {
        at += later;
        const before = copy;
        const code = codeOf(() => {
          copy = stepMessage(before, input, at);
        });
        if (before.status !== "pending") expect(copy.status).toBe(before.status);
        if (code !== "") expect(copy).toBe(before);
        if (before.status === "pending" && input.kind === "miss")
          expect(copy.status).toBe(Date.parse(said.expires_at) <= at ? "failed" : "pending");
        if (before.status === "pending" && input.kind === "refuse") expect(copy.status).toBe("failed");
      }
    }),
  );
});
