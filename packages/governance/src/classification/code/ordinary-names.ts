/**
 * Words that more than one in five files of public code have (620 of Python's standard library, 3,000 of 200 packages of npm), each more often as a variable, a keyword or a word of a comment than as a table. Those
 * that name things of a business (`order`, `message`, `user`) are left out.
 */
const WORDS: ReadonlySet<string> = new Set(
  (
    "above add after all already also always and any api append are arg args argument arguments array assert available base because been before block both break but byte bytes " +
    "call called can cannot case char character characters check class close code codec compile const constructor contain contains continue copy copyright create current data decode def default defined del dict does doesn don " +
    "each either elif else empty encode encoding end error errors except exception export exports false file filename files final finally find first following for form format found from full func function functions generated get given group " +
    "has have here import implementation input instance instead int into invalid its join just key keys left len length less let level like line lines list local lower " +
    "make map mapping match may method methods mode module more most msg must name named names need needed new next node nodes non none not note now null num number " +
    "object objects one only open option optional options org other otherwise out output param params pass passed path paths possible prefix print prototype push " +
    "raise raised range read remove replace require result results return returned returns right row rows run same see self set should since single some source space specified split start str strict string strings support sys " +
    "test text than that the them then there these they this throw time true try tuple two type typeof types undefined use used using val value values var version void was when where whether which while will with without write written you zero"
  ).split(" "),
);

/** The parts of a name, without what quotes them. */
export function partsOf(name: string): readonly string[] {
  return name.split(/[./:\\"'`[\]\s-]+/).filter((part) => part !== "");
}

/** True for absolute paths, addresses and patterns: they are names of data, whatever they are made of. */
export function isAddress(name: string): boolean {
  return /^[a-z][a-z\d+.-]{0,20}:[/\\]|^[/\\~]|\*/i.test(name);
}

/** True for a word that all code has: of one or two letters, or one of the most common ones. */
export function isOrdinary(word: string): boolean {
  if (word.length > 16) return false;
  const folded = word.toLowerCase();
  return /^\p{L}{1,2}$/u.test(folded) || WORDS.has(folded);
}

/** Signs before a word that are looked at, and behind it. */
const BEFORE = 64;
const BEHIND = 48;

/** What a table's name stands behind: keywords and nouns, options of programs, handles of databases, calls that are given a table's name. */
const LEADS: readonly RegExp[] = [
  /\b(?:FROM|JOIN|INTO|UPDATE|TABLE|ONLY|USING|TRUNCATE|DESCRIBE|[Tt]ables?|[Cc]ollections?|[Dd]ata ?[Ss]ets?|[Vv]iews?|[Tt]opics?|[Bb]uckets?)\s+["'`[]?$/,
  /(?:^|\s)--?(?:t|c|tables?|collection|dataset|topic|index|from)(?:\s+|=)["']?$/,
  /\b(?:db|database|prisma|supabase|knex|mongo|conn|connection|engine|tables|models|[Mm]eta[Dd]ata)\s*(?:\.|->|\[\s*["'`])$/,
  /\b(?:db|knex|\w{0,24}(?:[Tt]able|[Cc]ollection|[Dd]ata_?[Ss]et|[Rr]elation|[Tt]opic|[Bb]ucket|[Ee]ntity|[Rr]epository|read_\w{1,16}|scan_\w{1,16})\w{0,16}|(?<!\b(?:Buffer|Array|String|Object)\.)from|into|ref|source)\(\s*(?:\w{1,20}\s*=\s*)?["'`]$/,
  /\b(?:dump|export|download|query|select|copy|unload|truncate|show|list|get|read|fetch|print|send)\s+(?:me\s+)?(?:the\s+|all\s+)?["'`]$/i,
];
/** What stands behind one: methods of object mappers and of document stores. */
const TRAILS =
  /^["'`\]]?\s*\.\s*(?:objects\b|(?:find(?:One|Many|All|First|Unique|By\w{1,40})|insert(?:One|Many)|update(?:One|Many)|delete(?:One|Many)|aggregate|countDocuments|bulkWrite)\b)/;
/** Arguments or fields of a field of GraphQL. */
const FIELDS = /^\s*[({]/;

/** True where a word stands as a table's name does, or is all that the text says. */
export function standsAsTable(text: string, at: number, word: string, graphql: boolean): boolean {
  const end = at + word.length;
  const before = text.slice(Math.max(0, at - BEFORE), at);
  const behind = text.slice(end, end + BEHIND);
  if (text.length <= word.length + BEHIND && /^["'`\s]*$/.test(before) && /^["'`\s]*$/.test(behind)) return true;
  if (TRAILS.test(behind) || (graphql && FIELDS.test(behind))) return true;
  return LEADS.some((lead) => lead.test(before)) || (/^\p{Lu}/u.test(word) && /\b(?:query|select|from)\(\s*$/.test(before));
}
