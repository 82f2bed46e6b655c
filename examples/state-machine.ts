/** A noun is a state and pure steps: what a step asks for is returned as effects, what it refuses is a coded error. */
import { createWorkspace, stepWorkspace } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";

const now = Date.parse("2026-01-01T00:00:00Z");
const { state: created, effects } = createWorkspace(
  {
    id: "w1",
    org: "acme",
    by: "ada",
    name: "merger",
    classification: "CONFIDENTIAL",
    mode: "standard",
    purpose: "due diligence",
    group_id: null,
    crk_protected: false,
  },
  now,
);
console.log("to carry out:", JSON.stringify(effects));

const joined = stepWorkspace(created, { kind: "join", org: "globex", group_id: null }, now + 1000);
console.log("to carry out:", JSON.stringify(joined.effects));
if (created.participants.length !== 1) throw new Error("a step changes nothing in place");

const { state: archived } = stepWorkspace(joined.state, { kind: "archive" }, now + 2000);
try {
  stepWorkspace(archived, { kind: "rotate" }, now + 3000);
  throw new Error("an archived workspace should not rotate its key");
} catch (error) {
  if (!isCoded(error, "WORKSPACE_ARCHIVED")) throw error;
  console.log("refused:", error.message);
}
