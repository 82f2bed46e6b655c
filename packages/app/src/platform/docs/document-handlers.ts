import { createHash } from "node:crypto";
import { nextTurn } from "@seneschal/adapters/system";
import { type Contract, type documentContract, type Handlers, type OpenApiInfo, openapiInSteps } from "@seneschal/contract";

/** A document as it is sent. */
interface Written {
  readonly text: string;
  readonly etag: string;
}

/**
 * The handler of `/openapi.json`: the document of a contract, made when it is first asked for, with the path that the service is mounted
 * at as its server.
 */
export function documentHandlers(contract: Contract, info: OpenApiInfo): Handlers<typeof documentContract, undefined> {
  let made: Promise<object> | undefined;
  const document = (): Promise<object> => {
    made ??= openapiInSteps(contract, info, nextTurn);
    made.catch(() => {
      made = undefined;
    });
    return made;
  };
  /** The newest one is kept. */
  let kept: { readonly basePath: string; readonly written: Written } | undefined;
  return {
    async openapiDocument(_, { request: { basePath } }) {
      if (kept?.basePath !== basePath) {
        const servers = [{ url: basePath === "" ? "/" : basePath }];
        kept = { basePath, written: written({ ...(await document()), servers }) };
      }
      const { text, etag } = kept.written;
      return { body: text, headers: { etag, "cache-control": "no-cache" } };
    },
  };
}

function written(document: object): Written {
  const text = JSON.stringify(document);
  return { text, etag: `"${createHash("sha256").update(text).digest("hex").slice(0, 16)}"` };
}
