"""
The story of the four services by clients that openapi-python-client made of their OpenAPI documents. Arguments: credentials.json, that of another instance with
the organisation initech, and a file with the tokens of three people of acme. A custodian's card is made by examples/custodian.py.
"""
import base64, json, os, ssl, sys

from custodian import card_of
from custody import fingerprint
from gateway import AuthenticatedClient
from gateway.api.audit import verify_audit
from gateway.api.crk import (
    complete_generation_ceremony,
    create_signing_request,
    generate_crk,
    get_encrypted_share,
    get_generation_ceremony,
    seed_generation_ceremony,
    sign_with_crk,
    start_generation_ceremony,
    verify_with_crk,
)
from gateway.api.custody import confirm_custodian, enroll_custodian, get_custodian, list_custodians, revoke_custodian
from gateway.api.federation import (
    establish_federation,
    federation_health,
    import_federation_certificate,
    init_federation,
    list_federations,
)
from gateway.api.identities import create_sso_user
from gateway.api.workspaces import create_workspace, decrypt, encrypt, get_workspace, list_workspaces, rotate_dek
from gateway.models import (
    ConfirmCustodianBody,
    CreateSigningRequestBody,
    CreateSsoUserBody,
    CreateWorkspaceBody,
    DecryptBody,
    EncryptBody,
    EnrollCustodianBody,
    Error as GatewayError,
    EstablishFederationBody,
    GenerateCrkBody,
    ImportFederationCertificateBody,
    InitFederationBody,
    SeedGenerationCeremonyBody,
    Share,
    SignWithCrkBody,
    StartGenerationCeremonyBody,
    VerifyWithCrkBody,
)
from governance import AuthenticatedClient as GovernanceClient
from governance.api.classification import classify
from governance.api.evaluation import evaluate
from governance.models import ClassifyRequest, EvaluateRequest
from scheduler import AuthenticatedClient as SchedulerClient
from scheduler.api.allocations import get_allocation, list_allocations, submit_allocation
from scheduler.api.tenants import create_tenant, get_tenant_usage
from scheduler.models import CreateTenantBody, Error as SchedulerError, SubmitAllocationBody
from storage import AuthenticatedClient as StorageClient
from storage.api.status import get_cluster, list_devices, list_pools

credentials, elsewhere, people = (json.load(open(file)) for file in sys.argv[1:4])
url = credentials["base_urls"]


def trusting(identity=None, at=credentials):
    context = ssl.create_default_context(cafile=at["ca"])
    if identity is not None:
        context.load_cert_chain(identity["cert"], identity["key"])
    return context


def say(what, holds, shown=""):
    print(("ok " if holds else "BAD ") + what, "" if holds else shown)


acme, globex = (credentials["organizations"][name] for name in ("acme", "globex"))


def gateway(organization, at=credentials, role="super_admin"):
    shown = trusting(organization["admins"][role], at)
    address = at["base_urls"]["gateway"]
    client = AuthenticatedClient(base_url=address, token="", verify_ssl=shown, raise_on_unexpected_status=True)
    # mTLS says who calls: no token is sent.
    client.get_httpx_client().headers.pop("Authorization", None)
    return client


ours, theirs = gateway(acme), gateway(globex)

body = CreateWorkspaceBody(name="books", purpose="accounts")
made = create_workspace.sync_detailed(client=ours, body=body, idempotency_key="once")
again = create_workspace.sync(client=ours, body=body, idempotency_key="once")
workspace = made.parsed
say("a workspace is made once under one key", made.status_code == 201 and workspace.id == again.id, made)
read = get_workspace.sync_detailed(workspace.id, client=ours)
same = get_workspace.sync_detailed(workspace.id, client=ours, if_none_match=read.headers["etag"])
say("what is known already is not sent again", same.status_code == 304, same)
say("a time is a time", read.parsed.created_at.tzinfo is not None, read.parsed)
sealed = encrypt.sync(workspace.id, client=ours, body=EncryptBody(plaintext=base64.b64encode(b"2 and 2").decode()))
rotated = rotate_dek.sync_detailed(workspace.id, client=ours)
opened = decrypt.sync(workspace.id, client=ours, body=DecryptBody.from_dict(sealed.to_dict()))
decrypted = base64.b64decode(opened.plaintext)
say("what was encrypted is decrypted after a rotation", rotated.status_code == 204 and decrypted == b"2 and 2", rotated)
page = list_workspaces.sync(client=ours, limit=10)
say("a list is counted", page.total == 1 and page.workspaces[0].name == "books", page)
foreign = get_workspace.sync(workspace.id, client=theirs)
say("another organisation does not see it", isinstance(foreign, GatewayError) and foreign.error.code.value == "NOT_FOUND", foreign)
log = verify_audit.sync_detailed(client=ours)
say("the audit log verifies", log.status_code == 200 and log.parsed.valid is True, log)

