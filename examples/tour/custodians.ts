import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { ARGON2_FLOOR, base64, fromBase64 } from "@seneschal/crypto";
import { crkFromJson, deriveShareKey, openShare, type Share, Signer } from "@seneschal/crypto/threshold";
import type { Caller } from "./caller.ts";
import { expect } from "./story.ts";

/** A root key and the people who hold it. Each custodian is somebody the records know, and knows one password; the server knows none. */
export interface Custody {
  readonly crkId: string;
  readonly publicKey: string;
  /** Three custodians sign together: no share and no password leaves them, the server only coordinates. */
  sign(message: Uint8Array): Promise<string>;
  /** Prepares the canonical bytes of an operation on the server and has them signed. */
  signOperation(operation: string, resourceId: string, body: object): Promise<string>;
  close(): Promise<void>;
}

const total = 5;
const threshold = 3;

/** The password-protected ceremony: five custodians, three of whom can sign. `person` is who bears the token of a subject. */
export async function ceremony(officer: Caller, person: (subject: string) => Caller): Promise<Custody> {
  // The organisation begins with its ceremony; then people can be registered in its name.
  const { body: started } = await officer.call("POST", "/api/v1/crk/generate-ceremony/start", { total_shares: total, threshold });
  const path = `/api/v1/crk/generate-ceremony/${started.id}`;
  const custodians: Caller[] = [];
  const ids: string[] = [];
  for (let index = 1; index <= total; index++) {
    const subject = `custodian-${index}`;
    const user = { provider: "idp_a", subject, email: `${subject}@people.example`, name: `Custodian ${index}`, groups: [] };
    const { body } = await officer.call("POST", "/api/v1/identities/users/sso", user, 201);
    custodians.push(person(subject));
    ids.push(body.id);
  }
  const custodian = (index: number): Caller => custodians[index - 1] ?? officer;
  const kdf = { time: ARGON2_FLOOR.time, memory: ARGON2_FLOOR.memoryKiB, threads: ARGON2_FLOOR.parallelism };
  const passwords = new Map<number, string>();
  for (let index = 1; index <= total; index++) {
    const password = base64(systemRandom(12));
    const salt = systemRandom(16);
    passwords.set(index, password);
    const derived = await deriveShareKey(nodeCrypto, password, salt, ARGON2_FLOOR);
    await custodian(index).call("POST", `${path}/seed`, {
      index,
      custodian_name: `custodian ${index}`,
      derived_key: base64(derived),
      salt: base64(salt),
      kdf_params: kdf,
    });
  }
  const { body: seated } = await officer.call("GET", path);
  const sitting = seated.seats.map((seat: { identity_id: string }) => seat.identity_id);
  expect(sitting.join() === ids.join(), "each seat is taken by the person it was meant for");
  const { body: finished } = await officer.call("POST", `${path}/complete`);
  const { id: crkId, public_key: publicKey } = finished.crk;

  /** On the custodian's own machine: fetch the sealed share, open it with the password. */
  const open = async (index: number, epoch: number): Promise<Share> => {
    const { body: sealed } = await custodian(index).call("GET", `/api/v1/crk/shares/${crkId}/${index}`);
    const key = await deriveShareKey(nodeCrypto, passwords.get(index) ?? "", fromBase64(sealed.salt), ARGON2_FLOOR);
    return openShare(nodeCrypto, key, fromBase64(sealed.encrypted_data), {
      crkId,
      publicKey: fromBase64(publicKey),
      index,
      epoch,
    });
  };

  const sign = async (message: Uint8Array): Promise<string> => {
    const { body: session } = await officer.call("POST", "/api/v1/crk/signing-sessions", { data: base64(message) });
    const path = `/api/v1/crk/signing-sessions/${session.id}`;
    const crk = crkFromJson(session.crk);
    const signers: Signer[] = [];
    for (const index of [1, 3, 5]) {
      const share = await open(index, crk.epoch);
      const signer = new Signer(crk, share, session.round, systemRandom);
      share.erase();
      signers.push(signer);
      await custodian(index).call("POST", `${path}/commit`, signer.commitment);
    }
    const { body: state } = await officer.call("GET", path);
    for (const signer of signers) {
      const { index, share } = signer.sign(state.round, state.commitments);
      await custodian(index).call("POST", `${path}/sign`, { index, share });
    }
    const { body: done } = await officer.call("POST", `${path}/aggregate`);
    return done.signature;
  };

  return {
    crkId,
    publicKey,
    sign,
    async signOperation(operation, resourceId, body) {
      const request = { operation, resource_id: resourceId, body };
      const { body: prepared } = await officer.call("POST", "/api/v1/crk/signing-requests", request);
      return sign(fromBase64(prepared.message));
    },
    close: async () => {
      for (const one of custodians) await one.close();
    },
  };
}
