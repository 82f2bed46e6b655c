/**
 * The vectors of docs/gateway.md for a witness of an audit log. They can be made again:
 * `node --import ./tools/run-source.mjs --conditions=@seneschal/source packages/crypto/test/merkle/write-vectors.ts`.
 */
import { base64, hex, nobleCrypto, utf8 } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  checkpointText,
  cosignNote,
  MerkleTree,
  type NoteKey,
  noteVerifierKey,
  signNote,
  witnessVerifierKey,
} from "@seneschal/crypto/merkle";

/** What the owner of a log asks of a witness. */
export interface WitnessRequest {
  readonly first: number;
  readonly proof: readonly string[];
  readonly note: string;
  readonly log_key: string;
}

/** What it is answered. */
export type WitnessReply =
  | { readonly outcome: "cosigned"; readonly note: string }
  | { readonly outcome: "other_size"; readonly size: number; readonly note: string }
  | { readonly outcome: "refused"; readonly growth: string; readonly size: number; readonly note: string };

interface Signer {
  readonly seed: Uint8Array;
  readonly key: NoteKey;
}

const signerOf = (name: string, label: string): Signer => {
  const seed = seeded(label)(32);
  return { seed, key: { name, publicKey: nobleCrypto.ed25519PublicKey(seed) } };
};
const signing =
  ({ seed }: Signer) =>
  (message: Uint8Array): Uint8Array =>
    nobleCrypto.ed25519Sign(seed, message);

function treeOf(entries: readonly string[]): MerkleTree {
  const tree = new MerkleTree();
  for (const entry of entries) tree.append(utf8(entry));
  return tree;
}

const ORIGIN = "seneschal.audit/gateway-of-globex/globex";
const entries = Array.from({ length: 21 }, (_, i) => `entry ${i}`);
const tree = treeOf(entries);
/** As if the log had been put back to 7 entries and had grown again. */
const forked = treeOf(entries.map((entry, i) => (i < 7 ? entry : `other ${entry}`)));
const log = signerOf(ORIGIN, "log");
const witness = signerOf("seneschal.witness/acme", "witness");
const stranger = signerOf(ORIGIN, "stranger");
const BEGAN = 1_790_000_000;

async function request(
  first: number,
  size: number,
  of: {
    readonly tree?: MerkleTree;
    readonly origin?: string;
    readonly by?: Signer;
    readonly from?: number;
    readonly extensions?: readonly string[];
  } = {},
): Promise<WitnessRequest> {
  const { tree: grown = tree, origin = ORIGIN, by = log, from = first, extensions } = of;
  const text = checkpointText({ origin, size, root: grown.root(size), ...(extensions === undefined ? {} : { extensions }) });
  const proof = from > 0 && from < size ? grown.consistencyProof(from, size) : [];
  const note = await signNote(text, by.key, signing(by));
  return { first, proof: proof.map(base64), note, log_key: noteVerifierKey(by.key) };
}

/** A log and its witness from the first question on: each request, and the answer that it has behind all before it. */
async function history() {
  const steps: { readonly name: string; readonly at: number; readonly request: WitnessRequest; readonly reply: WitnessReply }[] =
    [];
  let kept = { size: 0, note: "" };
  const at = (): number => BEGAN + 60 * steps.length;
  const cosigned = async (name: string, asked: WitnessRequest, size: number): Promise<void> => {
    const note = await cosignNote(asked.note, witness.key, at(), signing(witness));
    steps.push({ name, at: at(), request: asked, reply: { outcome: "cosigned", note } });
    kept = { size, note };
  };
  const other = (name: string, asked: WitnessRequest): void =>
    void steps.push({ name, at: at(), request: asked, reply: { outcome: "other_size", ...kept } });
  const refused = (name: string, growth: string, asked: WitnessRequest): void =>
    void steps.push({ name, at: at(), request: asked, reply: { outcome: "refused", growth, ...kept } });

  other("nothing was cosigned, and the log says that something was", await request(2, 3));
  await cosigned("the first", await request(0, 3), 3);
  await cosigned("the same, some time later", await request(3, 3), 3);
  await cosigned("grown", await request(3, 8), 8);
  other("by the size of before", await request(3, 13));
  other("as if it were the first", await request(0, 8));
  await cosigned("grown from a full tree", await request(8, 13), 13);
  refused("put back", "put_back", await request(13, 7));
  other("put back, by who does not know that it was longer", await request(3, 7));
  refused("another root of the same size", "forked", await request(13, 13, { tree: forked }));
  refused("another log, that is longer, with its own proof", "unproven", await request(13, 21, { tree: forked }));
  refused("grown, with the proof from another size", "unproven", await request(13, 20, { from: 12 }));
  refused("grown, without a proof", "unproven", { ...(await request(13, 20)), proof: [] });
  refused("by another key", "other_log", await request(13, 20, { by: stranger }));
  refused("of another instance", "other_log", await request(13, 20, { origin: "seneschal.audit/gateway-2/globex" }));
  refused("by another key, and as the first", "other_log", await request(0, 20, { by: stranger }));
  await cosigned("grown, behind all that", await request(13, 20), 20);
  await cosigned("grown, with an accepted gap", await request(20, 21, { extensions: ["gap 5 6"] }), 21);
  return steps;
}

/** Requests that are no offer of a checkpoint, whatever was cosigned: nothing is judged by them. */
async function unreadable() {
  const good = await request(0, 3);
  const [text = "", line = ""] = good.note.split("\n\n");
  const written = async (change: string) => ({ ...good, note: await signNote(change, log.key, signing(log)) });
  return [
    { name: "no note", field: "note", request: { ...good, note: "x" } },
    {
      name: "no signature of the log's",
      field: "note",
      request: { ...good, note: `${text}\n\n${line.replace("globex ", "globex-2 ")}` },
    },
    { name: "a false signature", field: "note", request: { ...good, note: good.note.replace("\n3\n", "\n4\n") } },
    { name: "signed by another than it says", field: "note", request: { ...good, log_key: noteVerifierKey(stranger.key) } },
    {
      name: "of another organisation",
      field: "note",
      request: await request(0, 3, { origin: "seneschal.audit/gateway-of-globex/initech" }),
    },
    { name: "of an empty log", field: "note", request: await request(0, 0) },
    { name: "a size with a zero in front", field: "note", request: await written(`${text.replace("\n3\n", "\n03\n")}\n`) },
    { name: "a root that is too short", field: "note", request: await written(`${ORIGIN}\n3\nAAAA\n`) },
    { name: "by a witness's key", field: "log_key", request: { ...good, log_key: witnessVerifierKey(log.key) } },
  ];
}

export async function witnessVectors() {
  const named = ({ seed, key }: Signer, verifier_key: string) => ({
    seed: hex(seed),
    public_key: hex(key.publicKey),
    name: key.name,
    verifier_key,
  });
  return {
    log: { org_id: "globex", origin: ORIGIN, ...named(log, noteVerifierKey(log.key)) },
    witness: { org_id: "acme", ...named(witness, witnessVerifierKey(witness.key)) },
    entries,
    history: await history(),
    unreadable: await unreadable(),
  };
}

/** The file's text: JSON that people can read. */
export async function vectorsText(): Promise<string> {
  return `${JSON.stringify(await witnessVectors(), undefined, 2)}\n`;
}
