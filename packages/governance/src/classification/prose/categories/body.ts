import type { Phrase } from "../phrases.ts";
import { says } from "./says.ts";

/** Biometric and genetic data. */
export const BODY: readonly Phrase[] = [
  says(
    "BIOMETRIC_DATA",
    "biometrics",
    "scan scans scanned template templates print prints recognition image geometry pattern vein id enrolled enrolment enrollment login",
    {
      before:
        /\b(?:iris|retinal?|face|facial|palm|hand|voice|finger|vein|gait|thumb|ear|biometric|fingerprint|face id|palm vein|iris and|voice id|her face|his face|my face) $/,
      unless: /\b(?:stock|generic|profile picture|feature|library|api|sdk|algorithm\w*|dataset)\b/,
    },
  ),
  says("BIOMETRIC_DATA", "biometrics", "enrolled enrol enroll registered captured scanned recorded stored uploaded", {
    behind:
      /^ (?:\w+ )?(?:her|his|my|the|its|their) (?:\w+ )?(?:face|iris|irises|retinas?|fingerprints?|thumbprints?|voiceprint|palm|palms|thumb|fingers?)\b/,
  }),
  says(
    "BIOMETRIC_DATA",
    "biometrics",
    "voiceprint voiceprints faceprint thumbprint thumbprints handprint retina-scan gesichtsscan irisscan iris-scan netzhautscan stimmabdruck stimmprofil handvenenscan handvenen fingerabdrucke fingerabdrucken fingerabdruckes gezichtsscan stemafdruk handpalmscan vingerafdrukken vingerscan fingeravtryck rostavtryck irisskanning irisskannad ansiktsskanning gesichtsbild gesichtserkennung ansiktsigenkanning gezichtsherkenning",
    {
      unless: /\b(?:sensor|api|library|software|anbieter|algorithm\w*|tatort)\b/,
    },
  ),
  says(
    "BIOMETRIC_DATA",
    "biometrics",
    "faciale facial facciale vocale vocal retinienne retinien dactilar dactilares digitale digitales digitali digital digitais iris iride iris retina visage volto rosto rostro",
    {
      before:
        /\b(?:reconnaissance|scan|scanner|reconocimiento|escaneo|riconoscimento|scansione|reconhecimento|leitura|empreintes?|huellas?|impront[ae]|impressao|impressoes|gabarit|plantilla|biometria|scan de l|scan du|scan de|escaneo de|escaneo del|escaner de|escaneo de la|scansione del|scansione dell|scansione della|leitura da|leitura do|de son|de sa|lettura del|della sua|de su|da sua)(?: (?:de|du|del|della|dell|da|do|la|l'|le|il|o|son|sa|suo|sua|su|seu))? $/,
      unless:
        /\b(?:api|logiciel|software|tracce|carbone|carbono|ecologique|signature|firma|cartao|huella (?:digital )?(?:de carbono|ecologica)|marketing)\b/,
    },
  ),
  says("BIOMETRIC_DATA", "biometrics", "palca palcow twarzy teczowki siatkowki izi izini tanima taramasi", {
    before: /\b(?:odciski?|odciskow|odcisk|skan|skanu|rozpoznawanie|parmak|yuz|iris|retina) $/,
  }),
  says(
    "GENETIC_DATA",
    "genetics",
    "positive negative mutation mutations carrier carriers gene genes variant variants pathogenic allele deletion",
    {
      before:
        /\b(?:brca|braca|hla-b|apoe|tp|mthfr|cftr|f|lynch|palb|chek|hla|mlh|msh|htt|jak|egfr|kras|fmr|leiden|tay-sachs|sickle cell|thalass\w+|huntington'?s?|cystic fibrosis|fragile x|ha?emophilia|carries the|carries an?|inherited the|has the|brca gene)(?: (?:gene|disease|trait))? $/,
      unless: /\b(?:mice|mouse|zebrafish|cohort|plants?|wheat|cells? line)\b/,
    },
  ),
  says("GENETIC_DATA", "genetics", "positive negative carrier carries carry inherited heterozygous homozygous tested", {
    behind:
      /^ (?:\w+ ){0,3}(?:brca|braca|apoe|tp|mthfr|cftr|lynch|palb|chek|hla|hla-b|leiden|tay-sachs|sickle cell|thalass\w+|huntington'?s?|cystic fibrosis|fragile x|ha?emophilia|gene|genes|mutation|allele|variant)\b/,
    unless: /\b(?:mice|mouse|zebrafish|cohort|plants?|wheat)\b/,
  }),
  says(
    "GENETIC_DATA",
    "genetics",
    "karyotype genotype genotyping exome whole-genome paternity chromosome chromosomal genome 23andme ancestrydna anlagetragerin anlagetrager gentragerin gentrager erbgut gentests genanalyse dna-test dna-probe dna-profil dna-analyse dna-abgleich vaterschaftstest chromosomenanalyse caryotype cariotipo draagster dragerschap dna-onderzoek dragerschapstest anlagsbarare dna-prov erbkrankheit",
    {
      unless: /\b(?:mice|mouse|zebrafish|plants?|wheat|assembly of|reference genome|species|algorithm\w*)\b/,
    },
  ),
  says(
    "GENETIC_DATA",
    "genetics",
    "test tests sample profile swab results sequencing screening counselling counseling kit analysis",
    {
      before: /\b(?:dna|genetic|genomic|paternity|ancestry|exome|genome|carrier|brca) $/,
      unless: /\b(?:genetic algorithm\w*|library|mice|mouse|unit tests?|plants?)\b/,
    },
  ),
  says(
    "GENETIC_DATA",
    "genetics",
    "gene gen mutation mutacion mutazione mutacao genu mutacji mutation mutatie genmutation sana sano",
    {
      before:
        /\b(?:porteur|porteuse|portadora?|portatore|portatrice|drager|draagster|nosiciel|nosicielka|nosicielk\w+|tragerin|trager|bar pa|barare av)(?: (?:du|de la|del|de|della|do|da|van het|van de|van een|d une|d'une|de un|di una|einer|des|der|eines|una|uma|le))? $/,
    },
  ),
  says(
    "GENETIC_DATA",
    "genetics",
    "adn genetique genetica genetico genetyczne genetycznych genetisk genetiskt mutasyonu tasiyicisi testi dna",
    {
      before:
        /\b(?:test|tests|prueba|pruebas|analyse|analisi|exame|teste|test del|test de|test d|prueba de|teste de|badania|badanie|badan|gen|dna|profil|perfil|profilo) $/,
      unless: /\b(?:algorithm\w*|algoritm\w*)\b/,
    },
  ),
];
