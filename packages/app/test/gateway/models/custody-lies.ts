import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import type { Act, CommitmentAct } from "@seneschal/crypto/custody";
import type { CustodyWorld, Held, Member } from "./custody-world.ts";

const garbage = (length: number): string => Buffer.from(systemRandom(length)).toString("base64");
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** What there is to say in a ceremony, due or not, true or false: `true` is what an honest client would say of it, as far as one can. */
export type Tale =
  | { readonly tag: "Join" | "Commit" | "Confirm" | "Attest"; readonly value: boolean }
  /** Seats whose package does not open. */
  | { readonly tag: "Packages"; readonly value: readonly number[] }
  /** `secret`: that of the own transport key, or another. */
  | { readonly tag: "Complain"; readonly value: { readonly against: number; readonly secret: boolean } }
  | { readonly tag: "Accept" | "End" };

/** The act of a tale, well formed in every case: what is wrong with it is what it says. `who` has a seat. */
export function told(world: CustodyWorld, who: Member, held: Held, tale: Tale): Act {
  const { view, start } = held;
  const state = world.state(who, held);
  const secret = state.derive(nodeCrypto, "transport-key", state.start)(32);
  const due = (type: Act["type"]) => world.says(who, held).find(({ act }) => act.type === type)?.act;
  switch (tale.tag) {
    case "Join":
      return { type: "join", transport_key: base64(tale.value ? nodeCrypto.x25519PublicKey(secret) : new Uint8Array(32)) };
    case "Commit": {
      const own = (view.committed.get(state.seat) ?? due("commitment")) as CommitmentAct;
      return tale.value ? own : { ...own, commitments: [...own.commitments].reverse() };
    }
    case "Packages": {
      const packages = due("packages");
      const others = start.seats.map((_, i) => i + 1).filter((seat) => seat !== state.seat);
      const sealed = packages?.type === "packages" ? packages.sealed : others.map(() => garbage(80));
      return { type: "packages", sealed: sealed.map((one, i) => (tale.value.includes(others[i] ?? 0) ? garbage(80) : one)) };
    }
    case "Complain":
      return {
        ...{ type: "complaint", against: tale.value.against },
        transport_secret: tale.value.secret ? base64(secret) : garbage(32),
      };
    case "Accept":
      return { type: "accepted" };
    case "Confirm":
    case "Attest":
      return {
        type: tale.tag === "Confirm" ? "confirmation" : "witness",
        transcript: tale.value && view.transcript !== undefined ? view.transcript : garbage(32),
        public_key: view.crk === undefined ? garbage(32) : base64(view.crk.publicKey),
      };
    case "End":
      return { type: "end" };
  }
}
