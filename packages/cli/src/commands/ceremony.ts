import { setTimeout as wait } from "node:timers/promises";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import type { Client } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { ARGON2_DEFAULT, assertPassphrase, base64, canonicalJson, fromBase64, hex } from "@seneschal/crypto";
import { crkFromJson, deriveShareKey, openShare, Share, Signer } from "@seneschal/crypto/threshold";
import { CodedError, type JsonObject, utf8Encode } from "@seneschal/kernel";
import { type Command, InvalidArgumentError } from "commander";
import type { CommandContext } from "../command-context.ts";
import { signedBySession } from "../custody/signed-by-session.ts";
import { exitCode } from "../exit-code.ts";
import { type ConnectionOptions, connect, withConnection } from "../gateway-connection.ts";
import { readJson } from "../read-file.ts";
import { wholeNumber } from "../whole-number.ts";
import { writeSecret } from "../write-secret.ts";
import type { AddCommand } from "./add-command.ts";
import { addVerify } from "./custodian.ts";
import { readShare } from "./sign.ts";

/**
 * `seneschal ceremony ...`: root key ceremonies, from the officer's and from the custodian's side. A custodian's password
 * and plain share never leave the custodian's machine.
 */
export const addCeremony: AddCommand = (program, context) => {
  const ceremony = program.command("ceremony").description("root key ceremonies");
  addGeneration(ceremony, context);
  addSigning(ceremony, context);
  addVerify(ceremony, context);
};

function addGeneration(ceremony: Command, { host, result }: CommandContext): void {
  withConnection(ceremony.command("generate").description("start the password-protected generation of a root key"))
    .requiredOption("--shares <n>", "custodians", wholeNumber)
    .requiredOption("--threshold <n>", "how many of them can sign", wholeNumber)
    .option("--custodian <index=id...>", "whose a seat is: nobody else takes it; a user's id begins with `user:`", namedSeat, [])
    .action(async (options: ConnectionOptions & { shares: number; threshold: number; custodian: readonly NamedSeat[] }) => {
      const { shares: total_shares, threshold, custodian: custodians } = options;
      const body = { total_shares, threshold, ...(custodians.length > 0 && { custodians: [...custodians] }) };
      result(await connect(host, options, (gateway) => gateway.startGenerationCeremony({ body })));
    });

  withConnection(ceremony.command("seed").description("custodian: choose the password that will protect one's share"))
    .argument("<id>", "the generation ceremony")
    .requiredOption("--index <n>", "one's place, from 1", wholeNumber)
    .option("--name <name>", "one's name", "")
    .action(async (id: string, options: ConnectionOptions & { index: number; name: string }) => {
      const salt = systemRandom(16);
      const password = await host.askSecret("new password for the share: ");
      assertPassphrase(password);
      const derived = await deriveShareKey(nodeCrypto, password, salt, ARGON2_DEFAULT);
      const { time, memoryKiB: memory, parallelism: threads } = ARGON2_DEFAULT;
      const body = {
        index: options.index,
        custodian_name: options.name,
        derived_key: base64(derived),
        salt: base64(salt),
        kdf_params: { time, memory, threads },
      };
      derived.fill(0);
      await connect(host, options, (gateway) => gateway.seedGenerationCeremony({ params: { id }, body }));
      result({ ceremony: id, index: options.index }, `seeded as custodian ${options.index}; the password was not sent`);
    });

  withConnection(ceremony.command("finish").description("see who sits where, then make the key and seal the shares"))
    .argument("<id>", "the generation ceremony")
    .option(
      "--seats <hash>",
      "make the key: the hash of the seats that were shown before, and are the custodians'; without it nothing is made",
    )
    .action(async (id: string, options: ConnectionOptions & { seats?: string }) => {
      const made = await connect(host, options, async (gateway) => {
        const { seats } = await gateway.getGenerationCeremony({ params: { id } });
        const { hash, lines } = shownSeats(seats);
        if (options.seats === hash) return gateway.completeGenerationCeremony({ params: { id } });
        if (options.seats !== undefined) throw new CodedError("usage", `others sit there: no key was made\n${lines.join("\n")}`);
        result({ ceremony: id, seats, hash }, [...lines, `add --seats ${hash} when these are the custodians`].join("\n"));
        return undefined;
      });
      if (made !== undefined) result(made);
    });

  withConnection(ceremony.command("open-share").description("custodian: fetch one's sealed share and open it here"))
    .argument("<crk>", "id of the root key")
    .argument("<index>", "one's place", wholeNumber)
    .requiredOption("--out <file>", "where the share goes; readable by its owner only")
    .action(async (crkId: string, index: number, options: ConnectionOptions & { out: string }) => {
      const { sealed, crk } = await connect(host, options, async (gateway) => ({
        sealed: await gateway.getEncryptedShare({ params: { crk_id: crkId, index: String(index) } }),
        crk: (await gateway.listOrganizations()).organizations[0]?.crk,
      }));
      if (crk?.id !== crkId) throw new CodedError("usage", `${crkId} is not the organisation's root key`);
      const password = await host.askSecret("password of the share: ");
      if (password === "") throw new CodedError("usage", "the password is empty");
      const key = await deriveShareKey(nodeCrypto, password, fromBase64(sealed.salt), {
        time: sealed.kdf_time,
        memoryKiB: sealed.kdf_memory,
        parallelism: sealed.kdf_threads,
      });
      const binding = { crkId, publicKey: fromBase64(crk.public_key), index, epoch: crk.version };
      const share = openShare(nodeCrypto, key, fromBase64(sealed.encrypted_data), binding);
      key.fill(0);
      const file = await writeSecret(host, options.out, `${JSON.stringify({ index, data: share.encode() })}\n`);
      result({ share: file, index });
    });
}

