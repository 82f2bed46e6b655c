/**
 * Names of columns, fields and keys, with what they hold. Written by hand, from schemas as people write them: no file was copied. Names of one row stand apart by commas; `table:name` is a column of
 * that table; entities that are alternatives stand apart by `|`; none means that the name holds nothing of its own about a person.
 */
export type LabelledNames = readonly (readonly [entities: string, names: string])[];

/** Written before the rules for glued words, scripts and heads, and never looked at since: only its figures are printed. */
export const UNSEEN_NAMES: LabelledNames = [
  // Credentials.
  [
    "PASSWORD",
    "loginpassword, USERPASS, usrpwd, PassWordEncrypted, accountpasswd, oldpassword, pwdsalt, admin_passwd_plain, user_pwd_md5",
  ],
  [
    "PASSWORD",
    "WIFIPASSWORD, dbpassword, smtp_password, passphrase_enc, tempPassword, initialpassword, passwordhint, password_crypt",
  ],
  [
    "API_KEY|PASSWORD|PRIVATE_KEY",
    "clientsecret, APISECRET, mfasecret, totp_seed, webhook_secret, refreshtoken, accesstokenenc, signing_key_private",
  ],
  [
    "API_KEY|PASSWORD|PRIVATE_KEY",
    "reset_token, sessiontoken, app_secret_key, aws_secret_access_key, privkey, backup_codes, recoverycode, device_token",
  ],
  [
    "PASSWORD",
    "benutzerkennwort, kundenpasswort, motdepasse, contrasenya_usuario, senha_usuario, wachtwoord_hash, haslo, sifre, пароль_пользователя",
  ],
  ["PASSWORD", "密码, 用户密码, ログインパスワード, 비밀번호_해시, كلمة_المرور, पासवर्ड, lösenord, salasana"],
  ["PASSWORD|API_KEY", "cards:pin, cardpin, atm_pin, user_pin_hash"],
  // Money.
  [
    "CREDIT_CARD",
    "creditcardnumber, CCNUMBER, ccno, cardnbr, payment_card_no, CREDITCARD, kreditkartennr, numero_tarjeta, 信用卡号, クレジットカード番号, cvvcode, cardcvc",
  ],
  ["CREDIT_CARD", "numéro_carte_bancaire, номер_карты, 신용카드번호, cartao_credito"],
  ["IBAN_CODE", "ibannumber, CUSTIBAN, iban_no, kunden_iban, supplieriban"],
  [
    "BANK_ACCOUNT",
    "bankaccount, BANKACCTNO, acctnum, bankaccountnumber, accountno, kontonr, numero_compte, cuenta_bancaria, 银行账号, 口座番号, 계좌번호, номер_счета, bank_acc_number, sortcode",
  ],
  [
    "SALARY",
    "annualsalary, EMPSALARY, basesal, basesalary2023, monthlywage, hourlywage, grossincome, netpay, bonusamt, yearly_comp, salaryamount",
  ],
  [
    "SALARY",
    "grundgehalt, bruttogehalt, jahresgehalt, salaire_brut, sueldo_base, stipendio_annuo, salario_mensal, salaris, zarplata, wynagrodzenie, maas",
  ],
  ["SALARY", "薪水, 基本工资, 給料, 월급, 연봉, оклад, راتب, वेतन, 薪资"],
  // Identifiers of a state.
  [
    "US_SSN",
    "custssnno, SSNENC, empssn, ssnhash, last4ssn, socialsecuritynumber, social_sec_no, patient_ssn_last_4, soc_sec_nbr",
  ],
  [
    "TAX_ID|NATIONAL_ID|US_ITIN",
    "taxid, TAXPAYERID, steuerid, steuernr, codicefiscale, cpf_cliente, cnpj_cpf, numero_nif, инн, tin_number, vatregno, 税号",
  ],
  [
    "NATIONAL_ID|TAX_ID",
    "nationalid, NATIONALIDNO, aadhaarno, aadhar_card, nationalinsuranceno, idcardno, personalausweisnr, dni_cliente, numero_cedula, bsn_nummer, pesel_nr, tckimlikno, personnr, henkilotunnus, sozialversicherungsnr, nir_assure, curp_empleado",
  ],
  [
    "NATIONAL_ID|TAX_ID",
    "身份证号码, 身分證字號, マイナンバー, 주민번호, снилс, राष्ट्रीय_पहचान, رقم_الهوية, आधार_संख्या, shenfenzheng",
  ],
  [
    "PASSPORT_NUMBER",
    "passportno, PASSPORTNUM, passport_nbr, ppt_no, reisepassnr, num_passeport, pasaporte_num, паспорт_номер, 护照号, 旅券番号, 여권번호, رقم_جواز_السفر",
  ],
  [
    "DRIVER_LICENSE",
    "driverslicense, DRIVERLICENSENO, driverlicnum, dl_number, fuehrerscheinnr, permisconduire, 驾照号码, 운전면허번호, 運転免許証番号",
  ],
  // Health and what else is special.
  [
    "HEALTH_DATA",
    "diagnosiscode, primarydx, ICDCODE, icd10code, medicationname, rxname, allergylist, bloodtype, bloodpressure, chiefcomplaint, medical_notes",
  ],
  [
    "HEALTH_DATA",
    "hivstatus, is_pregnant, pregnancyflag, disability_status, covid_test_result, vaccination_date, mental_health_flag, smoker_flag, bmi, insulin_dose, hba1c, has_diabetes",
  ],
  [
    "HEALTH_DATA",
    "diagnose_text, krankheitsbild, antecedentes_medicos, groupe_sanguin, gruppo_sanguigno, alergias, medicamento, диагноз, группа_крови, 诊断, 病史, 診断名, 血液型, 진단명, تشخيص, निदान",
  ],
  ["HEALTH_DATA", "patients:condition, patients:treatment, admissions:procedure_code, patient:findings"],
  [
    "PATIENT_ID|US_MBI|UK_NHS|DE_HEALTH_INSURANCE",
    "medrecnum, MRN, patientid, healthcardno, nhsnumber, krankenversicherungsnummer, medicareno, patient_no, insurancememberid",
  ],
  [
    "RELIGION",
    "religioncode, has_religion, religionszugehoerigkeit, religione, konfession, вероисповедание, 宗教, 종교, دين, church_member_flag",
  ],
  [
    "ETHNICITY",
    "ethnicgroup, ethnicitycd, race_ethnicity, applicants:race, patient:race_code, 民族, национальность_этнос, herkunft_ethnisch",
  ],
  ["SEXUAL_ORIENTATION", "sexualorientation, sexual_orient_cd, users:orientation, 性取向, orientamento_sessuale"],
  ["UNION_MEMBERSHIP", "unionmember, union_member_flag, tradeunion, employees:union_code, gewerkschaft, syndicat"],
  [
    "POLITICAL_OPINION",
    "politicalparty, voters:party, political_affil, voter_party_affiliation, partido_politico, parteizugehoerigkeit",
  ],
  [
    "BIOMETRIC_DATA|GENETIC_DATA",
    "fingerprintdata, faceembedding, irisscan, voice_print, biometric_hash, dnasequence, genotype_call, fingerabdruck, 指纹, отпечаток_пальца",
  ],
  [
    "CRIMINAL_RECORD",
    "criminalrecord, has_criminal_record, conviction_count, arrest_history, felony_flag, casier_judiciaire, vorstrafen, antecedentes_penales",
  ],
  // How to reach a person.
  [
    "EMAIL_ADDRESS",
    "useremail, EMAILADDR, customeremailaddress, emailid, workemail, contactmail, mailaddr, primaryemail2, kontaktmail, correoelectronico, adresse_mel, 电子邮件, メールアドレス, 이메일, электронная_почта, البريد_الإلكتروني, ईमेल, email_hash",
  ],
  [
    "PHONE_NUMBER",
    "phonenum, HOMEPHONE, mobilenumber, cellno, custphone, telno, workphoneext, faxno, mobil_nr, numero_cellulare, telefonszam, puhelinnumero, 手机号, 電話番号, 전화번호, номер_телефона, رقم_الهاتف, फ़ोन, dianhua, whatsapp_no",
  ],
  [
    "STREET_ADDRESS",
    "homeaddress, HOMEADDR, shipaddr1, billingaddress, mailingaddr, streetaddr, addressline1, residentialaddress, wohnadresse, anschrift, direccion_casa, rua_endereco, woonadres, 家庭住址, 住所, 주소, адрес_проживания, عنوان_المنزل, पता, dizhi",
  ],
  ["IP_ADDRESS", "clientip, IPADDRESS, remoteip, srcip, last_login_ip, ip_addr_v6"],
  ["MAC_ADDRESS", "macaddress, MACADDR, device_mac_address"],
  ["GEO_LOCATION", "gpslat, homelatitude, geolat, longitude_deg, gps_coordinates"],
  ["USERNAME", "loginname, USERNAME, loginid, user_login_name, benutzername, nom_utilisateur, 用户名, имя_пользователя"],
  // Who a person is.
  [
    "PERSON",
    "firstname, LASTNAME, custname, empname, fullname, patientname, middlename, surnm, givenname, contactname, nachname, vorname, nom_famille, apellidos, cognome_nome, achternaam, imie, nazwisko",
  ],
  [
    "PERSON",
    "姓名, 氏名, 이름, 성명, фамилия, отчество, имя, الاسم_الكامل, नाम, customers:name, people:nm, mothersmaidenname, emergency_contact_name, spousename",
  ],
  [
    "DATE_OF_BIRTH",
    "dateofbirth, BIRTHDATE, birthdt, custdob, dobstr, d_o_b, gebdat, geburtsdat, datenaissance, fechanac, fechadenacimiento, datanascita, 出生日期, 生年月日, 생년월일, дата_рождения, تاريخ_الميلاد, जन्म_तिथि, urodzenia_data, dogum_tarihi",
  ],
  ["AGE", "custage, patientage, age_years, alter_jahre, 年龄, возраст"],
  ["GENDER", "gendercode, sexcd, patientsex, geschlecht_kz, 性别, 性別, 성별, пол, genre_client"],
  ["ZIP_CODE", "zipcode, POSTALCODE, custzip, postcode_home, code_postal_client, 邮编, 郵便番号, индекс_почтовый"],
  ["MARITAL_STATUS", "maritalstatus, MARITALSTAT, familienstand, 婚姻状况, семейное_положение"],
  ["NATIONALITY", "nationalitycode, citizenshipcd, staatsangehoerigkeit, 国籍, гражданство"],
  ["VEHICLE_ID|VEHICLE_REGISTRATION", "licenseplate, vin_no, PLATENO, kfz_kennzeichen, 车牌号"],
  // About a thing, not the thing.
  [
    "",
    "password_min_length, passwordpolicyid, pwd_expiry_days, password_last_changed, is_password_set, password_attempts, passwordchangedat, must_change_password, password_strength, pwd_rule_id",
  ],
  [
    "",
    "email_verified_at, emailsent, email_status, email_bounce_count, email_template_id, emailoptin, email_notifications_enabled, email_subject, num_emails, email_frequency",
  ],
  ["", "salary_currency, salary_review_date, salary_type, has_salary, salary_frequency, salary_effective_from"],
  [
    "",
    "phone_verified, phone_type_id, is_mobile, phone_os, card_type, card_brand, card_status, card_expired, iban_valid, ssn_verified_flag, ssn_required",
  ],
  [
    "",
    "address_count, address_type_cd, address_validated_on, name_format, username_changed_at, login_attempts, login_page_url, last_login_time, birthday_email_sent, passport_required, religion_form_url, diagnosis_template, health_check_url",
  ],
  [
    "",
    "race_time, races:race, race_distance_km, experiments:treatment, treatment_group, weather_condition, condition_code_item, party_size, union_all, page_orientation, screen_orientation, gpio_pin, pin_count, pinned_at, product_title, secretary_id, token_count, tokens_used",
  ],
  // Words that hold others.
  [
    "",
    "session_id, sessionstart, shipping, shippingcost, adobe_version, salesamount, salesperson_id, essex, page, usage, storageclass, account_type, recipient_id, message, package, percentage, mileage, stage, coverage, dosage_form_id, imageurl",
  ],
  [
    "",
    "classname, passenger_count, compass, bypass, passive, spinner, opinion_poll_id, spin, pinterest_url, vineyard, province, protein, victim_count_total, sinus, single, business, basin, disinfect, cellar, excel, cancelled, telemetry, hotel, mobilization",
  ],
  [
    "",
    "description, transcript, subscription, discount, country, county, discountcode, accessory, access_level, tokenizer, authorname_format, authority, author_count, lastupdated, firstseen, nameservers, filename, hostname, tablename, typename, namespace, rename_to",
  ],
  [
    "",
    "fingerprint_sha256_file, cellphone_plan, ageing_bucket, agency, agenda_id, manager_id, cityscape, velocity, capacity, electricity, dna_stub, lonely, latency_ms, platform, template, plate_thickness, latest",
  ],
  // What business tables hold.
  [
    "",
    "orderid, ORDERDATE, qty, unitprice, prodname, productid, invoicenum, invno, currencycode, createddt, updatedts, statuscd, warehouseloc, skucode, taxrate, taxamount, discountpct, totalamt, lineitemno, deliverydate, shipdate, trackingno, isactive, isdeleted, sortorder",
  ],
  [
    "",
    "bestellnummer, artikelnr, menge, preis, rechnungsdatum, numero_commande, prix, cantidad, fecha_pedido, quantita, prezzo, заказ_номер, количество, цена, 订单号, 数量, 价格, 注文番号, 金額, 주문번호, 가격, رقم_الطلب, कीमत, lieferdatum, lagerort",
  ],
];

