// The story of the four services by clients that oapi-codegen made of their OpenAPI documents. Arguments: credentials.json, that of another instance
// with the organisation initech, and a file with the tokens of three people of acme.
package main

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"filippo.io/edwards25519"

	"walk/gateway"
	"walk/governance"
	"walk/scheduler"
	"walk/storage"
)

type identity struct{ Cert, Key string }
type organization struct {
	Admins     map[string]identity
	Scheduler  map[string]struct{ Token string }
	Governance struct {
		APIKey string `json:"api_key"`
	}
}

type instance struct {
	BaseURLs      map[string]string `json:"base_urls"`
	CA            string
	Organizations map[string]organization
	Storage       struct {
		AdminToken string `json:"admin_token"`
	}
}

var credentials, elsewhere instance

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Println("BAD", err)
		os.Exit(1)
	}
	return value
}

func say(what string, holds bool, body []byte) {
	if holds {
		fmt.Println("ok", what)
	} else {
		fmt.Println("BAD", what, string(body))
	}
}

// A client that trusts the instance, and shows a certificate where it has one.
func trusting(certificates ...tls.Certificate) *http.Client {
	return credentials.trusting(certificates...)
}

func (at instance) trusting(certificates ...tls.Certificate) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(must(os.ReadFile(at.CA)))
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certificates}}}
}

