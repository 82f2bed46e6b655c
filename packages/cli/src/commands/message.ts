import { resolve } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { base64, fromBase64 } from "@seneschal/crypto";
import { type CustodianCard, type CustodianKeys, cardFingerprint, readCard, readCardStatement } from "@seneschal/crypto/custody";
import { type MessageEnvelope, openMessage, sealMessage } from "@seneschal/crypto/hpke";
import { CodedError } from "@seneschal/kernel";
import type { CommandContext } from "../command-context.ts";
import { type ModuleOption, openKeys, withModule } from "../custody/key-file.ts";
import { writeCard } from "../custody/write-card.ts";
import { replaceFile } from "../durable-file.ts";
import { exitCode } from "../exit-code.ts";
import { type ConnectionOptions, connect, withConnection } from "../gateway-connection.ts";
import type { Host } from "../host.ts";
import { readBytes, readJson } from "../read-file.ts";
import { writeSecret } from "../write-secret.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal message ...`: what only its recipient reads, from a card to a card. Format: docs/gateway.md, "Messages". */
export const addMessage: AddCommand = (program, context) => {
  const message = program.command("message").description("messages that no gateway on the way can read, by one's own keys");
  addSend(message, context);
  addRead(message, context);
  addCard(message, context);
};

/** `seneschal message card`: somebody's card by the gateways, as their organisation states it. */
function addCard(message: Parameters<typeof withConnection>[0], { host, result, exit }: CommandContext): void {
  withConnection(message.command("card"))
    .description(
      "the card of a person of this or another organisation, who has agreed to that; compare its fingerprint with them",
    )
    .argument("<person>", "the organisation, a slash and the id of the person's identity there")
    .requiredOption("--out <file>", "write the card there")
    .option("--statement <file>", "keep the organisation's signed statement: the evidence, should it give another card one day")
    .option("--fingerprint <hex>", "as the person has read it out: takes no other card, and this one after another was seen")
    .action(async (person: string, options: ConnectionOptions & { out: string; statement?: string; fingerprint?: string }) => {
      const [, org_id, identity_id] = /^([^/]+)\/(.+)$/.exec(person) ?? [];
      if (org_id === undefined || identity_id === undefined)
        throw new CodedError("usage", `${person} is not an organisation, a slash and an identity`);
      const got = await connect(host, options, (gateway) => gateway.partnerCard({ params: { org_id, identity_id } }));
      const { statement, other } = got;
      const { card } = readCardStatement(nodeCrypto, statement, {
        signingKey: fromBase64(got.signing_key),
        org: org_id,
        identity: identity_id,
        forOrg: statement.for_org_id,
        at: Math.floor(Date.now() / 1000),
      });
      const fingerprint = cardFingerprint(nodeCrypto, card);
      const told = { fingerprint, signed_by: got.signing_key, other: other?.fingerprint ?? null };
      if (options.statement !== undefined) {
        const kept = Buffer.from(`${JSON.stringify(got)}\n`);
        await replaceFile(resolve(host.cwd, options.statement), options.statement, kept, 0o644);
      }
      const wrong =
        options.fingerprint !== undefined && options.fingerprint !== fingerprint
          ? "THIS IS NOT THE CARD WHOSE FINGERPRINT WAS READ OUT"
          : options.fingerprint === undefined && other !== null
            ? `${org_id} HAS STATED ANOTHER CARD OF THIS PERSON, TOO: ask the person, and give the fingerprint that they read`
            : undefined;
      if (wrong !== undefined) {
        result({ written: false, ...told }, `${wrong}; nothing was written`);
        return exit(exitCode.no);
      }
      await writeCard(host, options.out, card);
      const compare = options.fingerprint === undefined ? "; compare it with the person" : "";
      result({ written: true, ...told }, `${fingerprint} ${JSON.stringify(identity_id)} of ${JSON.stringify(org_id)}${compare}`);
    });
}

