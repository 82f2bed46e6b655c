import { X509Certificate } from "node:crypto";
import { keyProblem } from "../platform/index.ts";
import { refusedSetting } from "./refused-setting.ts";

/** The first certificate of a file. Throws `config_invalid`. */
export function certificateIn(setting: string, path: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw refusedSetting(setting, `${path} holds no certificate in PEM`, error);
  }
}

/** Throws `config_invalid` for a key that is none, or of another certificate. */
export function checkKeyPair(
  at: { readonly setting: string; readonly path: string },
  pair: { readonly cert: string; readonly key: string },
): void {
  const problem = keyProblem(pair.cert, pair.key);
  if (problem !== undefined) throw refusedSetting(at.setting, `${at.path} ${problem}`);
}
