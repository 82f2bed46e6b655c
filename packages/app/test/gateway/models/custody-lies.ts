import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { type Act, type CommitmentAct, receiversOf, type StartAct, shareBefore } from "@seneschal/crypto/custody";
import type { CustodyWorld, Held, Member } from "./custody-world.ts";

const garbage = (length: number): string => Buffer.from(systemRandom(length)).toString("base64");
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** What there is to say in a ceremony, due or not, true or false: `true` is what an honest client would say of it, as far as one can. */
export type Tale =
  | { readonly tag: "Join" | "Commit" | "Contribute" | "Confirm" | "Attest"; readonly value: boolean }
  /** Seats whose package does not open. */
  | { readonly tag: "Packages"; readonly value: readonly number[] }
  /** `secret`: that of the own transport key, or another. */
  | { readonly tag: "Complain"; readonly value: { readonly against: number; readonly secret: boolean } }
  | { readonly tag: "Accept" | "End" };

/** Seats other than this one to which it seals something, and those that seal something to it. */
function neighbours(start: StartAct, seat: number): { readonly to: readonly number[]; readonly from: readonly number[] } {
  const others = start.seats.map((_, i) => i + 1).filter((other) => other !== seat);
  const deals = (other: number): boolean => start.kind === "generate" || shareBefore(start, other) > 0;
  const given = start.kind === "repair" ? others.filter(deals) : others.filter((other) => receiversOf(start).includes(other));
  const receives = start.kind === "repair" || receiversOf(start).includes(seat);
  return { to: deals(seat) ? given : [], from: receives ? others.filter(deals) : [] };
}

/** The act of a tale, well formed in every case: what is wrong with it is what it says. `who` has a seat. */
export function told(world: CustodyWorld, who: Member, held: Held, tale: Tale): Act {
  const { view, start } = held;
  const state = world.state(who, held);
  const { to, from } = neighbours(start, state.seat);
  const random = state.derive(nodeCrypto, "transport-key", state.start);
  const one = start.kind === "generate" || start.kind === "refresh";
  const secrets = (one ? [0] : from).map(() => random(32));
  const due = (type: Act["type"]) => world.says(who, held).find(({ act }) => act.type === type)?.act;
  switch (tale.tag) {
    case "Join": {
      const [first = "", ...more] = secrets.map((secret) => base64(nodeCrypto.x25519PublicKey(secret)));
      const told = tale.value ? first : base64(new Uint8Array(32));
      return one ? { type: "join", transport_key: told } : { type: "join", transport_keys: [...more, told] };
    }
    case "Commit": {
      const own = (view.committed.get(state.seat) ?? due("commitment")) as CommitmentAct | undefined;
      if (own === undefined) return { type: "commitment", commitments: [garbage(32), garbage(32)] };
      return tale.value ? own : { ...own, commitments: [...own.commitments].reverse() };
    }
    case "Packages": {
      const packages = due("packages");
      const sealed = packages?.type === "packages" ? packages.sealed : to.map(() => garbage(80));
      return { type: "packages", sealed: sealed.map((one, i) => (tale.value.includes(to[i] ?? 0) ? garbage(80) : one)) };
    }
    case "Complain":
      return {
        type: "complaint",
        against: tale.value.against,
        transport_secret: base64(secrets[one ? 0 : from.indexOf(tale.value.against)] ?? new Uint8Array(32)),
        ...(tale.value.secret ? {} : { transport_secret: garbage(32) }),
      };
    case "Contribute":
      return (tale.value ? due("contribution") : undefined) ?? { type: "contribution", sealed: garbage(80) };
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
