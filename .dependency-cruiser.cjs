/** The rings of docs/architecture.md as rules. `npm run boundaries` fails on any breach. */
const pure = "^packages/(kernel|core|governance|crypto|quota|rego|contract)/src/";
const pureNpm =
  "node_modules/(zod|@noble/(curves|hashes|ciphers)|shamir-secret-sharing|fast-check|@eslint-community/regexpp|re2js|yaml|graphql|stdnum|entities|ibantools|ipaddr\\.js|libphonenumber-js|tldts|fflate)/";

/** The gateway's floors, the lowest first: each imports those below it, by their doors. What it needs from above is handed in. */
const floors = ["ground", "people", "custody", "workspaces", "partners", "oversight"];
const gateway = "^packages/app/src/gateway/";
const floorRules = floors.map((floor, i) => ({
  name: `gateway-${floor}-knows-what-is-below`,
  severity: "error",
  from: { path: `${gateway}${floor}/` },
  to: { path: gateway, pathNot: [`${gateway}${floor}/`, ...floors.slice(0, i).map((below) => `${gateway}${below}/index\\.ts$`)] },
}));

/** The storage node's rooms, the lowest first. */
const rooms = ["bytes", "peers", "keys", "cluster", "data", "notify", "objects", "watch", "jobs", "files", "grpc", "admin", "ui"];
const storage = "^packages/app/src/storage/";
const roomRules = rooms.slice(0, -1).map((room, i) => ({
  name: `storage-${room}-knows-what-is-below`,
  severity: "error",
  from: { path: `${storage}${room}/` },
  to: { path: `${storage}(${rooms.slice(i + 1).join("|")})/` },
}));

module.exports = {
  forbidden: [
    ...floorRules,
    ...roomRules,
    {
      name: "gateway-floors-by-their-doors",
      severity: "error",
      from: { path: "^packages/app/src/", pathNot: `${gateway}(${floors.join("|")})/` },
      to: { path: `${gateway}(${floors.join("|")})/`, pathNot: `${gateway}[^/]+/index\\.ts$` },
    },
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    { name: "no-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "pure-no-node",
      severity: "error",
      comment: "pure packages do no I/O",
      from: { path: pure },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "pure-npm-allow-list",
      severity: "error",
      from: { path: pure },
      to: { path: "node_modules/", pathNot: [pureNpm, "node_modules/@seneschal/"] },
    },
    {
      name: "fast-check-for-arbitraries",
      severity: "error",
      comment: "it is an optional peer: only who imports the arbitraries needs it",
      from: { path: "^packages/[^/]+/src/", pathNot: "/src/arbitraries/" },
      to: { path: "node_modules/fast-check/" },
    },
    {
      name: "arbitraries-for-tests",
      severity: "error",
      from: { path: "^packages/[^/]+/src/", pathNot: "/src/arbitraries/" },
      to: { path: "/src/arbitraries/" },
    },
    {
      name: "pure-knows-pure",
      severity: "error",
      from: { path: pure },
      to: { path: "^packages/(app|adapters|server-[a-z]+|cli)/" },
    },
    {
      name: "kernel-knows-nobody",
      severity: "error",
      comment: "nothing of ours, and no dependency at all",
      from: { path: "^packages/kernel/src/", pathNot: "/src/arbitraries/" },
      to: { path: "^packages/(?!kernel/)|node_modules/" },
    },
    {
      name: "core-knows-the-kernel",
      severity: "error",
      from: { path: "^packages/core/src/" },
      to: { path: "^packages/(?!core/|kernel/)" },
    },
    {
      name: "core-domains-apart",
      severity: "error",
      comment: "a domain never imports another domain",
      from: { path: "^packages/core/src/(keys|storage)/" },
      to: { path: "^packages/core/src/(keys|storage)/", pathNot: "^packages/core/src/$1/" },
    },
    { name: "rego-knows-nobody", severity: "error", from: { path: "^packages/rego/src/" }, to: { path: "^packages/(?!rego/)" } },
    {
      name: "crypto-quota-governance-know-the-kernel",
      severity: "error",
      from: { path: "^packages/(crypto|quota|governance)/src/" },
      to: { path: "^packages/(?!kernel/)", pathNot: "^packages/$1/" },
    },
    {
      name: "contract-knows-core",
      severity: "error",
      from: { path: "^packages/contract/src/" },
      to: { path: "^packages/(?!contract/|core/|kernel/)" },
    },
    {
      name: "adapters-know-the-pure-ring",
      severity: "error",
      from: { path: "^packages/adapters/src/" },
      to: { path: "^packages/(app|contract|server-[a-z]+|cli)/" },
    },
    {
      name: "app-knows-no-server",
      severity: "error",
      from: { path: "^packages/app/src/" },
      to: { path: "^packages/(server-[a-z]+|cli)/" },
    },
    {
      name: "app-opens-no-socket",
      severity: "error",
      comment:
        "the root of composition looks at ports before a start; all else listens, calls and computes through adapters and servers",
      from: { path: "^packages/app/src/", pathNot: "^packages/app/src/compose/" },
      to: {
        path: "^(node:)?(net|http|https|http2|dgram|child_process|worker_threads|cluster)$",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "app-opens-no-file",
      severity: "error",
      comment: "the root of composition prepares a data directory; all else reads and writes through adapters",
      from: { path: "^packages/app/src/", pathNot: "^packages/app/src/compose/" },
      to: { path: "^(node:)?fs(/promises)?$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "app-speaks-no-grpc",
      severity: "error",
      comment: "clients are adapters, servers a package; what they are described by is loaded there",
      from: { path: "^packages/app/src/" },
      to: { path: "(^|node_modules/)@grpc/" },
    },
    {
      name: "servers-know-the-contract",
      severity: "error",
      from: { path: "^packages/(server-[a-z]+)/src/" },
      to: { path: "^packages/(?!contract/|core/|kernel/|server-node/)", pathNot: "^packages/$1/" },
    },
    {
      name: "commands-take-the-engine-as-one-file",
      severity: "error",
      comment: "@seneschal/rego/bundle: of its hundred modules and those of its libraries the loading alone takes 200 ms",
      from: { path: "^packages/cli/src/" },
      to: { path: "^packages/rego/(src|dist)/index\\.", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "cross-package-by-name",
      severity: "error",
      comment: "another package is imported by its name, never by a path",
      from: { path: "^packages/([^/]+)/" },
      to: { path: "^packages/", pathNot: "^packages/$1/", dependencyTypes: ["local"] },
    },
    {
      name: "no-undeclared-dependency",
      severity: "error",
      // fast-check is a peer of the packages and a development dependency of the whole; the rule above says who may import it.
      from: { path: "^packages/[^/]+/src/", pathNot: "/src/arbitraries/" },
      // An optional peer counts here as one of no package too, because it is also named in peerDependenciesMeta.
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown", "npm-dev"], dependencyTypesNot: ["npm-peer"] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    exclude: { path: "^packages/[^/]+/(dist|vendor)" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { conditionNames: ["@seneschal/source", "import", "default"], exportsFields: ["exports"] },
  },
};
