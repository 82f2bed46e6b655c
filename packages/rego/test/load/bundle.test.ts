import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { type BundleFile, compile, joinBundles, LoadError, mergeDocuments, mergeValues, readBundle } from "@seneschal/rego";
import { describe, expect, test } from "vitest";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const file = (path: string, text: string): BundleFile => ({ path, bytes: bytes(text) });
const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof LoadError) return error.code;
    throw error;
  }
  return "accepted";
};

describe("documents of several files", () => {
  test("are one, each at the path of its directory", () => {
    const data = mergeDocuments([
      { name: "a.json", path: [], text: '{"a": {"x": 9007199254740993}}' },
      { name: "a/b.yaml", path: ["a"], text: "z: [1, true]\n" },
      { name: "c/list.json", path: ["c"], text: "[1]" },
    ]);
    expect(data).toEqual({ a: { x: 9007199254740993n, z: [1, true] }, c: [1] });
  });

  test.each([
    ["two files define one path", ['{"a": 1}', '{"a": 2}'], "data_conflict"],
    ["two files say the same of one path", ['{"a": 1}', '{"a": 1}'], "data_conflict"],
    ["an object stands where another file has a value", ['{"a": {"b": 1}}', '{"a": 1}'], "data_conflict"],
    ["the root is no object", ["[1]"], "data_invalid"],
    ["a file is not JSON", ["{"], "data_invalid"],
  ])("are refused where %s", (_, texts, code) => {
    expect(codeOf(() => mergeDocuments(texts.map((text, i) => ({ name: `${i}.json`, path: [], text }))))).toBe(code);
  });

  test("leave what each file says as it is, also where another adds to it", () => {
    const values = [{ a: { b: { x: 1 } } }, { a: { b: { y: 2 } } }, { a: { b: { z: 3 } } }];
    const before = structuredClone(values);
    expect(mergeValues(values.map((value, i) => ({ name: `${i}`, path: [], value })))).toEqual({
      a: { b: { x: 1, y: 2, z: 3 } },
    });
    expect(values).toEqual(before);
  });

  test("keep a member named __proto__ as any other", () => {
    const data = mergeDocuments([
      { name: "a.json", path: [], text: '{"__proto__": {"x": 1}}' },
      { name: "b.json", path: [], text: '{"y": 2}' },
    ]);
    expect(Object.keys(data)).toEqual(["__proto__", "y"]);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});

describe("a bundle", () => {
  const FILES = [
    file("authz/p.rego", "package authz\n\nallow if data.authz.roles[input.user]\n"),
    file("authz/roles/data.json", '{"ada": true}'),
    file("notes.json", '{"authz": "not data"}'),
  ];

  test("is its sources and the data files at the paths of their directories", () => {
    const { sources, data, roots } = readBundle(FILES);
    expect([data, roots]).toEqual([{ authz: { roles: { ada: true } } }, [""]]);
    expect(compile(sources).evaluate("data.authz.allow", { user: "ada" }, { data })).toEqual({ kind: "defined", value: true });
  });

  test("says in its manifest which files are Rego v0", () => {
    const manifest = '{"rego_version": 1, "file_rego_versions": {"/old.rego": 0}}';
    const { sources } = readBundle([
      file("old.rego", "package old\nx { true }\n"),
      file("new.rego", "package new\ny := 1\n"),
      file(".manifest", manifest),
    ]);
    expect(sources.map(({ version }) => version)).toEqual(["v1", "v0"]);
    expect(compile(sources).evaluate("data.old.x")).toEqual({ kind: "defined", value: true });
  });

  test.each<readonly [string, readonly BundleFile[], string]>([
    ["its roots own all there is", [...FILES, file(".manifest", '{"roots": ["authz"]}')], "accepted"],
    ["a package is outside of its roots", [...FILES, file(".manifest", '{"roots": ["authz/roles", "x"]}')], "bundle_roots"],
    [
      "data are outside of its roots",
      [...FILES, file("data.json", '{"y": 1}'), file(".manifest", '{"roots": ["authz"]}')],
      "bundle_roots",
    ],
    ["a root only begins like a package", [...FILES, file(".manifest", '{"roots": ["auth"]}')], "bundle_roots"],
    ["two of its roots overlap", [...FILES, file(".manifest", '{"roots": ["authz", "/authz/roles/"]}')], "bundle_roots"],
    ["its manifest has members that mean nothing here", [...FILES, file(".manifest", '{"rooots": []}')], "bundle_invalid"],
    ["its manifest brings WebAssembly", [...FILES, file(".manifest", '{"wasm": [{"module": "/x.wasm"}]}')], "bundle_invalid"],
    ["two data files define one path", [...FILES, file("authz/data.json", '{"roles": {"ada": false}}')], "data_conflict"],
    ["a file is there twice", [...FILES, file("./authz/p.rego", "package q\n")], "bundle_invalid"],
    ["a path leads out", [file("../p.rego", "package q\n")], "bundle_invalid"],
    ["a source is not UTF-8", [{ path: "p.rego", bytes: Uint8Array.of(0x70, 0xff) }], "bundle_invalid"],
    ["it is a delta", [file("patch.json", "{}")], "bundle_invalid"],
  ])("is judged: %s", (_, files, code) => {
    expect(codeOf(() => readBundle(files))).toBe(code);
  });

  test("is held to its limits before a file of it is read", () => {
    const odd = [{ path: "data.json", bytes: new Uint8Array(11).fill(0xff) }, file("x/data.json", "{")];
    const judged = [{}, { bytes: 12 }, { bytes: 11 }, { files: 2 }, { files: 1 }, { bytes: Number.NaN }].map((limits) =>
      codeOf(() => readBundle(odd, { limits })),
    );
    const limit = "bundle_limit";
    expect(judged).toEqual(["bundle_invalid", "bundle_invalid", limit, "bundle_invalid", limit, limit]);
  });

  test("stands beside another only where no root is both's", () => {
    const of = (root: string) =>
      readBundle([file(`${root}/data.json`, "{}"), file(".manifest", JSON.stringify({ roots: [root] }))]);
    expect(joinBundles([of("a"), of("b")]).data).toEqual({ a: {}, b: {} });
    expect(codeOf(() => joinBundles([of("a"), of("a/b")]))).toBe("bundle_roots");
    expect(codeOf(() => joinBundles([readBundle([]), of("a")]))).toBe("bundle_roots");
  });

  describe("that is signed", () => {
    const secret = "a secret of the publisher";
    const signer = compile(
      [
        {
          name: "s.rego",
          source:
            'package s\n\nx := io.jwt.encode_sign({"alg": "HS256"}, input.payload, {"kty": "oct", "k": base64url.encode_no_pad(input.secret)})\n',
        },
      ],
      { allow: ["io.jwt.encode_sign"] },
    );
    const sign = (payload: unknown, members: object = {}): BundleFile => {
      const result = signer.evaluate("data.s.x", { payload, secret });
      const signatures = [result.kind === "defined" ? result.value : ""];
      return file(".signatures.json", JSON.stringify({ signatures, ...members }));
    };
    const rego = FILES[0] as BundleFile;
    const data = file("data.json", '{ "b": [1.0, "x"],\n "a": {"n": null} }');
    const hashes = [
      { name: rego.path, hash: bytesToHex(sha256(rego.bytes)), algorithm: "SHA-256" },
      { name: data.path, hash: bytesToHex(sha256(bytes('{"a":{"n":null},"b":[1.0,"x"]}'))), algorithm: "SHA-256" },
    ];
    const key = { key: secret, algorithm: "HS256" };
    const read = (files: readonly BundleFile[], options = { key } as object) => codeOf(() => readBundle(files, options));

    test("is read where every file is the one that was signed, JSON in any layout", () => {
      expect(read([rego, data, sign({ files: hashes })])).toBe("accepted");
      expect(read([rego, file("data.json", '{"a":{"n":null},"b":[1.0,"x"]}'), sign({ files: hashes })])).toBe("accepted");
      expect(read([rego, data, sign({ files: hashes, scope: "read" })], { key: { ...key, scope: "read" } })).toBe("accepted");
    });

    test("is read with the default plugin named, as opa build writes it, and with no other", () => {
      expect(read([rego, data, sign({ files: hashes }, { plugin: "_default" })])).toBe("accepted");
      expect(read([rego, data, sign({ files: hashes }, { plugin: "" })])).toBe("accepted");
      const own = [rego, data, sign({ files: hashes }, { plugin: "acme" })];
      expect(() => readBundle(own, { key })).toThrow('"acme" is no plugin that verifies here');
    });

    test.each<readonly [string, readonly BundleFile[], object?]>([
      ["no key is given", [rego, data, sign({ files: hashes })], {}],
      ["the key is another", [rego, data, sign({ files: hashes })], { key: { ...key, key: "another" } }],
      ["the algorithm is another", [rego, data, sign({ files: hashes })], { key: { ...key, algorithm: "HS512" } }],
      ["the algorithm is none", [rego, data, sign({ files: hashes })], { key: { ...key, algorithm: "none" } }],
      ["a key is given and there is no signature", [rego, data]],
      ["a source was changed", [file(rego.path, "package authz\n\nallow := true\n"), data, sign({ files: hashes })]],
      ["data were changed", [rego, file("data.json", '{"b": [1.0, "y"], "a": {"n": null}}'), sign({ files: hashes })]],
      ["a file was added", [rego, data, file("x/data.json", "{}"), sign({ files: hashes })]],
      ["a file was taken away", [rego, sign({ files: hashes })]],
      ["the signature is for another scope", [rego, data, sign({ files: hashes, scope: "write" })]],
      ["a hash is one that nobody trusts", [rego, data, sign({ files: hashes.map((one) => ({ ...one, algorithm: "MD5" })) })]],
      ["the signature names no files", [rego, data, sign({})]],
      ["there is no token", [rego, data, file(".signatures.json", '{"signatures": []}')]],
      ["what says so is not JSON", [rego, data, file(".signatures.json", "{")]],
    ])("is refused where %s", (_, files, options = { key }) => {
      expect(read(files as readonly BundleFile[], options as object)).toBe("bundle_signature");
    });

    test("is read unverified only where that is asked for", () => {
      expect(read([rego, data, file(".signatures.json", "{}")], { skipVerify: true })).toBe("accepted");
    });
  });
});
