import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { certificatesIn, type FileContent, namedFiles } from "../platform/index.ts";
import { type ProcessConfig, processSettings, type ServiceName } from "./process-settings.ts";

/** A file of certificates that a configuration names, and when the first of them ends. */
export interface CertificateFile {
  /** Dotted path of the setting. */
  readonly setting: string;
  readonly path: string;
  /** Milliseconds. */
  readonly notAfter: number;
}

const certified: readonly FileContent[] = ["certificate", "authorities"];

/** The files of certificates that a service uses: its own and those of the whole process. What cannot be read is left out. */
export async function certificateFiles(config: ProcessConfig, service: ServiceName): Promise<readonly CertificateFile[]> {
  const files = namedFiles(processSettings, config).filter(
    ({ setting, holds }) => certified.includes(holds) && (setting.startsWith("auth.") || setting.startsWith(`${service}.`)),
  );
  const ends = await Promise.all(
    files.map(async ({ setting, path }) => {
      try {
        const texts = certificatesIn(await readFile(path, "utf8"));
        const times = texts.map((text) => Date.parse(new X509Certificate(text).validTo));
        return times.length === 0 ? [] : [{ setting, path, notAfter: Math.min(...times) }];
      } catch {
        return [];
      }
    }),
  );
  return ends.flat();
}
