import type { ValuesOf } from "./values.ts";

const words = (text: string): readonly string[] => text.split("|");

/**
 * Values of the held-out part. Names: a sample (fixed seed) of the lists of Python's Faker (MIT), of several countries a language, which the classifier's own
 * lexicon was not made from; nobody chose them.
 */
export const HELD_OUT_VALUES: ValuesOf = {
  en: {
    first: words(
      "Aadhya|Aahil|Aamir|Aamirah|Aayan|Advik|Alexandra|Ali|Alice|Alix|Ana|Anay|Andrew|Angel|Angela|April|Arham|Ariana|Ariel|Arin|Ashleigh|Ashley|Autumn|Awj|Baaqir|Barbara|Benjamin|Beryl|Beth|Bevan|Bhavika|Blessing|Brady|Brett|Brooke|Bruce|Bryan|Carl|Carlos|Caroline|Carolyne|Cassie|Catherine|Cesar|Chaitaly|Charan|Charity|Chatura|Che|Chelangat|Chelsea|Cheyenne|Christie|Christine|Claire|Colum|Comfort|Corey|Cornelius|Daisy|Dan|Danish|Dave|David|Dawn|Dearbhaile|Deborah|Devansh|Devon|Diamond|Diane|Don|Donna|Doris|Douglas|Durab|Eamonn|Ebony|Eileen|Ekaja|Ekantika|Eliud|Ella|Ellen|Elvis|Emma|Emmanuel|Ernest|Esther|Ezekiel|Faith|Finn|Fionnuala|Flora|Forum|Fraser|Fred|Gabriel|Gauri|George|Gerald|Gladys|Gregory|Haley|Hayley|Helen|Henry|Hope|Ibrahim|Idika|Isaiah|Jack|Jackline|Jake|Jalal|Jalil|Jamal|James|Jamie|Jasmine|Jason|Jeffrey|Jenna|Jesse|Jill|Jim|Joanna|Jodi|Jody|John|Jolene|Joseph|Joshua|Joy|Juliet|Jyoti|Kaleb|Kathryn|Keegan|Keith|Kelly|Kenneth|Kerri|Kimberley|Kinuthia|Kipkoech|Kirsty|Kristie|Kristy|Kurt|Laiq|Lauren|Laurie|Leah|Leanne|Leonard|Lewis|Logan|Loretta|Louis|Luis|Mackenzie|Mahad|Mahaz|Mark|Martin|Mary|Mason|Maureen|Maurice|Melody|Mercedes|Michael|Mikayla|Mohammed|Mohini|Molly|Mungai|Munyao|Mutisya|Mwende|Nachiket|Nathaniel|Nichole|Nicolas|Nikita|Nilima|Njogu|Omran|Onyango|Oran|Oscar|Owen|Patience|Paul|Paula|Pauline|Peace|Peadar|Pedro|Penelope|Peter|Phillip|Phyllis|Prisca|Pushti|Qadi|Qushi|Rabecca|Rachel|Rachelle|Rafeek|Rayan|Rebecca|Rehaan|Rhianna|Rick|Ricky|Robin|Robinson|Ronald|Ronith|Roy|Ruth|Sairah|Salim|Sally|Samantha|Samuel|Saood|Sarah|Sebastian|Shaun|Shelley|Sierra|Simon|Steven|Susan|Sylvia|Taaj|Taimur|Talhah|Tara|Teresa|Thomas|Tiegan|Timothy|Tina|Toby|Tommy|Tony|Tracey|Tracie|Tyla|Tyrone|Ubaydullah|Valerie|Vicki|Vickie|Victoria|Vrishti|Waida|Wanyonyi|Wayne|William|Wilson|Yachana|Yathrib|Yawer|Yvonne|Zachary|Zaitra|Zayyir",
    ),
    last: words(
      "Abdirahman|Abiola|Adetokunbo|Adeyemi|Akinwale|Ali|Andrew|Ansboro|Archer|Armstrong|Arroyo|Aurora|Awamil|Awani|Awmar|Ayala|Ayyubi|Bail|Balakrishnan|Balogun|Barman|Barr|Barrera|Bassett|Batta|Baxter|Bell|Bernard|Bhat|Bilaal|Bolton|Boniface|Botham|Boyle|Bradford|Bradley|Brian|Broderick|Browne|Bryant|Buraid|Burns|Byrnes|Campbell|Carrigan|Cartwright|Case|Casserley|Chaudhry|Chaudry|Chavez|Chukwu|Cole|Colon|Cook|Cordova|Cowan|Craig|Cullinane|Cummings|Dalton|Damurah|Darmody|Davis|Dawson|Denis|Devan|Dillon|Dixon|Dominguez|Dowling|Duke|Dunlap|Ekiru|Ekwueme|Ellis|Ellison|Eze|Faizan|Farmer|Fennessey|Field|Fleming|Folan|Fowler|Franklin|Fresh|Fritz|Fry|Gamble|Gates|Ghosh|Giles|Gillespie|Gilmore|Glass|Gonzales|Gore|Greelish|Griffin|Guzman|Hargreaves|Harrihy|Harrison|Hebert|Henery|Herbert|Herrera|Herring|Hess|Higgins|Hill|Holland|Hooper|Hubbard|Huddleston|Huzaifa|Ibrahim|Ihab|Ihsaan|Ireland|Issak|Jaggi|Jahdami|Jain|James|Jeffries|Jenkins|Jensen|Johansen|Johnson|Johnstone|Kade|Karambu|Kasim|Kaysan|Kimutai|King|Kingori|Kituku|Krueger|Kulkarni|Kumer|Lajlaj|Lara|Lee|Lewis|Li|Limo|Lowe|Lunney|Mack|Madan|Madiyan|Magauran|Mahmood|Maiyo|Makau|Man|Manning|Maroof|Martinez|Masika|Mays|Mburu|McDonald|McMullen|Mcintosh|Mckay|Meadows|Meyer|Millard|Minhas|Molyneux|Monroe|Moore|Mosley|Mourib|Muindi|Mullen|Munshi|Munyiva|Mutia|Mwadime|Mwania|Mwenda|Nanjala|Nath|Nixon|Nnamani|Norman|Norry|Norton|Nunne|Obasanjo|Obi|Obuya|Ogunleye|Ojiambo|Ojo|Okafor|Okonkwo|Olawale|Osborne|Oshodi|Owen|Oyekan|Parks|Paul|Pena|Perrin|Pillay|Ponce|Qaasim|Quigney|Rabee|Rai|Raid|Rajagopal|Rajagopalan|Ratti|Raval|Read|Reed|Reynell|Richard|Robson|Rowland|Roy|Saabir|Saafir|Santana|Schmidt|Schwartz|Scott|Searle|Sekhon|Shanny|Sila|Simpson|Sims|Singh|Skeahan|Solis|Swift|Taanish|Talbot|Tali|Tandon|Tapp|Terrell|Thomas|Thompson|Tyrrell|Uche|Valentine|Vaughan|Vaughn|Wachira|Walia|Walls|Wambugu|Wanga|Warner|Welch|Wheeler|Whitaker|Whitehouse|Whittaker|Wiggins|Woods|Yafir|Yaghnam|Zayyir",
    ),
    city: words("Leeds|Denver|Glasgow|Nairobi|Lagos|Perth|Vancouver"),
    org: words("Brightwater Foods Inc|Northgate Logistics plc|Kestrel Analytics Ltd|University of Ohio|First Harbour Bank"),
    illness: words(
      "lupus|Crohn's disease|endometriosis|schizophrenia|hepatitis C|multiple sclerosis|leukaemia|bronchitis|psoriasis|an eating disorder|atrial fibrillation|Parkinson's|kidney failure|gout",
    ),
    drug: words("omeprazole|citalopram|methotrexate|enalapril|levothyroxine|adalimumab|warfarin|quetiapine"),
    address: words(
      "## Thornhill Crescent|### Lakeview Boulevard, Austin, TX 78704|#### N. Willow Ln|Flat #, ## Queen's Road, Bristol BS8 1QU|## Orchard Close|1## Main St",
    ),
    salary: words("$##,400|£##,000|$1##,500|USD ##,000|##,000 pounds"),
    dob: words("2#/0#/197#|1 July 198#|197#-1#-0#|August 2#, 198#|0#.1#.199#"),
  },
  de: {
    first: words(
      "Abdulsemet|Ada|Adam|Adelinde|Adrianna|Agnieszka|Ahat|Akatay|Akçasu|Alara|Aleksander|Alex|Alexis|Ali|Alois|Aloisia|Alpsü|Altınbike|Amir|Andrzej|Angela|Angelika|Anja|Ann-Kathrin|Anna-Maria|Annabell|Annerose|Antonia|Antonie|Antonio|Arkadiusz|Arlind|Astrid|Aurelia|Aycagül|Ayyaruk|Ayçan|Bahtinur|Baki|Balca|Balthasar|Bartek|Başok|Bernadette|Betina|Bidayet|Bluette|Bruno|Burghard|Buyrukhan|Büget|Błażej|Canan|Cansin|Carine|Carl|Carlo|Carlotta|Cezary|Christof|Cindy|Corinna|Cornelius|Coşkun|Cristina|Cyprian|Cécile|Damian|Daniela|Daniele|Danny|Dieter|Dirk|Dylan|Döner|Dündaralp|Edith|Egon|Eliza|Elvira|Emilio|Ercan|Ernest|Ernst-August|Fabian|Fabio|Ferdi|Filip|Filit|Filiz|Florentin|Florian|Florin|Folker|Francesca|Francesco|Françoise|Gabriel|Gabriela|Gabriella|Galina|Ganimete|Gesine|Grzegorz|Gustav|Gökbudun|Gülay|Gülper|Gülten|Günkurt|Güçal|Haliye|Hanedan|Hannchen|Hannelore|Hansueli|Heidelore|Helene|Henny|Hoşkadem|Hubert|Hubertine|Hugo|Ian|Ida|Ignacy|Ilias|Inga|Inês|Irina|Isa|István|Ivana|Jacek|Janik|Janina|Jankat|Jasmina|Jean-Claude|Jenny|Jerzy|Johann|Johanna|John|Jordan|Jovan|Julian|Julianna|Juliette|Justin|Justine|Józef|Kacper|Kaja|Kajetan|Kamil|Karina|Karl-Dieter|Karl-Wilhelm|Kaygusuz|Kezban|Konstantin|Konstanty|Krystian|Kösemen|Kılıçbay|Laetitia|Lars|Laszlo|Laurenz|Lea-Sophie|Leander|Leif|Leyla|Lezize|Lidia|Lina|Lisa-Marie|Liwia|Lola|Lorena|Lotte|Luana|Luitgard|Lydia|Malwina|Mansurali|Marcelina|Marcin|Margot|Marlen|Marlies|Mateo|Maëlle|Mehmetzahir|Melchior|Mert|Michał|Mikołaj|Milena|Mira|Miroslaw|Miroslawa|Miyesser|Miłosz|Mohammad|Mohammed|Mona|Mélissa|Nada|Nasiba|Nela|Nelly|Niklas|Nikodem|Noel|Nora|Noémie|Noël|Olga|Oliwier|Ortak|Ottmar|Otto|Paulina|Pauline|Philip|Przemysław|Radmila|Rafał|Ramadan|Raphael|Reingard|Riza|Robin|Roksana|Ron|Rosa|Rose|Róża|Sabrina|Safet|Sandra|Sandrine|Serda|Sergio|Sevginur|Sigrid|Silvia|Sonia|Stefan|Stephanie|Susan|Sven|Szymon|Sérgio|Söyler|Tamara|Tansev|Tarik|Tezol|Theobald|Thérèse|Timon|Tobiasz|Tomasz|Toni|Trude|Tunahan|Tymon|Tülay|Türkalp|Türkmen|Uluman|Ursula|Utz|Uçan|Valerij|Vera|Verena|Viktoria|Vâlâ|Wenzel|William|Witold|Yamin|Yanis|Yurdanur|Zahid|Zubeyde|Çevregül|İlkbahar|Şabettin|Şeref",
    ),
    last: words(
      "Akar|Akdeniz|Akgündüz|Aksu|Akça|Akçay|Alemdar|Amon|Amrein|Anders|Arslan|Arsoy|Aslan|Baur|Beck|Becker|Benz|Bichler|Biedermann|Biggen|Bilge|Bilgin|Bilir|Binner|Birnbaum|Bloch|Blümel|Bolander|Bolzmann|Buchner|Bühlmann|Christen|Conradi|Demir|Demirel|Dietrich|Dittrich|Doe|Drewes|Dumanlı|Duran|Durdu|Durmuş|Dörr|Dörschner|Eller|Eraslan|Erdoğan|Ergül|Ernst|Ertaş|Fasching|Fechner|Felder|Franke|Freudenberger|Freudenthaler|Frick|Fröschl|Fırat|Gamsjäger|Gasser|Geisler|Gerber|Gerlach|Gierschner|Gollner|Gotthard|Graf|Grüner|Gut|Gül|Gülen|Güçlü|Haas|Hagen|Haiden|Hammer|Hançer|Hartmann|Hauffer|Hayrioğlu|Heidrich|Heinrich|Held|Heller|Hellwig|Henschel|Hermann|Hethur|Hofinger|Holt|Hufnagl|Höfer|Hölzenbecher|Hübner|Imhof|Jenni|Jung|Kade|Kahr|Kaiser|Kambs|Kammerer|Karadeniz|Kessler|Klemm|Kohler|Kolb|Korutürk|Kraus|Kraxner|Kuhl|Kurzmann|Kägi|Köll|Kısakürek|Lerch|Leu|Leunberger|Leutgeb|Lustenberger|Lübs|Lüthi|Macher|Mans|Mansız|Manço|Marte|Martin|Maurer|Mayerhofer|Meier|Merz|Metz|Moser|Mäder|Müller|Nerger|Nette|Neubacher|Oberhofer|Ortner|Petz|Pölzl|Reichmann|Rey|Rieger|Ringhofer|Ritter|Roos|Rosenow|Römer|Rüegg|Sakarya|Schindler|Schlatter|Schlosser|Schmid|Schmidt|Schnabl|Schneider|Schuler|Schulz|Schumacher|Schwarz|Schwarzl|Schweighofer|Schweizer|Schäfer|Schär|Schön|Schöpf|Senn|Seven|Sezer|Sezgin|Sidler|Siegrist|Siering|Soylu|Staub|Steindl|Stern|Stucki|Stumpf|Stutz|Stöckli|Suppan|Sutter|Sölzer|Tarhan|Tevetoğlu|Tintzmann|Tobler|Trommler|Tschentscher|Täsche|Türk|Wagenknecht|Weber|Wegmann|Wehrli|Weibel|Weiß|Wende|Wenzl|Wieloch|Wilms|Winkler|Wirz|Wolf|Wulf|Yaman|Yorulmaz|Yüksel|Yıldırım|Yılmaz|Zengin|Ziegler|Zimmer|Zimmermann|Zorlu|Zürcher|Çamurcuoğlu|Çetin|Çorlu|Öcalan|Ülker|İhsanoğlu|İnönü|Şafak|Şama|Şener|Şensoy",
    ),
    city: words("Leipzig|Bremen|Graz|Basel"),
    org: words("Nordlicht Energie GmbH|Alpenblick Verlag AG"),
    illness: words("Morbus Crohn|Multipler Sklerose|Schizophrenie|Arthrose|Leukämie|Rheuma|Bronchitis"),
    drug: words("Omeprazol|Citalopram|Methotrexat|Enalapril|Bisoprolol"),
    address: words("Kirchgasse #|Schillerstraße ##, 04109 Leipzig|Am Mühlbach ##|Rosenweg ##"),
    salary: words("##.500 Euro|##.000 €|EUR ##.000"),
    dob: words("2#.1#.197#|3. August 198#"),
  },
  fr: {
    first: words(
      "Adam|Adélaïde|Akram|Alexandre|Alexandrie|Alfred|Alix|Amel|Amine|Amira|Anaëlle|Ann|Annette|Antoinette|Arezki|Auguste|Augustin|Aurélie|Aymen|Aïcha|Benoît|Camille|Capucine|Carla|Caroline|Catherine|Chanez|Cherif|Christelle|Claudine|Constantin|Céline|Daisy|Daniel|Danielle|Dario|Denis|Denise|Diane|Dimitri|Dorothée|Dounia|Elias|Eliott|Erika|Farid|Fatma|Ferhat|Feriel|Flavio|Flora|Fodil|Franck|François|François-Xavier|Françoise|Freddy|Frédéric|Frédérique|Gabriel|Gabrielle|Geneviève|Germaine|Ghilas|Gilles|Giuseppe|Grégory|Hamid|Hamza|Hayat|Hugues|Inès|Isaac|Jacques|Jade|Jessy|Jordan|Josée|Julien|Karine|Kathy|Kimberley|Laetitia|Laura|Liam|Lilia|Liliane|Lilou|Lina|Lorraine|Luc|Luigi|Luna|Lydia|Malik|Marcelle|Margaret|Marianne|Marie-Anne|Marie-Françoise|Marthe|Martin|Martine|Marvin|Massinissa|Maurizio|Maëlle|Mehdi|Meriem|Michel|Mina|Mira|Monique|Mounir|Mourad|Mélanie|Nacer|Nadir|Nassim|Nesrine|Nour|Olivie|Olivier|Ouanes|Pauline|Perrine|Pierre|Rabah|Rafaël|Ramzi|Rania|René|Richard|Rim|Robert|Rochdi|Rudy|Saad|Sabine|Said|Salima|Sami|Samir|Samira|Sandy|Sara|Sarah|Selma|Simone|Sofia|Sonia|Sophie|Souad|Soumia|Stéphanie|Sylvie|Taha|Thinhinane|Théodore|Tiago|Tiziano|Tom|Tristan|Téo|Virginie|William|Yahia|Yasmina|Yassine|Younes|Yves|Zineb|Élodie",
    ),
    last: words(
      "Abbassi|Abdelli|Abdi|Abou|Abouda|Achour|Adam|Amari|Amrane|Amrani|Andre|André|Bahloul|Barthelemy|Belaidi|Belarbi|Belkhiri|Bencheikh|Bensalem|Bernard|Boland|Bonneau|Bonnin|Bouali|Bouchareb|Boudiaf|Boudraa|Boukhari|Boumaza|Boumediene|Bourdon|Bouvet|Brahimi|Capelle|Carlier|Chergui|Cheriet|Chibani|Colin|Collard|Collet|Compère|Degueldre|Dejardin|Delmas|Delmotte|Demaret|Denis|Derbal|Devos|Diallo|Docquier|Dupré|Dupuy|Duvivier|Fabre|Faure|Ferreira|Flament|Fournier|Gacem|Gallez|Gallo|Gay|George|Georges|Gerard|Gherbi|Gobert|Goblet|Godfroid|Graindorge|Grenier|Guendouz|Guibert|Guillaume|Guillon|Gustin|Gérard|Hachemi|Halleux|Hamlaoui|Hannecart|Hassani|Hebert|Hernandez|Hoarau|Huberty|Ikhlef|Jacobs|Jadot|Joris|Joubert|Jourdan|Julien|Kadri|Khelifa|Laib|Lamri|Laouar|Laroche|Latreche|Lecomte|Legrain|Lemmens|Lemonnier|Leonard|Leroy|Lombard|Lorent|Louis|Léger|Léonard|Lévy|Madani|Madi|Mahmoudi|Maillard|Marques|Martin|Martineau|Masse|Massin|Mathot|Maury|Mazouzi|Medjahed|Menard|Mendès|Mercier|Merle|Meunier|Meurisse|Meziane|Meziani|Miloudi|Moulin|Müller|Nacer|Naili|Navez|Neveu|Nicolas|Nicolay|Paquay|Pasquier|Peeters|Perez|Perrier|Pierrard|Pirlot|Piérard|Poirier|Rabia|Rahmani|Rahmouni|Raymond|Regnier|Remacle|Remy|Reuter|Richard|Riou|Robert|Robin|Rocher|Rodrigues|Rousset|Saadi|Saidani|Salem|Schneider|Soltani|Tabet|Tahraoui|Tessier|Touati|Tournay|Valentin|Wilmet",
    ),
    city: words("Nantes|Toulouse|Namur"),
    org: words("Boulangerie Lenoir SARL|Assurances du Midi SA"),
    illness: words("la maladie de Crohn|sclérose en plaques|schizophrénie|leucémie|bronchite chronique|psoriasis"),
    drug: words("oméprazole|citalopram|méthotrexate|énalapril"),
    address: words("## boulevard Voltaire, 44000 Nantes|# impasse des Lilas|## allée des Tilleuls"),
    salary: words("## 500 euros|## 000 €"),
    dob: words("2#/1#/197#|3 août 198#"),
  },
  es: {
    first: words(
      "Abigail|Abraham|Adela|Adelia|Adriana|Agostina|Agustin|Agustina|Alberto|Alejandra|Alejo|Alma|Alonso|Alvaro|Amalia|Amancio|Amanda|Amílcar|Antonella|Araceli|Ariadna|Armando|Augusto|Aura|Aurelio|Azahar|Bautista|Benjamin|Berta|Bienvenida|Brunilda|Brígida|Candela|Carmela|Carmen|Carolina|Cecilia|Chema|Dani|Darío|Diana|Elba|Elena|Elsa|Emilia|Emiliano|Emma|Encarna|Enrique|Epifanio|Espartaco|Esperanza|Eugenia|Eugenio|Ezequiel|Facundo|Faustino|Federico|Felipe|Fernando|Fortunato|Francesca|Francisca|Francisco|Gabriel|Galo|Genaro|Geronimo|Gil|Gilberto|Giuliana|Goyo|Graciela|Gregorio|Guillermo|Helena|Heriberto|Humberto|Ignacio|Iker|Ilse|Indira|Isabel|Isabela|Ivan|Ivonne|Jacobo|Jaqueline|Jazmin|Jeremias|Jeronimo|Joaquin|Jordana|Juana|Judith|Julia|Juliana|Leticia|León|Ligia|Lorenza|Lorenzo|Loreto|Lourdes|Luana|Lucas|Luciano|Lucio|Lucía|Luis|Luisina|Luz|Luís|Maia|Manuel|Marcos|Margarita|Marisa|Marisela|Maristela|Mateo|Matilda|Maximo|Mercedes|Mia|Micaela|Milena|Miriam|Modesto|Morena|Máximo|Mónica|Nahuel|Noa|Norma|Octavio|Olivia|Paola|Patricia|Paula|Pedro|Pelayo|Pilar|Porfirio|Pánfilo|Rafa|Ramiro|Ramona|Renata|Rufino|Sandra|Santiago|Sara|Sergio|Seve|Severo|Silvestre|Sonia|Soraya|Tomas|Uma|Valentin|Valeria|Verónica|Violeta|Virginia|Viviana|Wilfredo|Wilfrido|Ámbar|Ángel",
    ),
    last: words(
      "Aguado|Aguirre|Alarcón|Almonte|Alva|Anaya|Angulo|Arce|Arias|Avila|Ayala|Balderas|Barbero|Barragán|Barrientos|Barrios|Belda|Benavente|Benitez|Bermúdez|Bravo|Bustos|Caballero|Cabrera|Cadena|Calvillo|Canales|Cardona|Carrizo|Cases|Castillo|Castro|Chacón|Corona|Coronel|Cortés|Cuadrado|Cáceres|Córdoba|Córdova|Diaz|Dominguez|Duarte|Dávila|Escobar|Espinosa|Esquibel|Esquivel|Farias|Ferreras|Ferreyra|Figueroa|Gamez|Garcia|García|Garza|Gascón|Gilabert|Gollum|Gomez|Gonzalez|Guajardo|Guillen|Gutierrez|Guzmán|Hernandez|Herrera|Herrero|Huerta|Jerez|Jimínez|Leyva|Lopez|Lucero|Luna|López|Maidana|Maldonado|Marin|Mariscal|Marquez|Marroquín|Mata|Mateo|Maya|Medina|Medrano|Mendez|Mendoza|Menéndez|Miranda|Mojica|Molina|Mora|Morales|Moya|Moyano|Muñoz|Méndez|Mínguez|Navarrete|Nuñez|Ojeda|Olivé|Ordóñez|Ortiz|Ortuño|Palacios|Palomino|Pardo|Pascual|Perales|Perea|Pereyra|Perez|Piñeiro|Pla|Plaza|Ponce|Puente|Puig|Quintanilla|Quintero|Quiroga|Ramirez|Ramos|Razo|Rentería|Rios|Rivero|Rocha|Rodríquez|Rojas|Roldan|Romero|Rosselló|Rovira|Rubio|Saavedra|Saldaña|Sanches|Sandoval|Santacruz|Sevillano|Silva|Soler|Solera|Solorio|Solorzano|Solís|Soria|Sosa|Soto|Tamayo|Tamez|Tapia|Tejada|Tenorio|Toledo|Torrent|Torres|Torrijos|Tovar|Téllez|Tórrez|Ureña|Uriarte|Urrutia|Valdivia|Vargas|Vazquez|Verdugo|Verduzco|Zaragoza",
    ),
    city: words("Valencia|Bilbao|Lima"),
    org: words("Panadería Luna S.L.|Seguros del Sur S.A."),
    illness: words("esclerosis múltiple|esquizofrenia|leucemia|artritis|bronquitis"),
    drug: words("omeprazol|citalopram|metotrexato|enalapril"),
    address: words("calle del Prado ##, 46001 Valencia|paseo de Gracia ##|avenida Libertad #"),
    salary: words("##.500 euros|##.000 €"),
    dob: words("2#/1#/197#|3 de agosto de 198#"),
  },
  it: {
    first: words(
      "Adelasia|Adele|Alberico|Amanda|Amedeo|Amleto|Angelina|Angelo|Atenulf|Azeglio|Camilla|Camillo|Cesare|Corrado|Dolores|Donatella|Edoardo|Eliana|Emma|Ettore|Fabrizia|Federica|Fulvio|Galasso|Germana|Giacomo|Giampiero|Gianmarco|Gianni|Gianpietro|Gino|Gioffre|Isa|Laureano|Leonardo|Letizia|Liana|Liliana|Livia|Lodovico|Loretta|Luciana|Lucrezia|Maria|Mariano|Martino|Matilda|Milena|Milo|Napoleone|Ornella|Ranieri|Renata|Rosa|Ruggero|Sebastiano|Susanna|Vanessa|Venancio|Vincenzo",
    ),
    last: words(
      "Abba|Agostini|Argenti|Balbo|Barbarigo|Bassi|Bellini|Bettoni|Boccioni|Boezio|Boiardo|Bonanno|Cappelli|Carnera|Carriera|Casalodi|Cilibrasi|Cimini|Comeriato|Contrafatto|Draghi|Faranda|Ferrari|Fioravanti|Florio|Garibaldi|Gasperi|Giannelli|Gilardoni|Golgi|Impastato|Littizzetto|Lopresti|Majewski|Marini|Mezzetta|Montanariello|Murri|Muti|Niscoromni|Ottino|Ovadia|Panicucci|Pedrazzini|Pugliese|Raimondi|Ritacca|Salvemini|Satriani|Sgarbi|Stefanelli|Tagliafierro|Torlonia|Torricelli|Toso|Totino|Venditti|Verri|Visconti|Zoppetti",
    ),
    city: words("Bologna|Palermo|Lugano"),
    org: words("Forno Lieto S.r.l.|Assicurazioni Sud S.p.A."),
    illness: words("sclerosi multipla|schizofrenia|leucemia|artrite|bronchite"),
    drug: words("omeprazolo|citalopram|metotrexato|enalapril"),
    address: words("via Mazzini ##, 40121 Bologna|corso Vittorio Emanuele ##|piazza San Marco #"),
    salary: words("##.500 euro|##.000 €"),
    dob: words("2#/1#/197#|3 agosto 198#"),
  },
  pt: {
    first: words(
      "Adriana|Agatha|Alexandre|Alice|Andreia|Antonella|Antony|Apollo|Arthur|Artur|Aurora|Ayla|Benjamim|Benjamin|Bento|Bianca|Breno|Bárbara|Camila|Catarina|Clara|Cristiano|César|Daniel|Daniela|Denis|Diego|Diogo|Duarte|Emanuel|Emília|Erika|Eva|Fabiana|Francisco|Gabriela|Gabrielly|Gaspar|Guilherme|Hadassa|Heitor|Heloisa|Henrique|Igor|Isabela|Isabelly|Isis|Ismael|Ivo|Joana|Joel|Jéssica|Júlia|Kévim|Laura|Laís|Leandro|Leonardo|Leonor|Levi|Lourenço|Luana|Luara|Luna|Luís|Luísa|Manuel|Manuela|Marcela|Marcelo|Matias|Matteo|Mauro|Maya|Melina|Melissa|Micael|Milena|Mirella|Murilo|Márcio|Mário|Nathan|Nina|Nuno|Paulo|Pedro|Rafael|Raul|Renan|Renata|Rhavi|Ricardo|Rodrigo|Rui|Sabrina|Salomé|Salvador|Samuel|Sarah|Sebastião|Soraia|Thales|Thomas|Théo|Tomás|Valentina|Vicente|Vitória|Yago|Álvaro|Ângelo",
    ),
    last: words(
      "Abreu|Albuquerque|Almeida|Alves|Amaral|Antunes|Aparecida|Aragão|Assunção|Azevedo|Baptista|Barbosa|Batista|Borges|Branco|Brito|Caldeira|Camargo|Campos|Cardoso|Carneiro|Carvalho|Cassiano|Castro|Cavalcante|Cirino|Correia|Costa|Cruz|Cunha|Câmara|Duarte|Faria|Farias|Fernandes|Ferreira|Fogaça|Fonseca|Freitas|Garcia|Gaspar|Gomes|Gonçalves|Henriques|Jesus|Leal|Leite|Lima|Lopes|Loureiro|Macedo|Machado|Magalhães|Martins|Matias|Melo|Mendes|Monteiro|Moreira|Mota|Moura|Nascimento|Neto|Novaes|Novais|Oliveira|Paiva|Pastor|Peixoto|Pereira|Pimenta|Pinheiro|Pinto|Pires|Porto|Ramos|Reis|Ribeiro|Rocha|Rodrigues|Sales|Sampaio|Santos|Silva|Silveira|Siqueira|Soares|Souza|Sá|Tavares|Teixeira|Valente|Vargas|Vasconcelos|Viana|Vicente|Vieira",
    ),
    city: words("Coimbra|Braga|Recife"),
    org: words("Padaria Lua Lda|Seguros do Norte S.A."),
    illness: words("esclerose múltipla|esquizofrenia|leucemia|artrite|bronquite"),
    drug: words("omeprazol|citalopram|metotrexato|enalapril"),
    address: words("rua das Flores ##|avenida Brasil ##|praça da República #"),
    salary: words("##.500 euros|R$ #.#00"),
    dob: words("2#/1#/197#|3 de agosto de 198#"),
  },
  nl: {
    first: words(
      "Alexia|Alicia|Aline|Amir|Annabel|Anne-Marie|Armand|Bente|Berend|Betty|Bianca|Bruno|Cato|Charlotte|Claudia|Cédric|Dean|Deborah|Dewi|Diane|Ecrin|Eliane|Ella|Emilie|Emily|Emmanuel|Etienne|Evie|Faas|Felix|Femke|Finn|Fleur|Freddy|Frederik|Freya|Féline|Geoffrey|Gianni|Gina|Guido|Hanna|Hassan|Helena|Ian|Ibrahim|Indy|Ine|Iris|Irène|Ivy|Jayden|Jaylinn|Jean|Jennifer|Jente|Jesse|Jessy|Joshua|Josée|Juul|Kathy|Kian|Kick|Kyano|Kyara|Lieke|Lily|Linn|Lola|Lorenzo|Louise|Maaike|Mara|Mathijs|Maxim|Melanie|Mia|Michael|Micheline|Mika|Mila|Milan|Mona|Nadine|Natasja|Nick|Niels|Noah|Nora|Nout|Noël|Noëlle|Owen|Puck|René|Renée|Ria|Rik|Riley|Roos|Rune|Ryan|Sami|Samuel|Sarah|Sigrid|Suzy|Sven|Thijmen|Tim|Tyler|Vigo|Xavi|Yara|Yassin|Yassine|Younes|Zoë",
    ),
    last: words(
      "Adryaens|Aertsz|Arnold|Baetens|Beckers|Beernaert|Bertels|Bervoets|Bolkesteijn|Boon|Bosmans|Breugelmans|Broekhoven|Callewaert|Christiaens|Claessens|Coppens|Cuypers|Daems|Deceuninck|Deckers|Degroote|Degryse|Dejonghe|Deleu|Deman|Devolder|Devos|Doorhof|Dubois|Elsemulder|Emmen|Estey|Feenstra|Geerts|Geertsen|Genefaas|Gerritse|Gerritsen|Goudriaan|Helsen|Hendricks|Hendrickx|Holthuis|Hondeveld|Huijben|Huisman|Huysmans|Janssen|Janssens|Jeggij|Jochems|Jorlink|Kaur|Kisman|Kleijse|Kolen|Kolster|Lambregt|Lammens|Lenaerts|Lijn|Lippens|Luboch|Luyten|Mangel|Marien|Meis|Melis|Merkx|Michielsen|Moensendijk|Naessens|Neven|Nijman|Olykan|Ooms|Oosterhek|Ouwel|Pattyn|Perkins|Persijn|Praet|Pratt|Roels|Room|Roukes|Saelens|Samyn|Sanders|Sas|Scheer|Schrant|Serra|Simoens|Smet|Standaert|Stas|Sterckx|Stroobants|Stuivenberg|Temmerman|Timmerman|Timmermans|Torfs|Tuithof|Uittenbosch|Vandenberghe|Vercammen|Vleugels|Vos|Walter|Westerburg|Willems|Wilmont|Woutersz|Yildirim|Zijlemans|Zwijsen",
    ),
    city: words("Eindhoven|Groningen|Antwerpen"),
    org: words("Bakkerij Maan B.V.|Zuidverzekering N.V."),
    illness: words("multiple sclerose|schizofrenie|leukemie|artritis|bronchitis|de ziekte van Crohn"),
    drug: words("omeprazol|citalopram|methotrexaat|enalapril"),
    address: words("Kerkstraat ##|Prinsengracht ###, 1016 HT Amsterdam|Beukenlaan #"),
    salary: words("##.500 euro|€ ##.000"),
    dob: words("2#-1#-197#|3 augustus 198#"),
  },
};
