import { resolve } from "node:path";
import { canonicalJson } from "@seneschal/crypto";
import type { CustodianCard } from "@seneschal/crypto/custody";
import { CodedError } from "@seneschal/kernel";
import { replaceFile } from "../durable-file.ts";
import type { Host } from "../host.ts";
import { readIfThere } from "../read-file.ts";

/** Writes a card, in its canonical form. Never over a card of other keys: one that was compared with a person stays (`file_exists`). */
export async function writeCard(host: Host, name: string, card: CustodianCard): Promise<void> {
  const before = await readIfThere(host, name);
  if (before !== undefined && !hasKeysOf(before.toString("utf8"), card))
    throw new CodedError("file_exists", `${name} exists already, and is no card of these keys`);
  await replaceFile(resolve(host.cwd, name), name, Buffer.from(`${canonicalJson(card)}\n`), 0o644);
}

function hasKeysOf(text: string, { signing_key, agreement_key }: CustodianCard): boolean {
  try {
    const there = JSON.parse(text) as Partial<CustodianCard>;
    return there.signing_key === signing_key && there.agreement_key === agreement_key;
  } catch {
    return false;
  }
}
