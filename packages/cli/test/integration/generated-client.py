"""The story of the four services by clients that openapi-python-client made of their OpenAPI documents. Arguments: credentials.json."""
import base64, json, ssl, sys

from gateway import AuthenticatedClient
from gateway.api.audit import verify_audit
from gateway.api.workspaces import create_workspace, decrypt, encrypt, get_workspace, list_workspaces, rotate_dek
from gateway.models import CreateWorkspaceBody, DecryptBody, EncryptBody, Error as GatewayError
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

credentials = json.load(open(sys.argv[1]))
url = credentials["base_urls"]


def trusting(identity=None):
    context = ssl.create_default_context(cafile=credentials["ca"])
    if identity is not None:
        context.load_cert_chain(identity["cert"], identity["key"])
    return context


def say(what, holds, shown=""):
    print(("ok " if holds else "BAD ") + what, "" if holds else shown)


acme, globex = (credentials["organizations"][name] for name in ("acme", "globex"))


def gateway(organization):
    admin = organization["admins"]["super_admin"]
    return AuthenticatedClient(base_url=url["gateway"], token="", verify_ssl=trusting(admin), raise_on_unexpected_status=True)


ours, theirs = gateway(acme), gateway(globex)
# mTLS says who calls: no token is sent.
for client in (ours, theirs):
    client.get_httpx_client().headers.pop("Authorization", None)

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
