/** Host and port of `host:port`, IPv6 hosts in brackets. Throws `TypeError`. */
export function parseDataAddress(address: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(address) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || !(port <= 65_535)) throw new TypeError(`expected host:port, not ${JSON.stringify(address)}`);
  return { host, port };
}