# A ceremony of three people, two of whom can sign: each brings a key derived from a password that nobody else knows.
started = start_generation_ceremony.sync(client=ours, body=StartGenerationCeremonyBody(total_shares=3, threshold=2))
persons = [AuthenticatedClient(base_url=url["gateway"], token=token, verify_ssl=trusting()) for token in people]
users = []
drawn = lambda length: base64.b64encode(os.urandom(length)).decode()
for index, person in enumerate(persons, 1):
    subject = f"custodian-{index}"
    user = CreateSsoUserBody(provider="idp_a", subject=subject, email=f"{subject}@example.org", name=subject)
    users.append(create_sso_user.sync(client=ours, body=user))
    kdf = {"time": 3, "memory": 65536, "threads": 1}
    seed = {"index": index, "derived_key": drawn(32), "salt": drawn(16), "kdf_params": kdf}
    seeded = seed_generation_ceremony.sync_detailed(started.id, client=person, body=SeedGenerationCeremonyBody.from_dict(seed))
    say(f"{subject} takes a seat", seeded.status_code == 204, seeded)
seated = get_generation_ceremony.sync(started.id, client=ours)
done = complete_generation_ceremony.sync(started.id, client=ours)
say("a ceremony makes the key that its people hold", len(seated.seats) == 3 and done.crk.status.value == "active", done)
own = get_encrypted_share.sync(done.crk.id, 2, client=persons[1])
other = get_encrypted_share.sync(done.crk.id, 2, client=persons[0])
say("each fetches the own sealed share and no other", own.index == 2 and isinstance(other, GatewayError), (own, other))

# One of them has keys of one's own from now on: a card that proves both, which counts when two others have compared its fingerprint.
card = card_of("acme", str(users[0].id), os.urandom(64))
forged = {**card, "proofs": {**card["proofs"], "agreement": card["proofs"]["signing"]}}
refused = enroll_custodian.sync(client=persons[0], body=EnrollCustodianBody.from_dict({"card": forged}))
say("keys are proven to be one's own", isinstance(refused, GatewayError) and refused.error.code.value == "VALIDATION_ERROR", refused)
foreign = enroll_custodian.sync(client=persons[1], body=EnrollCustodianBody.from_dict({"card": card}))
say("a card is its holder's", isinstance(foreign, GatewayError) and foreign.error.code.value == "VALIDATION_ERROR", foreign)
enrolled = enroll_custodian.sync(client=persons[0], body=EnrollCustodianBody.from_dict({"card": card}))
say("keys are enrolled by their card", enrolled.status.value == "pending" and enrolled.card.to_dict() == card, enrolled)
compared = ConfirmCustodianBody(fingerprint=fingerprint(card))
self_made = confirm_custodian.sync(enrolled.id, client=persons[0], body=compared)
say("nobody confirms the own keys", isinstance(self_made, GatewayError) and self_made.error.code.value == "FORBIDDEN", self_made)
for role in ("security_admin", "operations_admin"):
    confirmed = confirm_custodian.sync(enrolled.id, client=gateway(acme, role=role), body=compared)
counts = get_custodian.sync(enrolled.id, client=persons[0])
say("they count when two others have compared", counts.status.value == "active" and len(counts.confirmations) == 2, confirmed)
listed = list_custodians.sync(client=ours)
say("custodians are listed", listed.total == 1 and listed.custodians[0].fingerprint == fingerprint(card), listed)
revoked = revoke_custodian.sync(enrolled.id, client=persons[0])
say("who holds them ends their use", revoked.status.value == "revoked", revoked)


