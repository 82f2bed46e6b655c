import {
  type Certificate,
  certificatePem,
  createRequest,
  createRevocationList,
  createRoot,
  encodePem,
  encodePrivateKey,
  type Issuer,
  issueCertificate,
  localSigner,
  type Name,
  newPrivateKey,
  newSerial,
  type PrivateKey,
  type PublicKey,
  parseCertificate,
  parseRequest,
  parseSerial,
  requestPem,
  revocationListPem,
  type SubjectAltName,
  samePublicKey,
  serialText,
  verifyRequest,
} from "@seneschal/crypto/x509";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { type Body, HttpFault, type Reply, type Route } from "./route.ts";

interface Role {
  readonly allowedDomains: readonly string[];
  readonly allowSubdomains: boolean;
  readonly allowBareDomains: boolean;
  readonly allowAnyName: boolean;
  readonly organization: readonly string[];
  readonly ou: readonly string[];
  readonly clientFlag: boolean;
  readonly serverFlag: boolean;
  readonly maxTtl: number;
  readonly ttl: number;
}

interface Issued {
  readonly certificate: Certificate;
  revokedAt?: number;
}

const HOUR = 3_600_000;

/** The PKI engine for one CA: root or intermediate, roles, issue, sign, revoke, lists, tidy. Keys are P-256 or Ed25519. */
export function pkiRoutes(options: {
  readonly mount: string;
  readonly crypto: CryptoProvider;
  readonly random: Random;
  readonly now: () => number;
}): readonly Route[] {
  const { mount, crypto, random, now } = options;
  const roles = new Map<string, Role>();
  const issued = new Map<string, Issued>();
  let issuer: Issuer | undefined;
  let chain: readonly Certificate[] = [];
  let pending: PrivateKey | undefined;
  let urls: { readonly crl: readonly string[]; readonly ocsp: readonly string[]; readonly issuing: readonly string[] } = {
    crl: [],
    ocsp: [],
    issuing: [],
  };
  let crlNumber = 0;

  const authority = (): Issuer => {
    if (issuer === undefined) throw new HttpFault(500, ["no default issuer currently configured"]);
    return issuer;
  };
  const newKey = (body: Body): PrivateKey => newPrivateKey(crypto, body["key_type"] === "ed25519" ? "ed25519" : "p256", random);
  const remember = (certificate: Certificate): void => {
    issued.set(certificate.serialText, { certificate });
  };
  const issuedReply = (certificate: Certificate): Body => ({
    certificate: certificatePem(certificate).trimEnd(),
    issuing_ca: certificatePem(authority().certificate).trimEnd(),
    ca_chain: chain.map((c) => certificatePem(c).trimEnd()),
    serial_number: certificate.serialText,
    expiration: Math.floor(certificate.notAfter / 1000),
  });

  const issueUnder = async (role: Role, body: Body, publicKey: PublicKey): Promise<Certificate> => {
    const commonName = String(body["common_name"] ?? "");
    const names = [commonName, ...list(body["alt_names"])].filter((name) => name !== "");
    const refused = names.find((name) => !allowed(role, name));
    if (commonName === "" || refused !== undefined) {
      throw new HttpFault(400, [
        refused === undefined ? "the common_name field is required" : `common name ${refused} not allowed by this role`,
      ]);
    }
    const ttl = Math.min(body["ttl"] === undefined ? role.ttl : duration(body["ttl"]), role.maxTtl);
    const parent = authority();
    const certificate = await issueCertificate(crypto, parent, {
      serial: newSerial(random),
      subject: subjectOf(role.organization, role.ou, commonName),
      publicKey,
      notBefore: Math.max(now() - 30_000, parent.certificate.notBefore),
      notAfter: Math.min(now() + ttl, parent.certificate.notAfter),
      extensions: {
        keyUsage: ["digitalSignature"],
        extendedKeyUsage: [...(role.serverFlag ? ["serverAuth"] : []), ...(role.clientFlag ? ["clientAuth"] : [])],
        subjectAltNames: [
          ...names.filter((name) => /^[A-Za-z0-9.*_-]+$/.test(name)).map((value): SubjectAltName => ({ kind: "dns", value })),
          ...list(body["ip_sans"]).map((value): SubjectAltName => ({ kind: "ip", value })),
          ...list(body["uri_sans"]).map((value): SubjectAltName => ({ kind: "uri", value })),
        ],
        crlUrls: urls.crl,
        ocspUrls: urls.ocsp,
        issuerUrls: urls.issuing,
      },
    });
    remember(certificate);
    return certificate;
  };

  const needRole = (name: string): Role => {
    const role = roles.get(name);
    if (role === undefined) throw new HttpFault(400, [`unknown role: ${name}`]);
    return role;
  };
  const revocationList = (): Promise<Uint8Array> => {
    const revoked = [...issued.values()].filter((entry) => entry.revokedAt !== undefined);
    return createRevocationList(authority(), {
      entries: revoked.map(({ certificate, revokedAt = 0 }) => ({ serial: certificate.serial, revokedAt })),
      number: ++crlNumber,
      thisUpdate: now(),
      nextUpdate: now() + 72 * HOUR,
    });
  };
  const find = (text: string): Issued => {
    const entry = issued.get(serialText(parseSerial(text)));
    if (entry === undefined) throw new HttpFault(404, []);
    return entry;
  };
  const serials = (entries: Iterable<Issued>): Reply => {
    const keys = [...entries].map((entry) => entry.certificate.serialText).sort();
    if (keys.length === 0) throw new HttpFault(404, []);
    return { data: { keys } };
  };

  return [
    {
      method: "POST",
      path: `${mount}/root/generate/:type`,
      run: async ({ params, body }) => {
        if (params["type"] !== "internal") throw new HttpFault(400, ["only internal keys are supported"]);
        const signer = localSigner(crypto, newKey(body));
        const certificate = await createRoot(crypto, signer, {
          serial: newSerial(random),
          subject: subjectOf(list(body["organization"]), list(body["ou"]), String(body["common_name"] ?? "")),
          notBefore: now() - 30_000,
          notAfter: now() + (body["ttl"] === undefined ? 768 * HOUR : duration(body["ttl"])),
          ...(body["max_path_length"] === undefined || Number(body["max_path_length"]) < 0
            ? {}
            : { pathLength: Number(body["max_path_length"]) }),
        });
        issuer = { certificate, signer };
        chain = [certificate];
        remember(certificate);
        return { data: issuedReply(certificate) };
      },
    },
    {
      method: "POST",
      path: `${mount}/intermediate/generate/:type`,
      run: async ({ body }) => {
        pending = newKey(body);
        const subject = subjectOf(list(body["organization"]), list(body["ou"]), String(body["common_name"] ?? ""));
        return { data: { csr: requestPem(await createRequest(localSigner(crypto, pending), { subject })).trimEnd() } };
      },
    },
    {
      method: "POST",
      path: `${mount}/root/sign-intermediate`,
      run: async ({ body }) => {
        const request = parseRequest(String(body["csr"]));
        if (!verifyRequest(crypto, request)) throw new HttpFault(400, ["request signature invalid"]);
        const parent = authority();
        const length = Number(body["max_path_length"] ?? 0);
        const certificate = await issueCertificate(crypto, parent, {
          serial: newSerial(random),
          subject: subjectOf(list(body["organization"]), list(body["ou"]), String(body["common_name"] ?? "")),
          publicKey: request.publicKey,
          notBefore: Math.max(now() - 30_000, parent.certificate.notBefore),
          notAfter: Math.min(
            now() + (body["ttl"] === undefined ? 768 * HOUR : duration(body["ttl"])),
            parent.certificate.notAfter,
          ),
          extensions: { ca: { pathLength: Math.max(0, length) }, keyUsage: ["keyCertSign", "cRLSign"], crlUrls: urls.crl },
        });
        remember(certificate);
        return { data: issuedReply(certificate) };
      },
    },
    {
      method: "POST",
      path: `${mount}/intermediate/set-signed`,
      run: ({ body }) => {
        const [first, ...rest] = String(body["certificate"])
          .split(/(?=-----BEGIN)/)
          .filter((part) => part.includes("BEGIN"));
        const certificate = parseCertificate(first ?? "");
        if (pending === undefined) throw new HttpFault(400, ["no key was generated"]);
        const signer = localSigner(crypto, pending);
        if (!samePublicKey(signer.publicKey, certificate.publicKey))
          throw new HttpFault(400, ["the certificate is not for the generated key"]);
        issuer = { certificate, signer };
        chain = [certificate, ...rest.map((pem) => parseCertificate(pem))];
        return { data: { imported_issuers: [certificate.serialText], imported_keys: [] } };
      },
    },
    {
      method: "POST",
      path: `${mount}/config/urls`,
      run: ({ body }) => {
        urls = {
          crl: list(body["crl_distribution_points"]),
          ocsp: list(body["ocsp_servers"]),
          issuing: list(body["issuing_certificates"]),
        };
        return { data: body };
      },
    },
    {
      method: "POST",
      path: `${mount}/roles/:name`,
      run: ({ name, body }) => {
        const maxTtl = body["max_ttl"] === undefined ? 768 * HOUR : duration(body["max_ttl"]);
        roles.set(name, {
          allowedDomains: list(body["allowed_domains"]),
          allowSubdomains: body["allow_subdomains"] === true,
          allowBareDomains: body["allow_bare_domains"] === true,
          allowAnyName: body["allow_any_name"] === true,
          organization: list(body["organization"]),
          ou: list(body["ou"]),
          clientFlag: body["client_flag"] !== false,
          serverFlag: body["server_flag"] !== false,
          maxTtl,
          ttl: body["ttl"] === undefined ? maxTtl : duration(body["ttl"]),
        });
        return { data: body };
      },
    },
    {
      method: "POST",
      path: `${mount}/issue/:name`,
      run: async ({ name, body }) => {
        const key = newKey(body);
        const certificate = await issueUnder(needRole(name), body, localSigner(crypto, key).publicKey);
        const pem = encodePem("PRIVATE KEY", encodePrivateKey(crypto, key)).trimEnd();
        return {
          data: { ...issuedReply(certificate), private_key: pem, private_key_type: key.kind === "p256" ? "ec" : "ed25519" },
        };
      },
    },
    {
      method: "POST",
      path: `${mount}/sign/:name`,
      run: async ({ name, body }) => {
        const request = parseRequest(String(body["csr"] ?? ""));
        if (!verifyRequest(crypto, request)) throw new HttpFault(400, ["request signature invalid"]);
        const wished = request.subject.find((attribute) => attribute.type === "CN")?.value;
        return { data: issuedReply(await issueUnder(needRole(name), { common_name: wished, ...body }, request.publicKey)) };
      },
    },
    {
      method: "POST",
      path: `${mount}/revoke`,
      run: ({ body }) => {
        const serial =
          body["serial_number"] === undefined
            ? parseCertificate(String(body["certificate"])).serialText
            : String(body["serial_number"]);
        const entry = find(serial);
        entry.revokedAt ??= now();
        return {
          data: {
            revocation_time: Math.floor(entry.revokedAt / 1000),
            revocation_time_rfc3339: new Date(entry.revokedAt).toISOString(),
          },
        };
      },
    },
    { method: "LIST", path: `${mount}/certs`, run: () => serials(issued.values()) },
    {
      method: "LIST",
      path: `${mount}/certs/revoked`,
      run: () => serials([...issued.values()].filter((e) => e.revokedAt !== undefined)),
    },
    {
      method: "GET",
      path: `${mount}/cert/:name`,
      run: ({ name }) => {
        const { certificate, revokedAt } = find(name);
        return {
          data: { certificate: certificatePem(certificate).trimEnd(), revocation_time: Math.floor((revokedAt ?? 0) / 1000) },
        };
      },
    },
    { method: "GET", path: `${mount}/ca/pem`, run: () => pemReply(certificatePem(authority().certificate)) },
    { method: "GET", path: `${mount}/ca_chain`, run: () => pemReply(chain.map(certificatePem).join("")) },
    {
      method: "GET",
      path: `${mount}/crl`,
      run: async () => ({ raw: { type: "application/pkix-crl", bytes: await revocationList() } }),
    },
    { method: "GET", path: `${mount}/crl/pem`, run: async () => pemReply(revocationListPem(await revocationList())) },
    {
      method: "POST",
      path: `${mount}/tidy`,
      run: ({ body }) => {
        const buffer = body["safety_buffer"] === undefined ? 72 * HOUR : duration(body["safety_buffer"]);
        for (const [serial, { certificate, revokedAt }] of issued) {
          const wanted = revokedAt === undefined ? body["tidy_cert_store"] === true : body["tidy_revoked_certs"] === true;
          if (wanted && certificate.notAfter + buffer < now()) issued.delete(serial);
        }
        return { status: 202, data: null };
      },
    },
  ];
}

