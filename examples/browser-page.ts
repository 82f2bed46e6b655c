/** A page, bundled by Vite or esbuild: what is typed is classified and judged there, before anything is sent, and what comes is checked there. */
import { client } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { createWorkspace } from "@seneschal/core/keys";
import { nobleCrypto } from "@seneschal/crypto";
import { dealCrk, signWithShares } from "@seneschal/crypto/threshold";
import { createClassifier } from "@seneschal/governance";
import { isCoded } from "@seneschal/kernel";
import { apply, emptyState } from "@seneschal/quota";
import { compile } from "@seneschal/rego";

const classifier = createClassifier();
const policy = compile([{ name: "send.rego", source: 'package send\n\nallow if input.tier == "PUBLIC"\n' }]);
const judge = (text: string): string => {
  const { tier } = classifier.classify(text);
  return policy.evaluate("data.send.allow", { tier }).kind === "defined" ? "may be sent" : `stays here: ${tier}`;
};

if (typeof document !== "undefined") {
  const [field, verdict] = [document.createElement("textarea"), document.createElement("output")];
  field.addEventListener("input", () => {
    verdict.value = judge(field.value);
  });
  document.body.append(field, verdict);
}

// What else works here: clocks, random bytes and `fetch` are the page's.
const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
const release = new TextEncoder().encode("release 1.0");
const { crk, shares } = dealCrk({ threshold: 2, total: 3, random });
const two = shares.slice(1).map((share) => ({ index: share.index, data: share.encode() }));
const signature = signWithShares(crk, two, release, random);
const offline = async () => Response.json({}, { status: 404 }); // globalThis.fetch in a page of its own
const gateway = client(gatewayContract, { baseUrl: "https://gateway.example", fetch: offline });
const failure = await gateway.listWorkspaces().catch((error: unknown) => error);
const named = { id: "w", org: "acme", by: "ada", name: "w", purpose: "p", group_id: null, crk_protected: false };
const workspace = createWorkspace({ ...named, classification: "CONFIDENTIAL", mode: "standard" }, Date.now());
const grant = { kind: "tenant.create", id: "c", by: "root", tenant: "physics", settings: {} } as const;
const found = {
  judges: judge("good morning") === "may be sent" && judge("my ssn is 536-22-8726") !== "may be sent",
  verifies: nobleCrypto.ed25519Verify(crk.publicKey, release, signature),
  calls: isCoded(failure),
  steps: apply(emptyState(), grant, 0).ok && workspace.state.participants.length === 1,
};
console.log(found);
if (Object.values(found).includes(false)) throw new Error("a page can do all of it");
