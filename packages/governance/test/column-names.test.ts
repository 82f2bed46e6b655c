import { describe, expect, test } from "vitest";
import { termOf } from "../src/index.ts";

const entities = (names: string) => names.split(" ").map((name) => [name, termOf(name)?.entity] as const);

describe("what a column is called says what it holds, abbreviated or in another language", () => {
  test.each([
    ["PERSON", "first_nm lst_nm fullName vorname Nachname prenom apellido cognome nombre_completo spouse_name account_holder"],
    ["EMAIL_ADDRESS", "e_mail contact_email_primary correo_electronico courriel"],
    ["PHONE_NUMBER", "mobile_no userPhone tel_nr telefon Telefonnummer telefono handynummer"],
    ["DATE_OF_BIRTH", "birth_dt dob geburtsdatum date_naissance fecha_nacimiento data_nascita"],
    ["STREET_ADDRESS", "addr_line_1 home_addr adresse strasse indirizzo"],
    ["PASSWORD", "pwd_hash passwort contrase\u00f1a mot_de_passe"],
    ["API_KEY", "api_secret oauth_token session_token ssh_private_key"],
    ["CREDIT_CARD", "cc_number kreditkarte carte_bancaire cvv"],
    ["TAX_ID", "steuernummer codice_fiscale cpf"],
    ["NATIONAL_ID", "personalausweis dni bsn numero_securite_sociale"],
    ["SALARY", "salary_usd gehalt salaire sueldo"],
    ["GENDER", "gender_cd geschlecht sexe sexo"],
    ["ZIP_CODE", "zip5 plz code_postal codigo_postal"],
    ["DRIVER_LICENSE", "drv_lic_num f\u00fchrerschein permis_de_conduire"],
    ["BANK_ACCOUNT", "acct_nbr kontonummer"],
    ["HEALTH_DATA", "dx_code blood_group allergies medication_list"],
  ])("%s: %s", (entity, names) => {
    for (const found of entities(names)) expect(found).toEqual([found[0], entity]);
  });

  test("names of things say nothing", () => {
    const things =
      "order_id product_name created_at status quantity unit_price country_code currency page_count description email_sent_count phone_model is_active file_name host_name address_type ip_version card_layout message category version name_length salary_grade_count login_count last_login password_changed_at city_count numero_pedido";
    for (const found of entities(things)) expect(found).toEqual([found[0], undefined]);
  });
});