function allowed(role: Role, name: string): boolean {
  if (role.allowAnyName) return true;
  return role.allowedDomains.some(
    (domain) => (role.allowBareDomains && name === domain) || (role.allowSubdomains && name.endsWith(`.${domain}`)),
  );
}

function subjectOf(organization: readonly string[], ou: readonly string[], commonName: string): Name {
  return [
    ...organization.map((value) => ({ type: "O", value })),
    ...ou.map((value) => ({ type: "OU", value })),
    ...(commonName === "" ? [] : [{ type: "CN", value: commonName }]),
  ];
}

/** Lists come as JSON arrays or as comma-separated text. */
function list(value: unknown): readonly string[] {
  if (value === undefined || value === "") return [];
  return Array.isArray(value)
    ? value.map(String)
    : String(value)
        .split(",")
        .map((part) => part.trim());
}

/** `72h`, `30m`, `10s`, `7d`, or seconds; in milliseconds. */
function duration(value: unknown): number {
  const [, digits = "", unit = "s"] = /^(\d+)([smhd]?)$/.exec(String(value)) ?? [];
  if (digits === "") throw new HttpFault(400, ["not a duration"]);
  const factor = ({ s: 1000, m: 60_000, h: HOUR, d: 24 * HOUR } as const)[(unit || "s") as "s"];
  return Number(digits) * factor;
}

function pemReply(text: string): Reply {
  return { raw: { type: "application/pem-certificate-chain", bytes: text } };
}
