import type { Phrase } from "../phrases.ts";
import { oneOf, says } from "./says.ts";

/** What people do for a party. */
const ACTS = oneOf(
  `votes?|voted|voting|voter|members?|membership|campaign\\w*|canvass\\w*|leaflet\\w*|leafleting|knock\\w*|donat\\w+|supporter|supports|supporting|backs|backed|joined|councillor|stood|standing|ran|running|activist|card-carrying|candidate|rally|rallies|volunteer\\w*|elected|staunch|lifelong|registered|fundrais\\w+|phonebank\\w*|door-knocking|sticker|badge|sympathi[sz]\\w+
  |wahlt|wahle|gewahlt|wahler|wahlerin|mitglied|mitgliedschaft|kandidiert\\w*|kandidat\\w*|parteibuch|wahlkampf\\w*|plakat\\w*|anhanger\\w*|eingetreten|ausgetreten|sympathisiert|spendet|aktiv|engagiert|ortsverein\\w*|stadtrat\\w*|infostand|ortsverband\\w*|kreisverband\\w*
  |vote|votent|votait|adherente?|adhere|encartee?|milite|militait|militante?|sympathisante?|affiches|tracts|tracte|soutient|candidate?|elue?|section|carte
  |vota|voto|votaba|votar|milita|militante|afiliad[oa]|simpatizante|simpatiza|carne|concejal\\w*|candidat[oa]
  |votato|votare|iscritt[oa]|tesserat[oa]|tessera|simpatizzante|candidat[oa]|attivista|consigliere|sezione
  |votou|filiad[oa]|filiou|simpatizante|apoia|apoiante|eleitora?
  |stemt|stem|stemde|gestemd|lid|actief|folder\\w*|flyer\\w*|kandidaat|aanhanger|raadslid|kiest
  |glosuje|glosowal|glosowala|czlonek|czlonkini|czlonkiem|kandyduje|popiera|dzialacz\\w*|wyborca
  |rostar|rostade|rostat|medlem|kandiderar|valarbetare
  |oy|uye|uyesi|destekliyor|destekcisi`,
);
const ACTING = new RegExp(`\\b${ACTS}\\b`);
const FOR_PARTY = new RegExp(
  `\\b${ACTS}(?: \\w+)?(?: (?:for|of|with|at|by|as an?|fur|bei|in|im|pour|aux?|au|chez|a|por|en|per|il|la|lo|al|pelo|pela|no|na|do|da|op|van|voor|bij|na|i|pa|tot))?(?: (?:the|die|der|den|das|dem|le|la|les|el|los|il|o|os|de|het))? $`,
);
/** Political opinions: parties by country, and what people do for them. */
export const PARTIES: readonly Phrase[] = [
  says(
    "POLITICAL_OPINION",
    "party by its name",
    `tory tories lib-dem lib-dems ukip snp dup sdlp gop maga ndp bjp dsa cdu csu spd afd fdp bsw npd bundnis fpo ovp spo neos svp lfi eelv pcf lrem psoe podemos bildu pnv junts m5s cgtp pcp psol psdb groenlinks pvda vvd pvv cda n-va
    socialdemokraterna moderaterna sverigedemokraterna vansterpartiet miljopartiet centerpartiet kristdemokraterna socialdemokrat konfederacja konfederacje lewice akp chp mhp hdp likud trump trump's biden obama bolsonaro lula corbyn farage
    republicans democrats libertarians greenpeace_party linkspartei grunen grune linke linken insoumise insoumis frontiste chavista peronista peronist macroniste lepeniste leghista grillino grillina berlusconiano petista bolsonarista`,
    { with: ACTING, unless: /\b(?:trump card|trumps|according to|said|says|president (?:trump|biden|obama|lula))\b/ },
  ),
  says(
    "POLITICAL_OPINION",
    "party by its name",
    "labour conservative conservatives republican democrat democratic green greens liberal liberals reform socialist socialists communist communists libertarian national vox sumar chega lega razem volt sp psd erc anc eff renaissance republicains lib socialistes verts ecologistas verdi groen nsc bbb linke moderata lewica pis liberalerna eff livre konservative liberale",
    {
      before: FOR_PARTY,
      capital: true,
      unless: /\b(?:green (?:energy|card|light|tea)|unskilled|child labou?r|hard labou?r)\b/,
    },
  ),
  says(
    "POLITICAL_OPINION",
    "party by its name",
    "democrats democrat dems gael fail cymru fein national italia cinquestelle stelle belang sprawiedliwosc obywatelska parti nation party partei parti partito partido partij",
    {
      before:
        /\b(?:liberal|lib|social|fine|fianna|plaid|sinn|rassemblement|front|forza|fratelli d'italia|fratelli d|italia|movimento cinque|vlaams|prawo i|platforma|platforme|iyi|one|labou?r|green|reform uk|reform|republican|democratic|communist|socialist|conservative|forza|viva|democrat party|workers|pirate|brexit) $/,
      with: ACTING,
    },
  ),
  says("POLITICAL_OPINION", "party by its name", "d'italia linke linken uk socialiste insoumise democratico esquerda izquierda", {
    before: /\b(?:fratelli|die|der|den|reform|parti|france|partito|bloco de|izquierda|la france) $/,
    with: ACTING,
  }),
  says(
    "POLITICAL_OPINION",
    "conviction",
    `far-right far-left right-winger left-winger leftie lefty leftist rightist alt-right neo-nazi marxist anarchist trotskyist maoist monarchist brexiteer remainer
    rechtsextrem rechtsextremist rechtsradikal linksradikal linksextrem reichsburger reichsburgerin querdenker querdenkerin kommunist kommunistin sozialist sozialistin sozialdemokrat sozialdemokratin anarchist anarchistin antifa
    gauchiste droitiste frontiste communiste anarchiste royaliste facho izquierdista derechista comunista anarquista independentista franquista sinistrorso comunista fascista anarchico esquerdista direitista
    extreemrechts extreemlinks rechts-extremist communist anarchist lewicowiec prawicowiec komunista vansterextremist hogerextremist solcu sagci ulkucu`,
    { unless: /\b(?:fascista? (?:era|period)|regime|history|geschichte|histoire|museum|column|lane|corner|side)\b/ },
  ),
  says(
    "POLITICAL_OPINION",
    "conviction",
    "left right left-wing right-wing conservative liberal progressive socialist leaning links rechts konservativ liberal eingestellt gesinnt",
    {
      before:
        /\b(?:politically|leans|leaning|votes|votes for the|far|is very|political|on the far|on the political|politisch|politisch eher|politisch eher nach|eher|stark|hard) $/,
      with: /\b(?:politic\w*|leans (?:left|right|conservative|liberal)|votes (?:left|right|conservative|liberal)|far (?:left|right)|politisch|hard (?:left|right)|(?:links|rechts|konservativ|liberal) (?:eingestellt|gesinnt))\b/,
      unless: /\b(?:far (?:left|right) (?:column|corner|side|of the|button)|margin|padding|column)\b/,
    },
  ),
  says(
    "POLITICAL_OPINION",
    "conviction",
    "gauche droite izquierdas derechas izquierda derecha sinistra destra esquerda direita",
    {
      before: /\b(?:de|d'extreme|d extreme|extreme|extrema|di estrema|di|estrema|es de|tres a|a) $/,
      with: /\b(?:politi\w+|vot\w+|milit\w+|idee\w*|ideas|opinions?|extrem[ea]|estrema|(?:est|es|e|sont|tres|muy|molto|muito|soy|sono|sou|suis) (?:plutot |mas |piu )?d[ei] (?:gauche|droite|izquierdas?|derechas?|sinistra|destra|esquerda|direita))\b/,
      unless:
        /\b(?:a (?:droite|gauche|derecha|izquierda|destra|sinistra|direita|esquerda) d[eiu]|porte|tournez|main|mano|mao|lado|coin|bras|jambe|genou|oeil|epaule|pied)\b/,
    },
  ),
  says(
    "POLITICAL_OPINION",
    "conviction",
    "views opinions affiliation activist activism beliefs opinion ansichten gesinnung opinions ideas idee",
    {
      before: /\b(?:political|politische|politischen|opinions politiques|ideas politicas|idee politiche) $/,
    },
  ),
  says("POLITICAL_OPINION", "demonstration", "march demo protest rally demonstration sit-in vigil", {
    before:
      /\b(?:climate|palestine|pro-\w+|anti-\w+|gaza|blm|lives matter|pride|antifa|pegida|trump|brexit|abortion|peace|antiwar|ukraine|tierschutz|farmers'?|yellow vest) $/,
  }),
];
