import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { checkArgument } from "@seneschal/kernel";

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

export interface AssetSource {
  /** Such as `app.js`. */
  readonly name: string;
  readonly mediaType: string;
  /** A file, or the text itself. */
  readonly file?: string;
  readonly text?: string;
}

/** An asset as it goes out, for one `Accept-Encoding`. */
export interface AssetReply {
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Static files under names that hold their content's hash, so that they may be cached for ever. */
export interface Assets {
  /** `app.js` -> `app.1a2b3c4d.js`. Throws `TypeError` for a name that was not given. */
  hashedName(name: string): string;
  /** By hashed name; `undefined` for any other. */
  get(hashedName: string, acceptEncoding: string | undefined): AssetReply | undefined;
}

interface Asset {
  readonly mediaType: string;
  readonly etag: string;
  readonly identity: Uint8Array;
  readonly gzip: Uint8Array;
  readonly br: Uint8Array;
}

/** Reads and compresses the files once; nothing is read by a name that a caller sent. */
export async function openAssets(sources: readonly AssetSource[]): Promise<Assets> {
  checkArgument("sources", sources, "array");
  const names = new Map<string, string>();
  const assets = new Map<string, Asset>();
  await Promise.all(
    sources.map(async ({ name, mediaType, file, text }) => {
      const identity = file === undefined ? Buffer.from(text ?? "") : await readFile(file);
      const hash = createHash("sha256").update(identity).digest("hex").slice(0, 16);
      const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: identity.length };
      const [br, gz] = await Promise.all([brotli(identity, { params }), zip(identity)]);
      const dot = name.lastIndexOf(".");
      const hashed = `${name.slice(0, dot)}.${hash}${name.slice(dot)}`;
      names.set(name, hashed);
      assets.set(hashed, { mediaType, etag: hash, identity, gzip: gz, br });
    }),
  );
  return {
    hashedName(name) {
      const hashed = names.get(name);
      if (hashed === undefined) throw new TypeError(`no asset ${name}`);
      return hashed;
    },
    get(hashedName, acceptEncoding) {
      const asset = assets.get(hashedName);
      if (asset === undefined) return undefined;
      const encoding = accepted(acceptEncoding);
      return {
        mediaType: asset.mediaType,
        headers: {
          "cache-control": "public, max-age=31536000, immutable",
          etag: `"${asset.etag}-${encoding}"`,
          vary: "accept-encoding",
          ...(encoding === "identity" ? {} : { "content-encoding": encoding }),
        },
        body: asset[encoding],
      };
    },
  };
}

/** The best encoding of those that the caller takes; an encoding with `q=0` is refused. */
function accepted(header = ""): "br" | "gzip" | "identity" {
  const takes = new Set(
    header
      .toLowerCase()
      .split(",")
      .map((part) => part.split(";").map((piece) => piece.trim()))
      .filter(([, weight]) => weight === undefined || !/^q=0(\.0*)?$/.test(weight))
      .map(([coding]) => coding),
  );
  return takes.has("br") ? "br" : takes.has("gzip") ? "gzip" : "identity";
}
