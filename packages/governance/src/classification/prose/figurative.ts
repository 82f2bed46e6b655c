const anyOf = (text: string): string => `(?:${text.trim().replace(/\s+/g, "|")})`;

// Words of illness that speak of none: `allergic to homework`, `World Cup fever`, `my laptop has a virus`. By what stands before and behind them, in seven languages.

/** What nobody is allergic to in earnest. */
const DISLIKED = anyOf(
  `homework work working mondays mornings weekends meetings deadlines change changes rules authority exercise sport effort commitment criticism bullshit nonsense drama noise queues small-talk excel powerpoint spreadsheets emails paperwork bureaucracy maths math
  arbeit hausaufgaben montage meetings besprechungen kritik veranderungen burokratie unpunktlichkeit ungerechtigkeit
  travail devoirs reunions lundis critique injustice betise bureaucratie
  trabajo trabajar madrugar deberes lunes reuniones criticas burocracia
  lavoro lavorare compiti lunedi riunioni critiche burocrazia
  trabalho trabalhar segundas reunioes criticas burocracia
  werk werken huiswerk maandagen vergaderen vergaderingen kritiek bureaucratie`,
);
/** What people say that they are addicted to. */
const LIKED = anyOf(
  `netflix tiktok instagram youtube facebook twitter reddit chocolate coffee tea cake sugar shopping football work running sudoku chess lego podcasts series games wordle minecraft
  schokolade kaffee serien arbeit chocolat cafe series travail chocolate cafe trabajo cioccolato caffe serie lavoro chocolate novelas trabalho chocola koffie werk`,
);
const ARTICLES = "(?:(?:the|her|his|my|our|this|that|die|das|der|le|la|les|el|los|las|il|lo|i|gli|o|os|as|de|het|l')\\s?)?";
const BEHIND = new RegExp(
  `^(?:allerg\\w+|alergic[oa]) (?:to|gegen|auf|voor|aux?|a la|a l'|al?|ai|alle|alla|ao|aos|as) ?${ARTICLES}${DISLIKED}\\b|^(?:addicted|addict|suchtig|accro|adict[oa]|dipendente|viciad[oa]|verslaafd) (?:to|nach|aux?|a|al?|da|em|aan) ?${ARTICLES}${LIKED}\\b`,
);

/** Things that have and suffer what people do. */
const THING = anyOf(
  `laptop computer pc mac server servers code program app application website site router printer phone tablet battery engine car market markets economy software database script build pipeline cluster network system project design browser keyboard plant plants industry sector
  rechner drucker handy batterie motor auto wagen programm markt wirtschaft netzwerk ordinateur telephone serveur voiture moteur marche economie logiciel ordenador portatil servidor coche movil mercado economia programa red telefono macchina mercato programma rete computador celular carro telemovel telefoon markt economie netwerk`,
);
const STATE =
  "(?:suffers?|has|have|had|is|are|was|were|caught|gets?|gives?|gave|hat|ist|leidet|bekommt|a|est|souffre|tiene|esta|sufre|ha|e|soffre|tem|sofre|heeft|lijdt)";
const OF_THING = new RegExp(`\\b${THING} ${STATE} (?:[\\p{L}']+ ){0,4}$`, "u");
/** What costs nerves, before a word for an ache of the head or the heart. */
const NERVES =
  /\b(?:nearly|almost|practically|about to|going to) (?:had|have|having|got|get|gave|give|gives) (?:\w+ ){0,2}$|\b(?:project|design|bug|bill|invoice|report|meeting|price|prices|traffic|paperwork|boss|client|spreadsheet|deadline|release|migration|math|maths|homework) (?:\w+ )?(?:gives?|gave|giving|causes|causing) (?:\w+ ){0,3}$|\b(?:it's|it is|that's|this is|it was|such|what|real|total|huge|major|absolute|logistical|administrative) an? (?:\w+ )?$/;
const NERVOUS = /^(?:headaches?|migraine|heart attack|stroke|panic attack|nightmare)\b/;
const EXCITED = new RegExp(
  `\\b${anyOf("cup election cabin gold spring disco dance football bitcoin crypto christmas holiday bike festival olympic")} $`,
);

/** True for a word of illness that is only said so; `before` and `from` are its sentence up to it and from it on, without accents, in lower case. */
export function isFigurative(before: string, from: string): boolean {
  return (
    BEHIND.test(from) ||
    OF_THING.test(before) ||
    (NERVOUS.test(from) && NERVES.test(before)) ||
    (/^fever\b/.test(from) && EXCITED.test(before))
  );
}
