import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { base64, fromBase64 } from "@seneschal/crypto";
import { type CustodianCard, type CustodianKeys, cardFingerprint, readCard } from "@seneschal/crypto/custody";
import { type MessageEnvelope, openMessage, sealMessage } from "@seneschal/crypto/hpke";
import { CodedError } from "@seneschal/kernel";
import type { CommandContext } from "../command-context.ts";
import { type ConnectionOptions, connect, withConnection } from "../gateway-connection.ts";
import type { Host } from "../host.ts";
import { type ModuleOption, openKeys, withModule } from "../key-file.ts";
import { readBytes, readJson } from "../read-file.ts";
import { writeSecret } from "../write-secret.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal message ...`: what only its recipient reads, from a card to a card. Format: docs/gateway.md, "Messages". */
export const addMessage: AddCommand = (program, context) => {
  const message = program.command("message").description("messages that no gateway on the way can read, by one's own keys");
  addSend(message, context);
  addRead(message, context);
};

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
