import { resolve } from "node:path";
import { CodedError } from "@seneschal/kernel";
import { namedFiles } from "../platform/index.ts";
import { type ProcessConfig, processSettings } from "./process-settings.ts";

/**
 * What the system said of an address or a file, as an error that names the setting and what to do: `address_unusable` for a port, `config_invalid`
 * for a file. Anything else is given back as it is.
 */
export function nameSetting(error: unknown, config: ProcessConfig): unknown {
  if (!(error instanceof Error)) return error;
  const { code, syscall, path, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (syscall === "listen" && port !== undefined) {
    const setting = config.services.flatMap((service) => placesOf(config[service], port, service)).join(" or ");
    const message = `${setting || "a port"}: ${address}:${port} ${addressFaults[code ?? ""] ?? `cannot be listened on (${code})`}`;
    return new CodedError("address_unusable", message, {}, error);
  }
  if (path === undefined || !Object.hasOwn(fileFaults, code ?? "")) return error;
  const named = namedFiles(processSettings, config).filter((file) => resolve(file.path) === resolve(path));
  const [first] = named;
  if (first === undefined) return error;
  const settings = named.map(({ setting }) => setting).join(" and ");
  return new CodedError("config_invalid", `${settings}: ${first.path} ${fileFaults[code ?? ""]}`, {}, error);
}

const addressFaults: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken by another process: end that one, or set another port",
  EADDRNOTAVAIL: "is no address of this machine: set one that it has, or 0.0.0.0 for all",
  EACCES: "is not for this user: ports below 1024 need a right of their own (CAP_NET_BIND_SERVICE)",
  ENOTFOUND: "is a name that nobody knows: set an address",
};

const fileFaults: Readonly<Record<string, string>> = {
  ENOENT: "is not there: put the file there, or name another",
  ENOTDIR: "is not there: put the file there, or name another",
  EACCES: "may not be read by this user: give it to the user that serves",
  EPERM: "may not be read by this user: give it to the user that serves",
};

/** The settings below `at` that say to listen on a port: by its number, or as `host:port`. */
function placesOf(settings: unknown, port: number, at: string): readonly string[] {
  if (typeof settings !== "object" || settings === null || Array.isArray(settings)) return [];
  return Object.entries(settings).flatMap(([key, value]: [string, unknown]) => {
    const here = `${at}.${key}`;
    const said =
      key === "port"
        ? value === port
        : key.endsWith("address") && /^[^/]+:\d+$/.test(String(value)) && String(value).endsWith(`:${port}`);
    return said ? [here] : placesOf(value, port, here);
  });
}
