import { plainOf, unelided, type Word } from "./words.ts";

const setOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

// Who a sentence may be about: relatives, people by age, by what they are to an office or a clinic, and by their work (everyday titles of the International Standard
// Classification of Occupations, ISCO-08). In English, German, French, Spanish, Italian, Portuguese and Dutch, and the commonest of Polish, Swedish and Turkish, without accents.

/** Words for one person. Not those that programs have too (`user`, `host`, `agent`). */
const SOMEBODY = setOf(
  `patient pt client employee colleague coworker boss manager wife husband partner mother mum mom father dad son daughter brother sister child baby uncle aunt cousin grandmother grandfather friend neighbour neighbor roommate girlfriend boyfriend fiance woman man tenant applicant candidate claimant member nurse driver
  mums dads mam mummy daddy nan gran grandma grandpa granddad grandad granny grandson granddaughter stepson stepdaughter stepmother stepfather twin twins nephew niece sister-in-law brother-in-law mother-in-law father-in-law mother-in-law spouse pupil student resident inmate girl boy lady gentleman guy bloke lad lass teenager toddler infant newborn kid kids flatmate housemate lodger landlord landlady fiancee widow widower godson goddaughter auntie
  caller passenger guest visitor beneficiary policyholder insured insuree subscriber complainant defendant plaintiff suspect victim witness detainee prisoner offender juvenile donor recipient volunteer trainee apprentice intern hire joiner newcomer freelancer contractor worker labourer staffer supervisor deputy predecessor successor jobseeker referee attendee participant delegate
  teacher tutor pupil headteacher lecturer professor doctor gp dentist midwife carer caregiver therapist physiotherapist pharmacist surgeon paramedic receptionist secretary assistant accountant bookkeeper cashier clerk cleaner janitor caretaker cook chef waiter waitress barista bartender baker butcher hairdresser plumber electrician carpenter builder roofer mechanic welder painter gardener farmer fisherman postman postwoman deliveryman pilot steward stewardess soldier veteran officer policeman policewoman firefighter lawyer solicitor barrister judge priest vicar pastor imam rabbi nun monk actor actress singer musician footballer striker goalkeeper coach librarian nanny babysitter au-pair engineer developer designer architect consultant analyst recruiter auditor salesman saleswoman foreman chairman chairwoman ceo cfo cto coo mayor councillor senator
  patientin mitarbeiter mitarbeiterin kollege kollegin chef chefin frau mann mutter vater sohn tochter bruder schwester kind freund freundin nachbar nachbarin bewerber bewerberin kundin kunde herr pat klient klientin arbeitnehmer arbeitnehmerin schuler schulerin bewohner bewohnerin oma opa mutti papa enkel enkelin tante onkel neffe nichte ehemann ehefrau lebensgefahrtin lebensgefahrte versicherter versicherte versicherten
  dame saugling kleinkind neugeborenes junge madchen zwillinge kleiner kleinen schwager schwagerin schwiegermutter schwiegervater mitbewohner mitbewohnerin mieter mieterin vermieter vermieterin anrufer anruferin antragsteller antragstellerin klager klagerin beklagter beklagte beschuldigter beschuldigte angeklagter angeklagte verdachtiger zeuge zeugin azubi azubine auszubildende auszubildender auszubildenden praktikant praktikantin werkstudent werkstudentin student studentin fahrgast gast besucher besucherin rentner rentnerin witwe witwer lehrer lehrerin erzieher erzieherin arzt arztin krankenschwester pfleger pflegerin sekretarin buchhalter buchhalterin verkaufer verkauferin kellner kellnerin koch kochin fahrer fahrerin hausmeister putzfrau handwerker elektriker ingenieur ingenieurin entwickler entwicklerin anwalt anwaltin richter richterin polizist polizistin soldat soldatin pfarrer pfarrerin trainer trainerin spieler spielerin vorgesetzter vorgesetzte vorgesetzten leiter leiterin teamleiter teamleiterin bauleiter stellvertreter stellvertreterin empfangsdame kassierer kassiererin
  patiente salarie salariee collegue femme mari mere pere fils fille frere soeur enfant ami amie voisin voisine candidat candidate madame monsieur employe employee eleve maman mamie papi papy tante oncle neveu niece epoux epouse conjoint conjointe resident residente assuree
  homme garcon bebe nourrisson fillette petite petit jumeaux jumelles cousine copain copine colocataire locataire proprietaire assure beneficiaire adherent appelant appelante requerant requerante plaignant plaignante prevenu prevenue suspect suspecte victime temoin stagiaire apprenti apprentie alternant alternante retraite retraitee veuf veuve passager passagere client cliente instituteur institutrice professeur prof infirmier infirmiere medecin aide-soignante secretaire comptable vendeur vendeuse serveur serveuse cuisinier cuisiniere boulanger coiffeuse chauffeur livreur gardien gardienne concierge menuisier plombier ouvrier ouvriere ingenieur developpeur developpeuse avocat avocate juge policier gendarme soldat pompier cure joueur joueuse entraineur directeur directrice responsable chef patron patronne adjoint adjointe belle-mere beau-pere belle-soeur beau-frere gamin gamine ado
  paciente empleado empleada companero companera esposa esposo marido madre padre hijo hija hermano hermana amigo amiga vecino vecina senor senora trabajador trabajadora alumno alumna abuelo abuela tio tia nieto nieta sobrino sobrina pcte pte
  mujer hombre varon nino nina bebe chico chica joven gemelos mellizos suegra suegro cunado cunada primo prima novio novia viudo viuda inquilino inquilina asegurado asegurada solicitante denunciante demandante acusado acusada detenido detenida sospechoso testigo victima becario becaria aprendiz jubilado jubilada pasajero pasajera cliente clienta maestro maestra profesor profesora profe enfermero enfermera medico medica secretario secretaria contable cajero cajera camarero camarera cocinero cocinera peluquera chofer conductor conductora repartidor portero limpiadora carpintero fontanero albanil obrero obrera ingeniero ingeniera desarrollador desarrolladora abogado abogada juez policia soldado bombero cura jugador jugadora entrenador jefe jefa director directora encargado encargada muchacho muchacha
  paziente dipendente collega moglie marito madre padre figlio figlia fratello sorella amico amica signora signor lavoratore lavoratrice alunno alunna nonno nonna zio zia nipote mamma suocera suocero compagno compagna assistito assistita
  donna uomo bambino bambina neonato neonata ragazzo ragazza gemelli cognato cognata cugino cugina fidanzato fidanzata vedovo vedova inquilino inquilina coinquilino coinquilina assicurato assicurata richiedente denunciante imputato imputata indagato indagata testimone vittima stagista tirocinante apprendista pensionato pensionata passeggero passeggera cliente maestro maestra insegnante professore professoressa infermiere infermiera medico dottoressa segretaria segretario contabile ragioniere cassiere cassiera cameriere cameriera cuoco cuoca parrucchiera autista corriere portiere bidella idraulico elettricista falegname operaio operaia ingegnere sviluppatore sviluppatrice avvocato avvocata giudice poliziotto carabiniere soldato prete giocatore giocatrice allenatore capo direttore direttrice responsabile titolare babbo bimbo bimba
  utente colega esposa esposo mae pai filho filha irmao irma amigo amiga senhora senhor colaborador colaboradora trabalhador trabalhadora funcionario funcionaria aluno aluna tio tia neto neta namorado namorada
  mulher homem menino menina rapaz rapariga moca bebe crianca gemeos avo sogra sogro cunhado cunhada primo prima sobrinho sobrinha noivo noiva viuvo viuva inquilino inquilina segurado segurada requerente queixoso arguido arguida reu testemunha vitima estagiario estagiaria aprendiz aposentado aposentada reformado reformada passageiro passageira cliente professor professora enfermeiro enfermeira medico medica secretaria contador contadora garcom cozinheiro cozinheira motorista porteiro faxineira pedreiro encanador operario operaria engenheiro engenheira desenvolvedor desenvolvedora advogado advogada juiz policial soldado padre jogador jogadora treinador chefe gerente diretor diretora patrao patroa mamae papai vizinho vizinha
  medewerker medewerkster vrouw man moeder vader zoon dochter broer zus kind vriend vriendin buurman mevrouw meneer patient werknemer werkneemster leerling bewoner bewoonster oma opa tante oom neef nicht dochtertje zoontje partner dhr mevr
  buurvrouw jongen meisje baby peuter kleuter tweeling kleine schoonmoeder schoonvader zwager schoonzus huisgenoot huurder huurster verhuurder verzekerde verzekerden aanvrager eiser verdachte getuige slachtoffer beller stagiair stagiaire leerjongen sollicitant sollicitante gepensioneerde weduwe weduwnaar passagier gast klant leraar lerares juf meester docent docente dokter huisarts verpleger verpleegkundige secretaresse boekhouder kassiere ober kok kapster chauffeur koerier concierge schoonmaker schoonmaakster timmerman loodgieter elektricien ingenieur ontwikkelaar advocaat rechter agent politieagent soldaat brandweerman dominee speler speelster trainer baas leidinggevende directeur directrice teamleider collega collega's mama papa cliente
  pacjent pacjentka pacjenta pacjentki pacjentke pani pan mama tata siostra siostry brat brata syn syna corka corki zona maz meza kolega kolegi kolezanka kolezanki babcia dziadek sasiad sasiadka szef szefowa pracownik pracownica klient klientka lokator uczen uczennica moj moja mojego mojej jego jej kandydat kandydatka kierowca nauczyciel nauczycielka mezczyzna kobieta
  patienten mamma pappa dotter hustru fru make maka sambo mormor farmor morfar farfar syster bror granne kollega chef kille tjej hon honom hennes hans elev hyresgast larare lararinna sjukskoterska kvinna
  annem babam esim kocam karim oglum kizim kardesim ablam abim dedem ninem anneannem babaannem halam teyzem amcam dayim kuzenim komsum komsumuz arkadasim patronum mudurum calisanimiz ogrencim bebegim annesi babasi esi oglu kizi hastamiz
  mr mrs ms dr mme hr`,
);