/** What the rules are made with. */
export const SEEN_NAMES: LabelledNames = [
  [
    "PASSWORD",
    "userpassword, PASSWORDHASH, password_hash, password_salt, password_hint, pwd_hash, passwd, userPass, admin_password, strPassword, db_pass, DBPASS, pass_hash, accounts:pass, contraseña, senha, passwort, kennwort, mot_de_passe, motdepasse, wachtwoord, пароль, كلمة_السر, 密码, 비밀번호, パスワード, parol, mima, контраш, password_history, ｐａｓｓｗｏｒｄ",
  ],
  [
    "API_KEY|PASSWORD",
    "password_reset_token, otp_secret, secret, apikey, APIKEY, authtoken, api_secret, oauth_token, session_token, ssh_private_key, client_secret, password_reset_url, user_token, users:token, accessToken, refresh_token, secretkey",
  ],
  ["PASSWORD", "users:pin, debit_card_pin, login_pin"],
  [
    "CREDIT_CARD",
    "creditcardno, ccnum, cc_number, kreditkarte, carte_bancaire, cvv, cvv2, card_number, CardNo, cardnumber, tarjeta_credito, 信用卡号, 银行卡号码",
  ],
  ["BANK_ACCOUNT", "bankacct, acct_nbr, kontonummer, account_number, bank_account_no, acctno, BANK_ACCT_NO, 银行账号"],
  ["IBAN_CODE", "iban, customer_iban, ibanno"],
  [
    "SALARY",
    "salary2024, empsal, salary_amount, salary_usd, gehalt, salaire, sueldo, 工资, зарплата, 給与, zarplata, net_pay, gross_salary, avg_salary, salary_band, salary_grade, emp_sal, EmployeeSalary, basepay, 员工工资",
  ],
  [
    "US_SSN",
    "custssn, ssnlast4, ssn_last4, ssn, SSN, customer_ssn, socialsecurity, SocialSecurityNumber, soc_sec_no, ssn_encrypted",
  ],
  ["TAX_ID", "steuernummer, codice_fiscale, cpf, taxid, tax_id, vat_number"],
  [
    "NATIONAL_ID",
    "身份证号, 주민등록번호, personalausweis, dni, bsn, numero_securite_sociale, national_id, aadhaar_number, マイナンバー, 客户身份证号, nationalidno",
  ],
  ["PASSPORT_NUMBER", "паспорт, passport_no, passportnumber, reisepass, 护照号码"],
  ["DRIVER_LICENSE", "drv_lic_num, führerschein, permis_de_conduire, driverlicense, driving_licence_no"],
  ["PATIENT_ID", "medrecno, mrn, patient_id, medical_record_number, nhs_number"],
  [
    "HEALTH_DATA",
    "diagnosis_code, medication_status, pregnancy_flag, hiv_status, has_disability, dx_code, blood_group, allergies, medication_list, is_diabetic, diagnosis_date, patient:condition, patients:treatment, 诊断结果, диагноз, diagnosis_count",
  ],
  ["CRIMINAL_RECORD", "criminal_record_count, has_criminal_record, criminal_history, arrest_date"],
  ["RELIGION", "religion, religion_code, religious_affiliation, glaube, 宗教信仰, users:church"],
  ["ETHNICITY", "ethnicity, ethnic_group, employees:race, students:race, applicant_race"],
  ["SEXUAL_ORIENTATION", "sexual_orientation, users:orientation, orientation_sexuelle"],
  ["UNION_MEMBERSHIP", "union_membership, union_member, employees:union"],
  ["POLITICAL_OPINION", "political_party, voters:party, political_views, voter_party"],
  ["BIOMETRIC_DATA", "fingerprint, fingerprint_template, face_embedding, iris_scan"],
  [
    "EMAIL_ADDRESS",
    "email_address, email_hash, e_mail, contact_email_primary, correo_electronico, courriel, useremail, EMAIL, emailaddress, userEmailAddress, 邮箱, メールアドレス, email2",
  ],
  [
    "PHONE_NUMBER",
    "phonenum, mobile_no, userPhone, tel_nr, telefon, Telefonnummer, telefono, handynummer, 電話番号, homephone, cellphone, 手机号, telno",
  ],
  [
    "STREET_ADDRESS",
    "homeaddr, addr_line_1, home_addr, adresse, strasse, indirizzo, 住所, home_address, billingaddress, address1, shipping_address",
  ],
  [
    "DATE_OF_BIRTH",
    "dateofbirth, birth_dt, dob, geburtsdatum, date_naissance, fecha_nacimiento, data_nascita, DOB, birthdate, custdob, 生年月日, 出生日期, дата_рождения",
  ],
  [
    "PERSON",
    "first_nm, lst_nm, fullName, vorname, Nachname, prenom, apellido, cognome, nombre_completo, spouse_name, account_holder, firstname, lastName, customers:name, 姓名, фамилия, 氏名, FIRSTNAME",
  ],
  ["USERNAME", "username, userName, login, 用户名"],
  ["GENDER", "gender_cd, geschlecht, sexe, sexo, sex, 性别"],
  ["ZIP_CODE", "zip5, plz, code_postal, codigo_postal, zipcode, postal_code"],
  ["AGE", "age, custage, 年龄, age_years"],
  [
    "",
    "password_policy, password_changed_at, password_expired, has_password, password_expires_at, passwordPolicy, password_length, password_attempts, 密码策略, 密码修改时间, password_enabled, politica_contrasena",
  ],
  [
    "",
    "email_sent_at, email_opt_in, email_verified, email_status, email_type, email_count, email_template, is_email_verified, num_emails, email_sent_count, email_domain",
  ],
  [
    "",
    "salary_currency, salary_type, salary_date, salary_frequency, has_salary, phone_type, phone_verified_at, phone_model, address_type, address_id, card_type, card_brand, name_length, username_length, secret_rotation_date, api_key_policy, api_key_created_at, token_count, token_type, login_count, last_login, ssn_verified, iban_country_status",
  ],
  [
    "",
    "race, races:race, race_time, treatment, condition, party, union, orientation, pin, title, treatment_group, screen_orientation, pin_count, party_size, weather_condition, pass_rate, pass_count, union_type",
  ],
  [
    "",
    "session, sessions, shipping, adobe, sales, essex, page, usage, storage, account, recipient, shippingcost, salesrep, pagecount, usagecount, storagesize, homepage, accountid, accounttype, accountname, emailer, passage, mortgage, image, message, average, cardinal, discard, scorecard, dashboard, postcard",
  ],
  [
    "",
    "order_id, product_name, created_at, status, quantity, unit_price, country_code, currency, page_count, description, is_active, file_name, host_name, ip_version, card_layout, category, version, salary_grade_count, city_count, numero_pedido, orderdate, custid, empid, productid, itemno, deptname, createddate, lastmodified, startdate, enddate, total_amount, amount, price, sku, qty, balance, zone, region, department, notes_count, color, weight_kg, height_px, 产品名称, 创建时间, 状态, 数量, 员工编号, 资料, 员工资料, номер_заказа, bestelldatum, fecha_pedido, date_commande",
  ],
];
