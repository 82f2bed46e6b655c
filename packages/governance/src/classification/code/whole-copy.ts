import { type Evidence, unread } from "../evidence.ts";
import type { TierPolicy } from "../tiers.ts";

/** Statements that copy a database, a schema or all there is, whatever is in it. */
const STATEMENTS: readonly RegExp[] = [
  /^(?:export|backup|dump|unload)\s+(?:database|schema|log|tran(?:saction)?|cluster|all)\s*(?:$|\(|['"]|\S+\s+(?:to|into|via|from|with|as)\b|(?:to|into|via|except)\b|\S+\s*$)/i,
  /^backup\s+(?:into|to)\s+['"(]/i,
  /^(?:rman\s*>\s*)?backup\s+(?:as\s+\w+\s+)?(?:incremental\s+level\s+\d\s+)?(?:database|tablespace|pluggable\s+database)\b(?!\s+(?:is|are|was|every|each|and|or)\b)/i,
  /^vacuum\s+(?:\w+\s+)?into\s+\S/i,
  /^create\s+(?:or\s+replace\s+)?(?:transient\s+|temporary\s+)?(?:database|schema)\s+\S+\s+(?:[\s\S]{0,200}\s)?(?:clone|template|from\s+snapshot|shallow\s+clone|deep\s+clone)\s+\S/i,
  /^create\s+database\s+\S+[\s\S]{0,400}\bas\s+(?:snapshot|copy)\s+of\b/i,
  // Every node of a graph.
  /^(?:optional\s+)?match\s*\(\s*\w{0,30}\s*\)\s*(?:return|with|where)\b/i,
  /^g\s*\.\s*[VE]\s*\(\s*\)\s*(?:\.\s*(?:limit|range|sample)\([^()]{0,40}\)\s*)?(?:\.\s*(?:valueMap|values|elementMap|properties|propertyMap|toList|next)\(|$)/,
  /^\.(?:dump|backup|clone|save|archive)\s*(?:\S|$)/i,
];
/** A program that copies, the words by which it does where it does other things too, and those by which it takes tables that it names. */
interface Copier {
  readonly names: RegExp;
  readonly copies?: RegExp;
  readonly tables?: RegExp;
}
const COPIERS: readonly Copier[] = [
  { names: /^pg_dump$/, tables: /(?:^|\s)(?:-t|--table|-L|--use-list|-s|--schema-only)\b/ },
  {
    names: /^(?:mysqldump|mariadb-dump)$/,
    tables: /--tables\b|--no-data\b|(?:^|\s)-d\b|(?:^|\s)[^\s<>|&-][^\s<>|&]*\s+[^\s<>|&-][^\s<>|&]*(?=\s|$)/,
  },
  { names: /^mongodump$/, tables: /(?:^|\s)(?:-c\s*\S|--collection\b)/ },
  { names: /^(?:expdp|exp)$/, tables: /\btables\s*=/i },
  { names: /^(?:pg_dumpall|pg_basebackup|mydumper|mysqlpump)$/ },
  { names: /^rman$/, copies: /\bbackup\b|\bduplicate\b/i },
  { names: /^(?:neo4j-admin|cockroach)$/, copies: /\b(?:dump|backup)\b/ },
  { names: /^(?:barman|pgbackrest|influxd?|wal-g|xtrabackup|mariabackup)$/, copies: /\bbackup/ },
  { names: /^(?:nodetool|etcdctl)$/, copies: /\bsnapshot\b(?!\s+(?:status|restore)\b)/ },
  { names: /^redis-cli$/, copies: /\s--rdb\b/ },
  { names: /^sqlite3$/, copies: /\s['"]?\.(?:dump|backup|clone)\b/ },
];

/** What is said of a program, and not to it. */
const SENTENCE = /^\s+(?:is|was|are|can|does|will|has|and|or)\s/;

const MAX_PARTS = 10_000;

/** Evidence of a copy of everything that a database holds: nobody says what is in it, so that it counts as the highest tier. */
export function wholeCopyEvidence(text: string, policy: TierPolicy): Evidence[] {
  const parts = text.split(/[;\n]|&&|\|\|?/, MAX_PARTS);
  if (!parts.some((part) => copiesWhole(part.replace(/^(?:\s*\/\*[\s\S]{0,2000}?\*\/)+/, "").trim()))) return [];
  const reason = "everything that a database holds is shown or copied";
  return [unread(policy, reason)];
}

function copiesWhole(part: string): boolean {
  if (STATEMENTS.some((form) => form.test(part))) return true;
  const [, path = "", rest = ""] = /^(?:sudo\s+(?:-u\s+\S+\s+)?)?([\w./-]{2,200})(?=\s|$)([\s\S]*)$/.exec(part) ?? [];
  const copier = COPIERS.find(({ names }) => names.test(path.slice(path.lastIndexOf("/") + 1)));
  if (copier === undefined || SENTENCE.test(rest)) return false;
  return (copier.copies?.test(rest) ?? true) && copier.tables?.test(rest) !== true;
}