/** Pronouns and possessives of one person that are no other word in any of these languages: short messages do not tell their language. */
const ANYWHERE = setOf(
  "she he she's he's her his him ich mein meine meinem meinen meiner elle je lui mijn hij zij ella lei mia mio minha meu ela ele notre unser unsere unserem unseren unserer nuestro nuestra nostra nostro nossa nosso onze",
);

/** `a 45-year-old`, `82 ans`, `67-jähriger`, `de 58 años`, `34 y/o`: said of machines and drinks too, which what stands behind tells. */
const AGED =
  /\b\d{1,3}[ -]?(?:years?[ -]olds?|months?[ -]olds?|weeks?[ -]olds?|y\/?o\b|yrs? old|yr[ -]old|jahrig\w*|jahre? alt|j\.|ans\b|anos de edad|anos\b|anni\b|jarige?\b|jaar\b|lat\b|arig\w*|yasinda\w*)(?! (?:laptop|computer|phone|car|van|bike|bridge|house|building|whisk(?:e)?y|wine|rum|tree|company|firm|bug|code|version|device|server|contract|wagen|auto|haus|brucke|whisky|voiture|maison|coche|casa|auto|vino|vin|garantie|garantia|garanzia|contrat\w*|contratto|experience|d'experience|de experiencia|di esperienza|ervaring|berufserfahrung))/;

/** Verbs with which sentences begin whose subject Spanish, Italian, Portuguese, Polish and Turkish need not say. */
const BEGINNING = setOf(
  "fue fui tuvo tiene sufre sufrio padece estuvo estaba cobra cobro gana gano milita vota voto profesa reza ingreso foi tem teve sofre sofreu esteve estava ganha ganho recebe salio votou frequenta guadagna guadagno prende soffre prega frequenta lavora zarabia zarabiam choruje glosuje nalezy tjanar maasim maasi",
);
/** The same, where accents tell them from other words. */
const ACCENTED = setOf("è está é ha");

/** True where the words from one index to the other say that one person is meant; `plain` is what they say, without accents. */
export function isAboutSomebody(
  words: readonly Word[],
  first: number,
  last: number,
  text: string,
  own: ReadonlySet<string>,
): boolean {
  for (let i = first; i <= last; i++) {
    const word = words[i];
    // `i.e.` is no pronoun.
    if (word === undefined || (word.plain === "i" && text.startsWith(".e", word.end))) continue;
    if (own.has(word.plain) || ANYWHERE.has(word.plain) || SOMEBODY.has(unelided(word.plain).replace(/'s$/, ""))) return true;
  }
  const opening = words[first];
  if (opening === undefined || words[last] === undefined) return false;
  if (opening.opens && (BEGINNING.has(opening.plain) || ACCENTED.has(text.slice(opening.start, opening.end).toLowerCase())))
    return true;
  return isDiagnosed(words, first, last, text) || AGED.test(plainOf(text.slice(Math.max(0, opening.start - 8), words[last].end)));
}

/** `Saoirse is`, `Xiulan has`: who is no other word's beginning. */
const IS_OR_HAS = setOf(
  "is was has had got gets isn't wasn't has's hasn't est a etait avait hat ist war hatte es esta tiene tenia e ha era aveva tem tinha heeft was had suffers takes needs souffre prend sufre toma soffre toma gebruikt",
);
/** True where a name that no lexicon has is the subject: a capital within a sentence, and a verb of being or having. Not in German, which writes all its nouns so. */
function isDiagnosed(words: readonly Word[], first: number, last: number, text: string): boolean {
  for (let i = first + 1; i < last; i++) {
    const [word, verb] = [words[i] as Word, words[i + 1] as Word];
    if (!word.capitalised || word.opens || word.code || verb.gap !== " " || !IS_OR_HAS.has(verb.plain)) continue;
    if (/^[\p{L}\p{M}'’-]{2,}$/u.test(text.slice(word.start, word.end)) && !NO_NAME.has(word.plain)) return true;
  }
  return false;
}
/** Capitals of English that are no names of people. */
const NO_NAME = setOf(
  "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december english german french spanish internet covid python java linux windows github kubernetes docker google amazon microsoft apple react excel",
);
