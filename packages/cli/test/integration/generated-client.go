// The story of the four services by clients that oapi-codegen made of their OpenAPI documents. Arguments: credentials.json.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

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

var credentials struct {
	BaseURLs      map[string]string `json:"base_urls"`
	CA            string
	Organizations map[string]organization
	Storage       struct {
		AdminToken string `json:"admin_token"`
	}
}

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
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(must(os.ReadFile(credentials.CA)))
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certificates}}}
}

func bearing(token string) func(context.Context, *http.Request) error {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

func gatewayOf(name string) *gateway.ClientWithResponses {
	admin := credentials.Organizations[name].Admins["super_admin"]
	shown := trusting(must(tls.LoadX509KeyPair(admin.Cert, admin.Key)))
	return must(gateway.NewClientWithResponses(credentials.BaseURLs["gateway"], gateway.WithHTTPClient(shown)))
}

func main() {
	must(0, json.Unmarshal(must(os.ReadFile(os.Args[1])), &credentials))
	ctx := context.Background()
	acme := credentials.Organizations["acme"]

	ours, theirs := gatewayOf("acme"), gatewayOf("globex")
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