function addSend(message: Parameters<typeof withConnection>[0], { host, result }: CommandContext): void {
  withModule(withConnection(message.command("send")))
    .description("seal a file to the holder of a card, and send it")
    .argument("<file>", "what the message says, at most 65,488 bytes")
    .requiredOption("--keys <file>", "one's own key file")
    .requiredOption("--to <card>", "the recipient's card, its fingerprint as compared with them")
    .requiredOption("--subject <text>", "what it is about: whoever is on the way reads that")
    .action(async (file: string, options: ConnectionOptions & ModuleOption & { keys: string; to: string; subject: string }) => {
      const plaintext = await readBytes(host, file);
      const recipient = await cardFrom(host, options.to);
      const { keys, card } = await openKeys(host, options.keys, options);
      const { subject } = options;
      const to = { recipient_org_id: recipient.org_id, recipient_id: recipient.custodian_id, subject };
      const envelope = { sender_org_id: card.org_id, sender_id: card.custodian_id, ...to };
      const body = withSecret(keys, (senderSecret) => {
        const recipientKey = fromBase64(recipient.agreement_key);
        return base64(sealMessage(nodeCrypto, { senderSecret, recipientKey }, envelope, plaintext, systemRandom));
      });
      const sent = await connect(host, options, (gateway) => gateway.sendMessage({ body: { ...to, body } }));
      if (sent.sender_id !== card.custodian_id || sent.sender_org_id !== card.org_id) {
        const as = `${sent.sender_org_id}/${sent.sender_id}`;
        throw new CodedError(
          "usage",
          `sent as ${as}, whose keys these are not: nobody can open it; send it by your own identity`,
        );
      }
      const fingerprint = cardFingerprint(nodeCrypto, recipient);
      result({ id: sent.id, status: sent.status, recipient: to.recipient_id, fingerprint }, sent.id);
    });
}

function addRead(message: Parameters<typeof withConnection>[0], { host, result }: CommandContext): void {
  withModule(withConnection(message.command("read")))
    .description("fetch a message and open it here; the gateway marks it read")
    .argument("<id>", "the message")
    .requiredOption("--keys <file>", "one's own key file")
    .requiredOption("--from <card>", "the sender's card, its fingerprint as compared with them")
    .option("--out <file>", "write what it says there; readable by its owner only")
    .action(async (id: string, options: ConnectionOptions & ModuleOption & { keys: string; from: string; out?: string }) => {
      const sender = await cardFrom(host, options.from);
      const { keys } = await openKeys(host, options.keys, options);
      const got = await connect(host, options, (gateway) => gateway.getMessage({ params: { id } }));
      if (got.sender_id !== sender.custodian_id || got.sender_org_id !== sender.org_id)
        throw new CodedError("usage", `the message is from ${got.sender_org_id}/${got.sender_id}, of whom --from is no card`);
      const plaintext = withSecret(keys, (recipientSecret) => {
        const senderKey = fromBase64(sender.agreement_key);
        return openMessage(nodeCrypto, { recipientSecret, senderKey }, got satisfies MessageEnvelope, fromBase64(got.body));
      });
      const told = { id, sender_org_id: got.sender_org_id, sender_id: got.sender_id, subject: got.subject };
      if (options.out === undefined) {
        const text = plainText(plaintext);
        result({ ...told, text }, text);
      } else result({ ...told, file: await writeSecret(host, options.out, plaintext) });
    });
}

async function cardFrom(host: Host, name: string): Promise<CustodianCard> {
  return readCard(nodeCrypto, await readJson(host, name));
}

/** What is made with the X25519 secret of these keys, which are gone then. */
function withSecret<R>(keys: CustodianKeys, use: (secret: Uint8Array) => R): R {
  const bytes = keys.toBytes();
  try {
    return use(bytes.subarray(32));
  } finally {
    bytes.fill(0);
    keys.erase();
  }
}

/** What a terminal shows as it is: a sender's escape sequences are no text. Throws `usage` for anything else. */
function plainText(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!/[^\P{C}\n\t]/u.test(text)) return text;
  } catch {
    // Bytes, and no text.
  }
  throw new CodedError("usage", "the message is not plain text: name a file for it with --out");
}
