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

/** Names of known schemas and products, tried when the rules stood, which were then mended by classes of them. */
export const SCHEMA_NAMES: LabelledNames = [
  // Salesforce: Contact, Lead, User, HealthCloud
  [
    "PERSON",
    "Contact:FirstName, Contact:LastName, Contact:MiddleName, Contact:Name, Lead:Name, Contact:AssistantName, User:CommunityNickname, PersonContact:Salutation_FirstName__c",
  ],
  [
    "EMAIL_ADDRESS",
    "Contact:Email, PersonEmail, SecondaryEmail__c, Contact:Email__c, User:SenderEmail, npe01__HomeEmail__c, npe01__WorkEmail__c, ReplyToEmail",
  ],
  [
    "PHONE_NUMBER",
    "Contact:MobilePhone, HomePhone, OtherPhone, AssistantPhone, PersonMobilePhone, Fax, PersonHomePhone, npe01__WorkPhone__c",
  ],
  [
    "STREET_ADDRESS",
    "MailingStreet, OtherStreet, BillingStreet, ShippingStreet, PersonMailingStreet, MailingAddress, BillingAddress",
  ],
  ["DATE_OF_BIRTH", "Contact:Birthdate, PersonBirthdate, HealthCloudGA__BirthDate__c, Date_of_Birth__c"],
  ["US_SSN", "SSN__c, Social_Security_Number__c, HealthCloudGA__SSN__c, Last_4_SSN__c"],
  ["SALARY", "AnnualIncome__c, FinServ__AnnualIncome__pc, Annual_Salary__c, Base_Salary__c, Total_Compensation__c"],
  [
    "",
    "Account:AnnualRevenue, NumberOfEmployees, StageName, CloseDate, IsWon, LeadSource, OwnerId, RecordTypeId, SystemModstamp, LastActivityDate, EmailBouncedDate, EmailBouncedReason, HasOptedOutOfEmail, DoNotCall, IsEmailBounced, Jigsaw, PhotoUrl, ProductCode, Pricebook2Id, CurrencyIsoCode, ForecastCategory, IsPersonAccount, LastCURequestDate, MasterRecordId, EmailEncodingKey, LastPasswordChangeDate, UserPermissionsMobileUser, BillingCountryCode, TickerSymbol",
  ],
  // SAP HR, business partner, banks
  ["PERSON", "VORNA, NACHN, NAME_LAST, NAME_FIRST, NAMEMIDDLE, MC_NAME1_LAST, ENAME, CNAME, NACH2, NAME_TEXT, MIDNM, RUFNM"],
  ["DATE_OF_BIRTH", "GBDAT, BIRTHDT, PA0002:GBDAT, GEBDT"],
  ["GENDER", "GESCH, PA0002:GESCH, GENDER_KEY"],
  ["STREET_ADDRESS", "STRAS, PA0006:STRAS, STREET_HOUSE_NO, LOCAT_ADDR2_STREET, HOUSE_NUM1"],
  ["PHONE_NUMBER", "TELNR, TEL_NUMBER, TELF1, TELFX, TELF2, MOB_NUMBER, SMTP_FAX_NUMBER"],
  ["EMAIL_ADDRESS", "SMTP_ADDR, E_MAIL, USRID_LONG_EMAIL"],
  ["NATIONAL_ID|US_SSN|TAX_ID", "PERID, PA0002:PERID, STCD1, STCEG, TAXNUM, IDNUMBER_PERSON_NATIONAL_ID"],
  ["BANK_ACCOUNT", "BANKN, BANK_ACCT, BANKACCOUNT_NUMBER, BANKNUM_ACCOUNT_NO"],
  ["IBAN_CODE", "IBAN, TIBAN_IBAN"],
  ["SALARY", "ANSAL, BET01_WAGE_AMOUNT, PA0008:ANSAL, WAGE_TYPE_AMOUNT, LGART_WAGE"],
  ["RELIGION", "KONFE, PA0002:KONFE, RELIGION_KEY"],
  ["NATIONALITY", "NATIO, NATI2"],
  ["MARITAL_STATUS", "FAMST, MARST"],
  [
    "",
    "MANDT, BUKRS, WERKS, MATNR, VBELN, POSNR, KUNNR, LIFNR, EBELN, MENGE, MEINS, NETWR, WAERS, ERDAT, ERNAM, AEDAT, SPRAS, LAND1, KOSTL, BUDAT, BLDAT, BELNR, GJAHR, LGORT, MTART, MATKL, VKORG, VTWEG, SPART, AUART",
  ],
  // Workday, PeopleSoft, ADP, BambooHR
  [
    "SALARY",
    "Total_Base_Pay_Annualized_Amount, Compensation_Grade, Primary_Compensation_Basis, ANNUAL_RT_SALARY, HOURLY_RATE, ANNUAL_SALARY, basePayAmount, payRate, annualRateAmount, bonusTargetAmount, MONTHLY_PAY_RATE_SALARY, stockGrantCompensation",
  ],
  ["US_SSN|NATIONAL_ID", "NATIONAL_ID, National_ID_Reference, Government_ID, socialSecurityNumber, ssnEncrypted, governmentID"],
  ["ETHNICITY", "Ethnicity_Reference, ETHNIC_GRP_CD, Race_Ethnicity, workerRaceCode, ETHNIC_GROUP, personal_info:race"],
  [
    "HEALTH_DATA",
    "Disability_Status_Reference, DISABLED, disabilityIndicator, Medical_Exam_Date, SMOKER, smokerIndicator, sickLeaveReason, LOA_medical_condition",
  ],
  ["DATE_OF_BIRTH", "Birth_Date, BIRTHDATE, birthDate, Date_of_Birth, dateOfBirth"],
  ["MARITAL_STATUS", "Marital_Status_Reference, MAR_STATUS, maritalStatusCode"],
  [
    "PERSON",
    "Legal_Name, Preferred_Name, LAST_NAME_SRCH, FIRST_NAME_SRCH, legalNameFirst_firstName, emergencyContactName, preferredName, PREF_FIRST_NAME",
  ],
  ["UNION_MEMBERSHIP", "Union_Membership_Reference, UNION_CD_MEMBER, employees:LABOR_UNION, unionAffiliation"],
  [
    "",
    "Worker_ID, EMPLID, EMPL_RCD, EFFDT, EFFSEQ, JOBCODE, DEPTID, LOCATION, POSITION_NBR, Supervisory_Organization, Cost_Center, HIRE_DT, REG_TEMP, FULL_PART_TIME, FTE, STD_HOURS, Hire_Date, Last_Day_of_Work, hireDate, workAssignmentID, benefitPlanID, PAYGROUP, SETID, ACTION_REASON, pay_period_end, payPeriodId, compensation_currency, salary_plan_type",
  ],
  // Epic, FHIR, OMOP, OpenMRS
  [
    "HEALTH_DATA",
    "DX_NAME, CURRENT_ICD10_LIST, ENCOUNTER_DIAGNOSIS, PROBLEM_LIST_DX, Condition:code_diagnosis, MedicationRequest:dosageInstruction, AllergyIntolerance:reaction_allergy, conditionCode_diagnosis, drug_exposure:drug_concept_id, condition_occurrence:condition_concept_id, procedure_occurrence:patient_procedure, patient:allergies, patients:vitals, LAB_RESULT_VALUE, obs_patient:test_result, Immunization:vaccineCode, immunizationStatus, CHIEF_COMPLAINT, HX_TOBACCO_USE, alcohol_use, drug_allergy_id, hiv_test_date, HBA1C, BLOOD_GROUP, pregnancyStatus, gravida, cause_of_death, smoking_status, bmi_value, reason_for_visit_diagnosis, PRESCRIPTION_QTY, medicationCodeableConcept",
  ],
  [
    "PATIENT_ID|US_SSN|NATIONAL_ID",
    "PAT_MRN_ID, MRN, patient_identifier_mrn, patient_id, PATIENT_MRN, HEALTH_CARD_NUM, medicare_number, subscriberId, MEDICAID_NUM, health_insurance_no",
  ],
  [
    "PERSON",
    "PAT_NAME, patient:name, Patient:given_name, person_name:given_name, person_name:family_name, PAT_LAST_NAME, PAT_FIRST_NAME, Practitioner:family_name, contact_person_name_first_name",
  ],
  ["DATE_OF_BIRTH", "PAT_BIRTH_DATE, BIRTH_DATE, birthDate, birth_datetime, person:birthdate, PAT_DOB"],
  ["BIRTH_YEAR|DATE_OF_BIRTH", "year_of_birth, month_of_birth, day_of_birth"],
  [
    "ETHNICITY",
    "race_concept_id_ethnicity, ethnicity_concept_id, person:race_source_value, patient:race_concept_id, PATIENT_RACE_C",
  ],
  ["RELIGION", "PAT_RELIGION_C, religion_c, patient:faith"],
  ["GENDER", "SEX_C, gender_concept_id, administrativeGender, person:gender_source_value"],
  [
    "",
    "visit_start_date, visit_occurrence_id, care_site_id, location_id, provider_id, concept_id, vocabulary_id, domain_id, DEPARTMENT_ID, APPT_STATUS_C, encounter_type_uuid, form_version, concept_class_id, resourceType, meta_versionId, implicitRules, unit_concept_id, order_type_id, retired_reason, date_voided, payer_plan_period_id",
  ],
  // Stripe, Shopify, Braintree
  [
    "CREDIT_CARD",
    "card_number, card.last4, cardLast4, payment_method_card_last4, card:cvc, cvc, creditCardNumber, cardholderNumber_card_no",
  ],
  ["BANK_CARD_EXPIRY", "card_exp_month, card_exp_year, cardExpiry, cc_exp_year, expirationDate_card_expiration"],
  ["BANK_ACCOUNT", "account_number, routing_number, bank_account_last4, us_bank_account_number, external_bank_account"],
  [
    "API_KEY",
    "client_secret, webhook_secret, secret_key, api_key, access_token, shopify_access_token, refresh_token, stripe_secret_key, STRIPE_API_KEY, signingSecret",
  ],
  [
    "PERSON",
    "cardholder_name, name_on_card, account_holder_name, customer:name, billing_first_name, shipping_last_name, customer_name",
  ],
  ["EMAIL_ADDRESS", "receipt_email, customer_email, billing_email, contact_email"],
  [
    "",
    "amount_refunded, balance_transaction, application_fee_amount, payment_intent, statement_descriptor, livemode, invoice_settings, default_source, delinquent, tax_exempt, charge_id, dispute_reason, receipt_url, receipt_number, outcome_risk_level, card_brand, card_country_brand, cvc_check, address_zip_check_status, price_id, product_id, plan_interval, trial_end, currency, livemode_flag, fulfillment_status, financial_status, total_tax, subtotal_price, gateway, cancel_reason, cancelled_at, checkout_id, landing_site, source_name, token_type",
  ],
  // WordPress, WooCommerce, Magento, Drupal
  [
    "PASSWORD",
    "user_pass, wp_users:user_pass, password_hash, rp_token_password, users:pass, users_field_data:pass, post_password",
  ],
  [
    "API_KEY",
    "user_activation_key, consumer_secret, session_tokens_user_token, rp_token_reset_token, consumer_key_api_key, nonce_secret",
  ],
  [
    "EMAIL_ADDRESS",
    "user_email, comment_author_email, billing_email, customer_entity:email, users_field_data:mail, subscriber_email, _billing_email",
  ],
  [
    "PERSON",
    "billing_first_name, billing_last_name, customer_firstname, customer_lastname, customer_middlename, firstname, lastname, wp_users:display_name",
  ],
  [
    "STREET_ADDRESS",
    "billing_address_1, shipping_address_1, _billing_address_1, customer_address_entity:street, remote_addr_street_address",
  ],
  ["USERNAME", "user_login, wp_users:user_login, username"],
  ["IP_ADDRESS", "comment_author_IP, remote_ip, x_forwarded_for_ip, customer_ip_address"],
  ["DATE_OF_BIRTH", "customer_dob, dob"],
  ["TAX_ID", "taxvat, customer_taxvat, vat_id, billing_vat_id"],
  [
    "",
    "post_title, post_status, post_content, comment_count, comment_approved, guid, menu_order, meta_key, meta_value, option_name, option_value, autoload, term_taxonomy_id, term_order, link_rating, link_notes, ping_status, to_ping, pinged, post_mime_type, user_registered, user_status, entity_type_id, attribute_set_id, store_id, website_id, increment_id, is_active, tier_price, tax_class_id, has_options, required_options, sku, special_price, url_key, visibility, base_shipping_incl_tax, grand_total, coupon_code, customer_group_id, customer_is_guest, customer_note_notify, email_sent, send_email, shipping_method, total_paid, shipping_description",
  ],
  // Active Directory, LDAP, Okta
  [
    "PASSWORD",
    "userPassword, unicodePwd, dBCSPwd, ntPwdHistory, lmPwdHistory, supplementalCredentials_password, ms_Mcs_AdmPwd, sambaNTPassword, krbPrincipalKey_password, userPKCS12_password",
  ],
  [
    "PERSON",
    "inetOrgPerson:sn, givenName, displayName, inetOrgPerson:cn, person:initials_middle_initial, personalTitle_surname, nickName, lastName",
  ],
  [
    "PHONE_NUMBER",
    "telephoneNumber, homePhone, mobile, otherHomePhone, facsimileTelephoneNumber, pager, otherMobile, mobilePhone, ipPhone, otherTelephone",
  ],
  ["EMAIL_ADDRESS", "mail, secondEmail, proxyAddresses_email, user:mail, rfc822Mailbox_email"],
  ["STREET_ADDRESS", "homePostalAddress, streetAddress, postalAddress, registeredAddress, street"],
  ["USERNAME", "sAMAccountName_username, userPrincipalName_login, user:login, preferred_username"],
  ["API_KEY", "msDS_ManagedPassword_secret_key, oauthClientSecret, apiToken, recovery_answer_security_token"],
  ["NATIONAL_ID|US_SSN", "carLicense_national_id, nationalIdNumber"],
  [
    "",
    "objectClass, objectGUID, objectSid, whenCreated, whenChanged, uSNCreated, uSNChanged, badPwdCount, pwdLastSet, badPasswordTime, lastLogon, lastLogonTimestamp, logonCount, accountExpires, userAccountControl, primaryGroupID, memberOf, distinguishedName, instanceType, sAMAccountType, adminCount, maxPwdAge, minPwdAge, minPwdLength, pwdHistoryLength, pwdProperties, lockoutDuration, lockoutThreshold, departmentNumber, employeeType, roomNumber, preferredLanguage, passwordExpired, passwordChanged, lockoutTime, msExchVersion, physicalDeliveryOfficeName, company, logonHours, scriptPath, servicePrincipalName, dSCorePropagationData",
  ],
  // Odoo, ERPNext, SugarCRM, Dynamics
  [
    "PERSON",
    "res_partner:name, hr_employee:name, emergency_contact, hr_employee:legal_name, contact:fullname, contact:yomifullname, lead:firstname, spouse_complete_name, employee_name, father_name, mothers_name",
  ],
  [
    "PHONE_NUMBER",
    "mobile_phone, work_phone, private_phone, emergency_phone, contact:telephone1, address1_telephone1, phone_home, phone_mobile, mobilephone, cell_number, phone_sanitized",
  ],
  [
    "EMAIL_ADDRESS",
    "work_email, private_email, emailaddress1, email_from, email_normalized, company_email, personal_email, email1",
  ],
  ["NATIONAL_ID|US_SSN|TAX_ID", "ssnid, identification_id, governmentid, vat, sinid_ssn, tax_id, pan_number_tax_id"],
  ["PASSPORT_NUMBER", "passport_id, passport_number"],
  ["BANK_ACCOUNT", "bank_account_id, acc_number_bank_account, bank_ac_no, sanitized_acc_number_bank_account"],
  [
    "STREET_ADDRESS",
    "address_home_id_home_address, private_street, address1_line1, permanent_address, current_address, contact:address1_composite",
  ],
  ["DATE_OF_BIRTH", "birthday, hr_employee:birthday, birthdate, date_of_birth"],
  ["BIRTH_YEAR|DATE_OF_BIRTH", "place_of_birth, country_of_birth"],
  ["MARITAL_STATUS", "marital, hr_employee:marital, familystatuscode_marital_status, marital_status"],
  [
    "SALARY",
    "contract:wage, gross_pay, net_pay, hour_rate_wage, base_salary, ctc, hr_contract:wage, total_earnings, salary_slip_net_pay, annualincome",
  ],
  ["HEALTH_DATA", "blood_group, health_details_medical_history, disability, medical_condition, is_handicapped, sick_leaves"],
  [
    "",
    "res_partner:lang, is_company, parent_id, commercial_partner_id, create_uid, write_date, message_main_attachment_id, docstatus, naming_series, idx, amended_from, company_currency, property_payment_term_id, credit_limit, picking_type_id, move_type, date_order, validity_date, amount_untaxed, invoice_status, opportunity_id, team_id, statecode, statuscode, versionnumber, importsequencenumber, transactioncurrencyid, exchangerate, donotemail, donotphone, preferredcontactmethodcode, leadsourcecode, numberofchildren_count, accountrolecode, creditonhold, msdyn_gdproptout, mail_message_id, mail_template_id, mail_activity_type, notification_type, password_policy_minlength, salary_component_type, salary_structure_version",
  ],
  // Cloud, logs, apps
  [
    "API_KEY|PASSWORD|PRIVATE_KEY",
    "AWS_SECRET_ACCESS_KEY, GITHUB_TOKEN, SLACK_BOT_TOKEN, JWT_SECRET, DJANGO_SECRET_KEY, SENTRY_AUTH_TOKEN, TWILIO_AUTH_TOKEN, DB_PASSWORD, PGPASSWORD, MYSQL_ROOT_PASSWORD, REDIS_PASSWORD, NPM_TOKEN, OPENAI_API_KEY, azureClientSecret, privateKeyPem, ssh_private_key, encryption_key, session_secret, cookieSecret, oauth_client_secret, bearerToken, gpg_passphrase, keystorePassword, vaultToken, kubeconfig_token, id_token, mfaRecoveryCodes, totpSecret, encrypted_password, reset_password_token, confirmation_token, unlock_token, remember_token, otp_secret_key, invitation_token, password_digest, authentication_token",
  ],
  ["IP_ADDRESS", "current_sign_in_ip, last_sign_in_ip, sourceIPAddress, src_ip, client_ip, ipAddress, remoteAddr_ip, x_real_ip"],
  [
    "",
    "requestId, userAgent, statusCode, latencyMs, eventName, eventSource, awsRegion, httpMethod, bytesSent, cacheHit, traceId, spanId, severity, logLevel, hostname, podName, namespace, containerId, image_tag, instanceType, reset_password_sent_at, remember_created_at, confirmed_at, confirmation_sent_at, sign_in_count, failed_attempts, locked_at, current_sign_in_at, last_sign_in_at, token_expires_in, keyVersion, keyAlgorithm, publicKey, keyId, kid, publicKeyPem, secretArn, secretName, secretVersionId, tokenUsage, promptTokens, completion_tokens, maxTokens, mimeType, contentLength, referer, queueDepth, retryCount, cpuUsage, memUsage, diskUsage, age_bucket_cache, pageAge, shippingZone, pinStatus, sessionDuration, passThroughRate, compassHeading, spinLock, mappingId, opinionCount",
  ],
  // Rails, schools, banks, insurers, flights
  [
    "PERSON",
    "passengerName, pax_first_name, student:full_name, guardian_name, insured_name, beneficiary_name, borrower_first_name, driverName, applicant_last_name, doctor_name, nominee_name, father_first_name",
  ],
  ["PASSPORT_NUMBER", "pax_passport_no, travelDocument_passport, passportExpiryDate_passport_number, passportNo"],
  ["DRIVER_LICENSE", "driverLicenseNumber, DLNumber, drivers_licence_no, driver_lic_state_no"],
  ["CRIMINAL_RECORD", "convictionType, arrestCount, offender_id, criminalHistoryFlag, felony_conviction_date"],
  ["POLITICAL_OPINION", "party_affiliation, voter:party_code, political_leaning, partyRegistration, voted_for"],
  [
    "BIOMETRIC_DATA|GENETIC_DATA",
    "face_encoding, fingerprintTemplate, voiceprint_id, iris_code, dna_profile, facialRecognitionVector, palmPrint, genotype",
  ],
  ["VEHICLE_ID|VEHICLE_REGISTRATION", "vin, vehicleVIN, license_plate, plateNumber, registrationPlate, licencePlateNo"],
  ["GEO_LOCATION", "latitude, lng, gpsCoordinates, last_known_location, homeLat_latitude, pickup_longitude"],
  [
    "",
    "flightNumber, departureTime, seatNo, gateCode, airlineCode, courseCode, gradeLevel, semester, creditHours, policyNumber, premiumAmount, coverageType, claimStatus, deductible, loanTerm, interestRate, principalBalance, branchCode, transactionType, merchantCategory, raceTime, raceName, raceTrack, lapCount, teamName, horseName, partySize, partyRoom, unionSquareStore, treatmentGroup, conditionExpression, weatherCondition, termsAndConditions, orientationDegrees, pinCode_color, mapPin, bowlingPins, passRate, passenger_class, stopSequence, routeShortName",
  ],
];
