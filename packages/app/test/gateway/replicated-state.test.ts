import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { replicatedWorkspace as schema } from "@seneschal/contract/gateway";
import { createWorkspace, type Workspace } from "@seneschal/core/keys";
import fc from "fast-check";
import { expect, it } from "vitest";
import { replicatedWorkspace, stateHash, storedWorkspace } from "../../src/gateway/workspaces/index.ts";

const id = "0192f0c1-2d3e-7a4b-8c5d-6e7f80910a1b";
const made = { id, org: "acme", by: "ada", name: "w", classification: "SECRET", mode: "standard", purpose: "x" } as const;
const { state: plain } = createWorkspace({ ...made, group_id: "g", crk_protected: true }, 0);

/** What a later release may keep with a workspace, and with each that takes part: whatever it is called, but as nothing that there is. */
const more = fc.dictionary(
  fc.string().filter((name) => !(name in plain) && name !== "owner_org_id" && name !== "__proto__"),
  fc.jsonValue(),
);

it("what partners, bundles and signatures are told of a workspace is what the contract names of it, whatever else is kept", () => {
  const { participants } = plain;
  fc.assert(
    fc.property(more, more, (ofWorkspace, ofParticipant) => {
      const stored: Workspace = {
        ...ofWorkspace,
        ...plain,
        participants: participants.map((participant) => ({ ...ofParticipant, ...participant })),
      };
      const told = replicatedWorkspace(stored);
      expect(schema.parse(told)).toStrictEqual(replicatedWorkspace(plain));
      expect(stateHash(nodeCrypto, told)).toBe(stateHash(nodeCrypto, replicatedWorkspace(plain)));
      expect(storedWorkspace(told)).toStrictEqual(plain);
    }),
  );
});
