"""fsspec's s3fs with its defaults, by the file system of docs/storage.md (client.py)."""
import hashlib, urllib.request

import fsspec

from client import fs

MiB = 1 << 20


def ok(said, *facts):
    if not all(facts):
        raise SystemExit(f"BAD {said}: {facts}")
    print("ok", said)


def fails(kind, call):
    try:
        call()
    except kind:
        return True
    return False


fs.mkdir("s3fs-py")
ok("mkdir", fs.exists("s3fs-py"), fs.isdir("s3fs-py"), "s3fs-py" in fs.ls(""), not fs.exists("s3fs-none"))
big = hashlib.shake_256(b"s3fs").digest(11 * MiB + 7)
with fs.open("s3fs-py/dir/big", "wb", block_size=5 * MiB) as file:
    for at in range(0, len(big), 1_000_003):
        file.write(big[at : at + 1_000_003])
with fs.open("s3fs-py/dir/big", "rb", block_size=MiB) as file:
    file.seek(5 * MiB - 3)
    middle = file.read(7)
    file.seek(-5, 2)
    end = file.read()
ok("a file that is written in pieces and read in others", fs.size("s3fs-py/dir/big") == len(big), middle == big[5 * MiB - 3 : 5 * MiB + 4], end == big[-5:], fs.cat("s3fs-py/dir/big") == big, fs.cat_file("s3fs-py/dir/big", start=-9, end=-2) == big[-9:-2])
with fs.open("s3fs-py/dir/big", "ab", block_size=5 * MiB) as file:
    file.write(b"appended")
with fs.open("s3fs-py/log.txt", "w") as file:
    file.write("one\n")
with fs.open("s3fs-py/log.txt", "a") as file:
    file.write("two é\n")
ok("append, to a file of parts and to a small one", fs.cat("s3fs-py/dir/big") == big + b"appended", fs.cat("s3fs-py/log.txt").decode() == "one\ntwo é\n")
fs.pipe({f"s3fs-py/tree/{name}": name.encode() for name in ["a.csv", "b/c.csv", "b/d.txt", "b/e f+%20é/g.csv"]})
fs.touch("s3fs-py/tree/empty")
fs.touch("s3fs-py/tree/folder/")
walked = [(at.removeprefix("s3fs-py/tree"), sorted(below), sorted(files)) for at, below, files in fs.walk("s3fs-py/tree")]
ok("glob, find, walk, du", fs.glob("s3fs-py/tree/**/*.csv") == [f"s3fs-py/tree/{n}" for n in ["a.csv", "b/c.csv", "b/e f+%20é/g.csv"]], fs.glob("s3fs-py/tree/?/*.txt") == ["s3fs-py/tree/b/d.txt"], len(fs.find("s3fs-py/tree")) >= 5, walked[0] == ("", ["b", "folder"], ["a.csv", "empty"]), ("/b/e f+%20é", [], ["g.csv"]) in walked, fs.du("s3fs-py/tree") == 5 + 7 + 7 + 16 + 1 or fs.du("s3fs-py/tree"))
ok("info", fs.isfile("s3fs-py/tree/empty"), fs.isdir("s3fs-py/tree/b"), fs.info("s3fs-py/tree/b/c.csv")["size"] == 7, fs.info("s3fs-py/tree/b/c.csv")["ETag"].strip('"') == hashlib.md5(b"b/c.csv").hexdigest(), fails(FileNotFoundError, lambda: fs.info("s3fs-py/none")), fails(FileNotFoundError, lambda: fs.open("s3fs-none/x", "rb").read()))
fs.cp("s3fs-py/tree/b/", "s3fs-py/copy/", recursive=True)
fs.mv("s3fs-py/copy/c.csv", "s3fs-py/moved.csv")
fs.cp_file("s3fs-py/dir/big", "s3fs-py/dir/again")
ok("cp, mv", sorted(fs.find("s3fs-py/copy")) == ["s3fs-py/copy/d.txt", "s3fs-py/copy/e f+%20é/g.csv"], fs.cat("s3fs-py/moved.csv") == b"b/c.csv", fs.cat("s3fs-py/dir/again") == big + b"appended")
other = fsspec.filesystem("s3", **{**fs.storage_options, "skip_instance_cache": True})
before = other.ls("s3fs-py/tree")
fs.pipe("s3fs-py/tree/later", b"later")
ok("what others listed stays so until they ask again", other.ls("s3fs-py/tree") == before, other.ls("s3fs-py/tree", refresh=True) != before, (other.invalidate_cache(), other.cat("s3fs-py/tree/later"))[1] == b"later")
with open("s3fs.big", "wb") as file:
    file.write(big)
fs.put("s3fs.big", "s3fs-py/put")
fs.get("s3fs-py/tree", "s3fs.tree", recursive=True)
fs.get("s3fs-py/put", "s3fs.back")
ok("put, get", open("s3fs.back", "rb").read() == big, open("s3fs.tree/b/e f+%20é/g.csv").read() == "b/e f+%20é/g.csv")
with fs.transaction:
    with fs.open("s3fs-py/atomic", "wb") as file:
        file.write(b"all or nothing")
    unseen = not other.exists("s3fs-py/atomic")
ok("a transaction", unseen, fs.cat("s3fs-py/atomic") == b"all or nothing")
fs.setxattr("s3fs-py/moved.csv", copy_kwargs={"ContentType": "text/csv"}, who="me")
fs.put_tags("s3fs-py/moved.csv", {"a": "b"})
ok("metadata and tags", fs.metadata("s3fs-py/moved.csv", refresh=True)["who"] == "me", fs.getxattr("s3fs-py/moved.csv", "who") == "me", fs.get_tags("s3fs-py/moved.csv") == {"a": "b"}, fs.cat("s3fs-py/moved.csv") == b"b/c.csv")
with urllib.request.urlopen(fs.url("s3fs-py/moved.csv")) as answer:
    ok("a URL for others", answer.read() == b"b/c.csv")
fs.rm("s3fs-py/tree", recursive=True)
ok("rm", not fs.exists("s3fs-py/tree"), fails(FileNotFoundError, lambda: fs.cat("s3fs-py/tree/a.csv")))
fs.rm("s3fs-py", recursive=True)
ok("nothing is left", not fs.exists("s3fs-py"), "s3fs-py" not in fs.ls("", refresh=True))