class Side:
    """An organisation that makes its key and keeps the shares itself."""

    def __init__(self, name, at):
        self.name, self.url, self.client = name, at["base_urls"]["gateway"], gateway(at["organizations"][name], at)
        made = generate_crk.sync(client=self.client, body=GenerateCrkBody(total_shares=3, threshold=2))
        self.key, self.shares = made.public_key, [Share(index=share.index, data=share.data) for share in made.shares[:2]]

    def sign(self, operation, resource, body):
        asked = {"operation": operation, "resource_id": resource, "body": body}
        request = create_signing_request.sync(client=self.client, body=CreateSigningRequestBody.from_dict(asked))
        self.message = request.message
        signing = SignWithCrkBody(shares=self.shares, public_key=self.key, data=request.message)
        return sign_with_crk.sync(client=self.client, body=signing).signature


# Two organisations on two instances federate: certificates cross, each act is signed by the root key.
sides = (Side("globex", credentials), Side("initech", elsewhere))
signed = sides[0].sign("federation.init", "", {})
check = VerifyWithCrkBody(public_key=sides[0].key, data=sides[0].message, signature=signed)
say("what the key signed verifies", verify_with_crk.sync(client=sides[0].client, body=check).valid is True)
offers = [
    init_federation.sync(client=side.client, body=InitFederationBody(crk_signature=side.sign("federation.init", "", {})))
    for side in sides
]
made = []
for side, partner, offer in ((*sides, offers[1]), (*sides[::-1], offers[0])):
    body = {
        "partner_org_id": partner.name,
        "partner_url": partner.url,
        "partner_cert": offer.certificate,
        "partner_csr": offer.csr,
    }
    signed = {**body, "crk_signature": side.sign("federation.establish", partner.name, body)}
    made.append(establish_federation.sync(client=side.client, body=EstablishFederationBody.from_dict(signed)))
    say(f"{side.name} federates with {partner.name}", made[-1].partner_org_id == partner.name, made[-1])
for side, partner, theirs_of_us in ((*sides, made[1]), (*sides[::-1], made[0])):
    body = {"partner_org_id": partner.name, "certificate": theirs_of_us.certificate}
    signed = {**body, "signature": side.sign("federation.import", partner.name, body)}
    taken = import_federation_certificate.sync_detailed(
        client=side.client, body=ImportFederationCertificateBody.from_dict(signed)
    )
    say(f"{side.name} shows what {partner.name} certified", taken.status_code == 204, taken)
found = list_federations.sync(client=sides[0].client)
say("a federation is listed", found.total == 1 and found.federations[0].partner_org_id == "initech", found)
health = federation_health.sync_detailed(client=sides[0].client)
say("the channel says how it is", health.status_code == 200, health)

governance = GovernanceClient(base_url=url["governance"], token=acme["governance"]["api_key"], verify_ssl=trusting())
tier = classify.sync(client=governance, body=ClassifyRequest.from_dict({"query": "IBAN DE89370400440532013000 of ada@example.org"}))
say("personal data is found", tier.tier != "PUBLIC" and len(tier.findings) >= 2, tier)
question = {
    "operation_type": "read",
    "source_resources": ["customers"],
    "destination_resource": "reports",
    "user_context": {"user_id": "ada", "role": "analyst", "department": "finance"},
}
decision = evaluate.sync(client=governance, body=EvaluateRequest.from_dict(question))
say("a decision gives its reasons", isinstance(decision.allowed, bool) and decision.reasoning != "", decision)

token = lambda role: SchedulerClient(base_url=url["scheduler"], token=acme["scheduler"][role]["token"], verify_ssl=trusting())
made = create_tenant.sync(client=token("system-admin"), body=CreateTenantBody(name="acme", max_nodes=2))
say("a tenant is made", made.max_nodes == 2, made)
one = submit_allocation.sync(client=token("user"), body=SubmitAllocationBody.from_dict({"tenant": "acme", "nodes": 2}))
seen = get_allocation.sync(one.id, client=token("user"))
say("an allocation is taken", seen.id == one.id and len(list_allocations.sync(client=token("user"))) == 1, one)
more = submit_allocation.sync(client=token("user"), body=SubmitAllocationBody.from_dict({"tenant": "acme", "nodes": 3}))
say("a hard quota holds", isinstance(more, SchedulerError) and more.error.code.value == "quota_exceeded", more)

storage = StorageClient(base_url=url["storage"], token=credentials["storage"]["admin_token"], verify_ssl=trusting())
devices, pools = list_devices.sync(client=storage), list_pools.sync(client=storage)
say("devices and pools are listed", isinstance(devices, list) and isinstance(pools, list), (devices, pools))
say("the cluster tells of itself", get_cluster.sync(client=storage) is not None)
