import type { Logger } from "@seneschal/adapters/logging";
import { UndocumentedCode } from "@seneschal/contract";

/** A silent log for tests of a whole service. `check` throws when an operation answered a code that its documents do not name. */
export function contractLog(): { readonly log: Logger; check(): void } {
  const undocumented = new Set<string>();
  const log: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error(fields) {
      const { error } = fields as { readonly error?: unknown };
      if (error instanceof UndocumentedCode) undocumented.add(error.message);
    },
    child: () => log,
  };
  return {
    log,
    check() {
      if (undocumented.size > 0) throw new Error(`documents do not name: ${[...undocumented].join("; ")}`);
    },
  };
}
