/** Shorter ones would be found by chance. */
const LEAST = 16;
/** A needle is looked for where its beginning is. */
const WINDOW = 10;

const LINE = /[A-Za-z0-9+/_-]{24,}={0,2}/g;

/** Base64 of some bytes inside of others, wherever they begin: the characters that the bytes around them have no part in. */
function base64Within(bytes: Uint8Array): readonly string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const own = Math.floor(((before + bytes.length) * 8) / 6);
    return text.slice([0, 2, 3][before], own);
  });
}

/** The ways in which bytes may stand in a text, either end first: as they are, in hex, in base64 of both alphabets at each of its three places, as a number, as a list of numbers. */
export function formsOf(secret: Uint8Array): readonly string[] {
  return [Buffer.from(secret), Buffer.from(secret).reverse()].flatMap((bytes) => {
    const hex = bytes.toString("hex");
    const base64 = base64Within(bytes);
    return [
      ...[bytes.toString("latin1"), hex, hex.toUpperCase(), BigInt(`0x${hex}`).toString()],
      ...[...base64, ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))],
      bytes.join(","),
    ];
  });
}

/** A text in which secrets are looked for, in every form and inside of whatever in it is base64 once more. Answers the names of those that it has. */
export function secretsIn(text: string, secrets: ReadonlyMap<string, Uint8Array>): readonly string[] {
  const within = (text.match(LINE) ?? []).map((line) => Buffer.from(line, "base64url").toString("latin1"));
  const whole = [text, ...new Set(within)].join("\n");
  const windows = new Set<string>();
  for (let i = 0; i + WINDOW <= whole.length; i++) windows.add(whole.slice(i, i + WINDOW));
  const has = (form: string): boolean => windows.has(form.slice(0, WINDOW)) && whole.includes(form);
  return [...secrets].flatMap(([name, secret]) => (secret.length >= LEAST && formsOf(secret).some(has) ? [name] : []));
}