func bearing(token string) func(context.Context, *http.Request) error {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

func (at instance) gatewayOf(name string) *gateway.ClientWithResponses {
	return at.gatewayAs(name, "super_admin")
}

func (at instance) gatewayAs(name, role string) *gateway.ClientWithResponses {
	admin := at.Organizations[name].Admins[role]
	shown := at.trusting(must(tls.LoadX509KeyPair(admin.Cert, admin.Key)))
	return must(gateway.NewClientWithResponses(at.BaseURLs["gateway"], gateway.WithHTTPClient(shown)))
}

func random(length int) []byte {
	bytes := make([]byte, length)
	must(rand.Read(bytes))
	return bytes
}

func drawn(length int) string {
	return base64.StdEncoding.EncodeToString(random(length))
}

// A typed body of what is said in JSON.
func typed[T any](value map[string]any) (body T) {
	must(0, json.Unmarshal(must(json.Marshal(value)), &body))
	return body
}

// An organisation that makes its key and keeps the shares itself.
type side struct {
	name, url, key string
	client         *gateway.ClientWithResponses
	shares         []gateway.Share
}

func sideOf(name string, at instance) side {
	client := at.gatewayOf(name)
	made := must(client.GenerateCrkWithResponse(context.Background(), nil, gateway.GenerateCrkJSONRequestBody{TotalShares: 3, Threshold: 2}))
	say(name+" makes its key", made.JSON200 != nil, made.Body)
	shares := []gateway.Share{}
	for _, share := range made.JSON200.Shares[:2] {
		shares = append(shares, gateway.Share{Index: share.Index, Data: share.Data})
	}
	return side{name, at.BaseURLs["gateway"], made.JSON200.PublicKey, client, shares}
}

// What is said, signed by the root key.
func (of side) signed(operation, resource, signature string, value map[string]any) map[string]any {
	ctx := context.Background()
	asked := map[string]any{"operation": operation, "resource_id": resource, "body": value}
	request := must(of.client.CreateSigningRequestWithResponse(ctx, nil, typed[gateway.CreateSigningRequestJSONRequestBody](asked)))
	say("it is told what to sign for "+operation, request.JSON201 != nil, request.Body)
	signing := gateway.SignWithCrkJSONRequestBody{Shares: of.shares, PublicKey: of.key, Data: request.JSON201.Message}
	made := must(of.client.SignWithCrkWithResponse(ctx, nil, signing))
	whole := map[string]any{signature: made.JSON200.Signature}
	for name, member := range value {
		whole[name] = member
	}
	return whole
}

// Two organisations on two instances federate: certificates cross, each act is signed by the root key.
func federate(ctx context.Context) {
	sides := [2]side{sideOf("globex", credentials), sideOf("initech", elsewhere)}
	var offers [2]*gateway.FederationInit
	var made [2]*gateway.Federation
	for i, of := range sides {
		body := typed[gateway.InitFederationJSONRequestBody](of.signed("federation.init", "", "crk_signature", map[string]any{}))
		offers[i] = must(of.client.InitFederationWithResponse(ctx, nil, body)).JSON200
	}
	for i, of := range sides {
		partner, offer := sides[1-i], offers[1-i]
		body := map[string]any{"partner_org_id": partner.name, "partner_url": partner.url, "partner_cert": offer.Certificate, "partner_csr": offer.Csr}
		whole := of.signed("federation.establish", partner.name, "crk_signature", body)
		done := must(of.client.EstablishFederationWithResponse(ctx, nil, typed[gateway.EstablishFederationJSONRequestBody](whole)))
		say(of.name+" federates with "+partner.name, done.JSON201 != nil && done.JSON201.PartnerOrgId == partner.name, done.Body)
		made[i] = done.JSON201
	}
	for i, of := range sides {
		partner := sides[1-i]
		body := map[string]any{"partner_org_id": partner.name, "certificate": made[1-i].Certificate}
		whole := of.signed("federation.import", partner.name, "signature", body)
		done := must(of.client.ImportFederationCertificateWithResponse(ctx, nil, typed[gateway.ImportFederationCertificateJSONRequestBody](whole)))
		say(of.name+" shows what "+partner.name+" certified", done.StatusCode() == 204, done.Body)
	}
	found := must(sides[0].client.ListFederationsWithResponse(ctx, nil))
	say("a federation is listed", found.JSON200 != nil && found.JSON200.Total == 1, found.Body)
}

// A ceremony of three people, two of whom can sign: each brings a key derived from a password that nobody else knows.
func ceremony(ctx context.Context, officer *gateway.ClientWithResponses, people []string) (holder string, persons []*gateway.ClientWithResponses) {
	started := must(officer.StartGenerationCeremonyWithResponse(ctx, nil, gateway.StartGenerationCeremonyJSONRequestBody{TotalShares: 3, Threshold: 2}))
	id := started.JSON200.Id
	for i, token := range people {
		subject := fmt.Sprintf("custodian-%d", i+1)
		user := map[string]any{"provider": "idp_a", "subject": subject, "email": subject + "@example.org", "name": subject}
		made := must(officer.CreateSsoUserWithResponse(ctx, nil, typed[gateway.CreateSsoUserJSONRequestBody](user)))
		if i == 0 {
			holder = fmt.Sprint(made.JSON201.Id)
		}
		bearer := gateway.WithRequestEditorFn(bearing(token))
		person := must(gateway.NewClientWithResponses(credentials.BaseURLs["gateway"], gateway.WithHTTPClient(trusting()), bearer))
		persons = append(persons, person)
		kdf := map[string]any{"time": 3, "memory": 65536, "threads": 1}
		seed := map[string]any{"index": i + 1, "derived_key": drawn(32), "salt": drawn(16), "kdf_params": kdf}
		seeded := must(person.SeedGenerationCeremonyWithResponse(ctx, id, nil, typed[gateway.SeedGenerationCeremonyJSONRequestBody](seed)))
		say(subject+" takes a seat", seeded.StatusCode() == 204, seeded.Body)
	}
	done := must(officer.CompleteGenerationCeremonyWithResponse(ctx, id, nil))
	say("a ceremony makes the key that its people hold", done.JSON200 != nil && done.JSON200.Crk != nil && len(done.JSON200.Seats) == 3, done.Body)
	return
}

// XEdDSA (Perrin, revision 1), as docs/custody.md has it: a signature by an X25519 key.
func xeddsa(secret, message []byte) []byte {
	scalar := must(new(edwards25519.Scalar).SetBytesWithClamping(secret))
	public := new(edwards25519.Point).ScalarBaseMult(scalar).Bytes()
	if public[31]>>7 == 1 {
		scalar.Negate(scalar)
	}
	public[31] &= 0x7f
	hashed := func(parts ...[]byte) *edwards25519.Scalar {
		sum := sha512.Sum512(bytes.Join(parts, nil))
		return must(new(edwards25519.Scalar).SetUniformBytes(sum[:]))
	}
	nonce := hashed(append([]byte{0xfe}, bytes.Repeat([]byte{0xff}, 31)...), scalar.Bytes(), message, random(64))
	commitment := new(edwards25519.Point).ScalarBaseMult(nonce).Bytes()
	answer := new(edwards25519.Scalar).MultiplyAdd(hashed(commitment, public, message), scalar, nonce)
	return append(commitment, answer.Bytes()...)
}

// A custodian's card, and its fingerprint: names and keys are plain here, so that Go's sorted members are canonical JSON.
func cardOf(organization, holder string) (map[string]any, string) {
	signing, secret := ed25519.NewKeyFromSeed(random(32)), random(32)
	agreement := must(ecdh.X25519().NewPrivateKey(secret)).PublicKey().Bytes()
	text := base64.StdEncoding.EncodeToString
	public := signing.Public().(ed25519.PublicKey)
	card := map[string]any{"v": 1, "org_id": organization, "custodian_id": holder, "signing_key": text(public), "agreement_key": text(agreement)}
	canonical := must(json.Marshal(card))
	message := append([]byte("seneschal/custodian-card/v1\x00"), canonical...)
	card["proofs"] = map[string]any{"signing": text(ed25519.Sign(signing, message)), "agreement": text(xeddsa(secret, message))}
	hash := sha256.Sum256(canonical)
	return card, hex.EncodeToString(hash[:])
}

// One of them has keys of one's own from now on: a card that proves both, which counts when two others have compared its fingerprint.
func enrol(ctx context.Context, holder string, persons []*gateway.ClientWithResponses) {
	card, fingerprint := cardOf("acme", holder)
	body := func(card map[string]any) gateway.EnrollCustodianJSONRequestBody {
		return typed[gateway.EnrollCustodianJSONRequestBody](map[string]any{"card": card})
	}
	other, _ := cardOf("acme", holder)
	forged := map[string]any{}
	for name, member := range card {
		forged[name] = member
	}
	forged["proofs"] = other["proofs"]
	refused := must(persons[0].EnrollCustodianWithResponse(ctx, nil, body(forged)))
	say("keys are proven to be one's own", refused.JSON400 != nil && refused.JSON400.Error.Code == "VALIDATION_ERROR", refused.Body)
	foreign := must(persons[1].EnrollCustodianWithResponse(ctx, nil, body(card)))
	say("a card is its holder's", foreign.JSON400 != nil && foreign.JSON400.Error.Code == "VALIDATION_ERROR", foreign.Body)
	enrolled := must(persons[0].EnrollCustodianWithResponse(ctx, nil, body(card)))
	say("keys are enrolled by their card", enrolled.JSON201 != nil && enrolled.JSON201.Fingerprint == fingerprint && enrolled.JSON201.Status == "pending", enrolled.Body)
	id, compared := enrolled.JSON201.Id, gateway.ConfirmCustodianJSONRequestBody{Fingerprint: fingerprint}
	own := must(persons[0].ConfirmCustodianWithResponse(ctx, id, nil, compared))
	say("nobody confirms the own keys", own.JSON403 != nil, own.Body)
	for _, role := range []string{"security_admin", "operations_admin"} {
		must(credentials.gatewayAs("acme", role).ConfirmCustodianWithResponse(ctx, id, nil, compared))
	}
	counts := must(persons[0].GetCustodianWithResponse(ctx, id))
	say("they count when two others have compared", counts.JSON200 != nil && counts.JSON200.Status == "active" && len(counts.JSON200.Confirmations) == 2, counts.Body)
	revoked := must(persons[0].RevokeCustodianWithResponse(ctx, id, nil))
	say("who holds them ends their use", revoked.JSON200 != nil && revoked.JSON200.Status == "revoked", revoked.Body)
}

func main() {
	must(0, json.Unmarshal(must(os.ReadFile(os.Args[1])), &credentials))
	ctx := context.Background()
	acme := credentials.Organizations["acme"]

	must(0, json.Unmarshal(must(os.ReadFile(os.Args[2])), &elsewhere))
	var people []string
	must(0, json.Unmarshal(must(os.ReadFile(os.Args[3])), &people))

	ours, theirs := credentials.gatewayOf("acme"), credentials.gatewayOf("globex")
	once := "once"
	body := gateway.CreateWorkspaceJSONRequestBody{Name: "books"}
	made := must(ours.CreateWorkspaceWithResponse(ctx, &gateway.CreateWorkspaceParams{IdempotencyKey: &once}, body))
	again := must(ours.CreateWorkspaceWithResponse(ctx, &gateway.CreateWorkspaceParams{IdempotencyKey: &once}, body))
	say("a workspace is made once under one key", made.JSON201 != nil && again.JSON201 != nil && made.JSON201.Id == again.JSON201.Id, made.Body)
	id := made.JSON201.Id
	read := must(ours.GetWorkspaceWithResponse(ctx, id, nil))
	tag := read.HTTPResponse.Header.Get("ETag")
	same := must(ours.GetWorkspaceWithResponse(ctx, id, &gateway.GetWorkspaceParams{IfNoneMatch: &tag}))
	say("what is known already is not sent again", same.StatusCode() == 304, same.Body)
	say("a time is a time", !read.JSON200.CreatedAt.IsZero(), read.Body)
	sealed := must(ours.EncryptWithResponse(ctx, id, nil, gateway.EncryptJSONRequestBody{Plaintext: base64.StdEncoding.EncodeToString([]byte("2 and 2"))}))
	opened := must(ours.DecryptWithResponse(ctx, id, gateway.DecryptJSONRequestBody{Ciphertext: sealed.JSON200.Ciphertext}))
	plain := must(base64.StdEncoding.DecodeString(opened.JSON200.Plaintext))
	say("what was encrypted is decrypted", string(plain) == "2 and 2", opened.Body)
	page := must(ours.ListWorkspacesWithResponse(ctx, nil))
	say("a list is counted", page.JSON200 != nil && page.JSON200.Total == len(page.JSON200.Workspaces), page.Body)
	foreign := must(theirs.GetWorkspaceWithResponse(ctx, id, nil))
	say("another organisation does not see it", foreign.JSON404 != nil && foreign.JSON404.Error.Code == "NOT_FOUND", foreign.Body)
	log := must(ours.VerifyAuditWithResponse(ctx, nil, gateway.VerifyAuditJSONRequestBody{}))
	say("the audit log verifies", log.JSON200 != nil && log.JSON200.Valid, log.Body)

	holder, persons := ceremony(ctx, ours, people)
	enrol(ctx, holder, persons)
	federate(ctx)

	keyed := governance.WithRequestEditorFn(bearing(acme.Governance.APIKey))
	data := must(governance.NewClientWithResponses(credentials.BaseURLs["governance"], governance.WithHTTPClient(trusting()), keyed))
	tier := must(data.ClassifyWithResponse(ctx, nil, governance.ClassifyJSONRequestBody{Query: "IBAN DE89370400440532013000 of ada@example.org"}))
	say("personal data is found", tier.JSON200 != nil && tier.JSON200.Tier != "PUBLIC" && len(*tier.JSON200.Findings) >= 2, tier.Body)

	schedulerAs := func(role string) *scheduler.ClientWithResponses {
		token := scheduler.WithRequestEditorFn(bearing(acme.Scheduler[role].Token))
		return must(scheduler.NewClientWithResponses(credentials.BaseURLs["scheduler"], scheduler.WithHTTPClient(trusting()), token))
	}
	most, more := 2, 3
	tenant := must(schedulerAs("system-admin").CreateTenantWithResponse(ctx, nil, scheduler.CreateTenantJSONRequestBody{Name: "acme", MaxNodes: &most}))
	say("a tenant is made", tenant.JSON201 != nil, tenant.Body)
	refused := must(schedulerAs("user").SubmitAllocationWithResponse(ctx, nil, scheduler.SubmitAllocationJSONRequestBody{Tenant: "acme", Nodes: &more}))
	say("a hard quota holds", refused.JSON429 != nil && refused.JSON429.Error.Code == "quota_exceeded", refused.Body)

	admin := storage.WithRequestEditorFn(bearing(credentials.Storage.AdminToken))
	nodes := must(storage.NewClientWithResponses(credentials.BaseURLs["storage"], storage.WithHTTPClient(trusting()), admin))
	devices := must(nodes.ListDevicesWithResponse(ctx))
	say("devices are listed", devices.JSON200 != nil, devices.Body)
}