type Seats = Awaited<ReturnType<Client<GatewayContract>["getGenerationCeremony"]>>["seats"];
type NamedSeat = Pick<Seats[number], "index" | "identity_id" | "identity_type">;

/** `INDEX=ID` beside those before it. Throws `InvalidArgumentError`. */
function namedSeat(text: string, before: readonly NamedSeat[]): readonly NamedSeat[] {
  const [, index = "", user, identity_id = ""] = /^([1-9]\d{0,2})=(user:)?(\S+)$/.exec(text) ?? [];
  if (index === "") throw new InvalidArgumentError("expected INDEX=ID");
  return [...before, { index: Number(index), identity_id, identity_type: user === undefined ? "admin" : "user" }];
}

/** Who sits where, by the identities that the gateway knows and not by the names that they gave themselves, under one hash. */
function shownSeats(seats: Seats): { readonly hash: string; readonly lines: readonly string[] } {
  const seated = [...seats].sort((a, b) => a.index - b.index);
  const lines = seated.map(
    ({ index, identity_id, identity_type, name }) => `${index}: ${JSON.stringify(name)}, ${identity_type} ${identity_id}`,
  );
  const named = seated.map(({ index, identity_id, identity_type }) => ({ index, identity_id, identity_type }));
  return { hash: hex(nodeCrypto.hash("sha256", utf8Encode(canonicalJson(named)))), lines };
}

function addSigning(ceremony: Command, { host, result, exit }: CommandContext): void {
  withConnection(ceremony.command("session").description("start a signing session in which no share leaves its custodian"))
    .requiredOption("--message <base64>", "the exact bytes to sign")
    .option(
      "--body <file>",
      "of an operation: JSON of what its hash is of, the body and what is covered beside it, for the custodians to read",
    )
    .action(async (options: ConnectionOptions & { message: string; body?: string }) => {
      const shown = options.body === undefined ? {} : { body: (await readJson(host, options.body)) as JsonObject };
      const body = { data: options.message, ...shown };
      result(await connect(host, options, (gateway) => gateway.startSigningSession({ body })));
    });

  withConnection(
    ceremony.command("join").description("custodian: read what a signing session is to sign, and sign it with one's share file"),
  )
    .argument("<id>", "the signing session")
    .option("--sign <hash>", "sign: the hash of what was shown before, and is meant; without it nothing is signed")
    .requiredOption("--share <file>", "one's share")
    .option("--wait <seconds>", "for the other custodians to commit", wholeNumber, 600)
    .action(async (id: string, options: ConnectionOptions & { share: string; sign?: string; wait: number }) => {
      const { data, index } = await readShare(host, options.share);
      const signed = await connect(host, options, async (gateway) => {
        const session = await gateway.getSigningSession({ params: { id } });
        const { hash, signs, lines } = signedBySession(session);
        if (options.sign === undefined) {
          result({ session: id, hash, signs }, [...lines, `add --sign ${hash} when this is what is meant`].join("\n"));
          return undefined;
        }
        if (options.sign !== hash)
          throw new CodedError("usage", `the session is to sign something else: nothing was signed\n${lines.join("\n")}`);
        const crk = crkFromJson(session.crk);
        // One nonce pair, in this process only: a restart means a new round.
        const signer = new Signer(crk, Share.decode(data), session.round, systemRandom);
        let state = await gateway.commitToSigningSession({ params: { id }, body: signer.commitment });
        for (let left = options.wait; state.status === "committing" && left > 0; left--) {
          host.progress(`${state.commitments.length} of ${state.threshold} custodians are here`);
          await wait(1000);
          state = await gateway.getSigningSession({ params: { id } });
        }
        if (state.status === "committing") {
          const here = `${state.commitments.length} of ${state.threshold} custodians`;
          throw new CodedError("too_few_custodians", `after ${options.wait} s only ${here} were there; start a new session`);
        }
        const { share } = signer.sign(state.round, state.commitments);
        return gateway.signInSigningSession({ params: { id }, body: { index, share } });
      });
      if (signed === undefined) return;
      result(
        { session: id, index, signed_indexes: signed.signed_indexes },
        `signed as custodian ${index}; the share was not sent`,
      );
    });

  withConnection(ceremony.command("aggregate").description("add the signature shares of a session up"))
    .argument("<id>", "the signing session")
    .action(async (id: string, options: ConnectionOptions) => {
      const session = await connect(host, options, (gateway) => gateway.aggregateSigningSession({ params: { id } }));
      const { signature, cheaters } = session;
      result({ signature, cheaters }, signature ?? `no signature: the shares of custodians ${cheaters.join(", ")} are not valid`);
      if (signature == null) exit(exitCode.no);
    });
}
