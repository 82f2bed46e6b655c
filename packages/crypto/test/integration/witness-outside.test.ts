import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { witnessVectors } from "../merkle/vectors.ts";

const python = spawnSync("python3", ["-c", "import cryptography"]).status === 0;
if (!python) console.warn("no python3 with cryptography: what a witness answers is not judged from outside");

const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8");

/** The programs of the documents, and what a witness of theirs answers to the requests from its standard input, of which it knows nothing else. */
async function program(): Promise<string> {
  const page = await read("../../../../docs/gateway.md");
  const [tree, note, witness] = ["leaf", "signed", "judged"].map(
    (name) => new RegExp(`\`\`\`python\n([^\`]*def ${name}\\([^\`]*)\`\`\``).exec(page)?.[1],
  );
  return `${tree}${note}${witness}
import sys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
given = json.load(sys.stdin)
public = lambda who: bytes.fromhex(given[who]["public_key"])
mine = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(given["witness"]["seed"]))
name, key = given["witness"]["name"], verifier_key(given["witness"]["name"], 4, public("witness"))
answers, stamps, kept, kept_key = [], [], None, None
for step in given["history"]:
    asked = step["request"]
    growth = judged(kept, kept_key, asked)
    before = {"size": checkpoint(kept)[1] if kept else 0, "note": kept or ""}
    if growth in ("first", "same", "grown"):
        text, time = asked["note"].rpartition("\\n\\n")[0] + "\\n", step["at"].to_bytes(8, "big")
        stamp = mine.sign(f"cosignature/v1\\ntime {step['at']}\\n{text}".encode())
        line = base64.b64encode(bytes.fromhex(key.split("+")[1]) + time + stamp).decode()
        kept, kept_key = f"{asked['note']}\\u2014 {name} {line}\\n", asked["log_key"]
        answers.append({"outcome": "cosigned", "note": kept})
        stamps.append(signed(kept, key))
    else: answers.append({"outcome": growth, **before} if growth == "other_size" else {"outcome": "refused", "growth": growth, **before})
leaves = [hashlib.sha256(b"\\0" + entry.encode()).digest() for entry in given["entries"]]
origin, size, at = checkpoint(kept)
print(json.dumps({"answers": answers, "stamps": stamps, "root": root(leaves[:size]) == at,
    "keys": [verifier_key(given["log"]["name"], 1, public("log")), key]}))
`;
}

test.skipIf(!python)(
  "the documents are enough to be a witness: its answers are those of the vectors, cosignatures byte by byte",
  async () => {
    const input = await read("../merkle/witness-vectors.json");
    const { history, log, witness } = JSON.parse(input) as Awaited<ReturnType<typeof witnessVectors>>;
    const run = spawnSync("python3", ["-c", await program()], { input, encoding: "utf8" });
    expect(run.stderr).toBe("");
    expect(JSON.parse(run.stdout)).toEqual({
      answers: history.map(({ reply }) => reply),
      stamps: history.filter(({ reply }) => reply.outcome === "cosigned").map(({ at }) => at),
      root: true,
      keys: [log.verifier_key, witness.verifier_key],
    });
  },
);
