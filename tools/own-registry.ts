/** Our packages as a stranger gets them: packed, and installed from a registry that has them and nothing else. Needs `npm run build` first. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

export interface Packed {
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly integrity: string;
  readonly files: readonly { readonly path: string }[];
}

export interface OwnRegistry {
  /** Installs packages, ours and others, in a new folder with nothing in it. Install scripts do not run. */
  install(folder: string, ...specs: readonly string[]): Promise<void>;
  close(): void;
}

const npm = async (args: readonly string[], cwd: string): Promise<string> =>
  (await promisify(execFile)("npm", [...args], { cwd, maxBuffer: 2 ** 26 })).stdout;

/** Packs every package of the repository into a new folder. */
export async function packAll(folder: string): Promise<readonly Packed[]> {
  mkdirSync(folder);
  return Promise.all(
    readdirSync("packages")
      .sort()
      .map(async (name) => {
        const [tarball] = JSON.parse(await npm(["pack", "--json", "--pack-destination", folder], resolve("packages", name)));
        const integrity = `sha512-${createHash("sha512")
          .update(readFileSync(join(folder, tarball.filename)))
          .digest("base64")}`;
        return { ...tarball, integrity } as Packed;
      }),
  );
}

/** Serves what was packed into `folder` as the registry of our scope. */
export async function openRegistry(packed: readonly Packed[], folder: string): Promise<OwnRegistry> {
  const server = createServer(({ url = "" }, response) => {
    const path = decodeURIComponent(url.slice(1));
    const tarball = packed.find(({ filename }) => path === `tarballs/${filename}`);
    const asked = packed.find(({ name }) => path === name);
    if (tarball !== undefined) response.end(readFileSync(join(folder, tarball.filename)));
    else if (asked !== undefined) response.end(JSON.stringify(packument(asked, `${address}tarballs/${asked.filename}`)));
    else response.writeHead(404).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    async install(into, ...specs) {
      mkdirSync(into);
      writeFileSync(join(into, "package.json"), '{"private":true}');
      writeFileSync(join(into, ".npmrc"), `@seneschal:registry=${address}\n`);
      await npm(["install", ...specs, "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"], into);
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** What the registry says of a package that has one version. */
function packument(packed: Packed, tarball: string): object {
  const folder = packed.name.replace("@seneschal/", "");
  const manifest = JSON.parse(readFileSync(`packages/${folder}/package.json`, "utf8"));
  const shrinkwrapped = packed.files.some(({ path }) => path === "npm-shrinkwrap.json");
  const version = {
    ...manifest,
    ...(shrinkwrapped ? { _hasShrinkwrap: true } : {}),
    dist: { tarball, integrity: packed.integrity },
  };
  return { name: packed.name, "dist-tags": { latest: packed.version }, versions: { [packed.version]: version } };
}
