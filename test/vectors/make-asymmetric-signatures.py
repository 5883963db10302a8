"""Writes asymmetric-signatures.json: keys, callbacks and forgeries of them, signed by OpenSSL and by
Python's hmac: the server and the SDK are not the judges of themselves. Run it by hand when cases are added:
python3 test/vectors/make-asymmetric-signatures.py"""

import base64
import hashlib
import hmac
import json
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
TIMESTAMP = 1769851800
SHARED_KEY = "a shared key of the client"
PKCS8 = bytes.fromhex("302e020100300506032b657004220420")
# The order of the group (RFC 8032, section 5.1).
ORDER = 2**252 + 27742317777372353535851937790883648493


def openssl(*args, given=b""):
    return subprocess.run(["openssl", *args], input=given, capture_output=True, check=True).stdout


def pem(seed):
    text = base64.b64encode(PKCS8 + seed).decode()
    return f"-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n".encode()


def sign(seed, content):
    with tempfile.NamedTemporaryFile() as key, tempfile.NamedTemporaryFile() as data:
        key.write(pem(seed))
        key.flush()
        data.write(content)
        data.flush()
        args = ["pkeyutl", "-sign", "-inkey", key.name, "-rawin", "-in", data.name]
        return openssl(*args)


def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def make_key(kid, name):
    seed = hashlib.sha256(f"paybell test vector, {name} key".encode()).digest()
    public = openssl("pkey", "-pubout", "-outform", "DER", given=pem(seed))[-32:]
    x = url64(public)
    jwk = {"kty": "OKP", "crv": "Ed25519", "x": x, "kid": kid, "use": "sig", "alg": "EdDSA"}
    whpk = "whpk_" + base64.b64encode(public).decode()
    return seed, {"name": name, "kid": kid, "d": url64(seed), "whpk": whpk, "jwk": {**jwk, "whpk": whpk}}


KEYS = [
    make_key("019c0b8e-3c00-7000-8000-00000000a002", "current"),
    make_key("019c0b8e-3c00-7000-8000-00000000a001", "previous"),
    make_key("019c0b8e-3c00-7000-8000-00000000a00f", "strange"),
]
SEEDS = {key["name"]: seed for seed, key in KEYS}
KIDS = {key["name"]: key["kid"] for _, key in KEYS}


def content(callback):
    head = f"{callback['webhookId']}.{callback['webhookTimestamp']}."
    return head.encode() + callback["body"].encode()


def v1(callback):
    digest = hmac.new(SHARED_KEY.encode(), content(callback), hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def v1a(callback, name):
    return "v1a," + base64.b64encode(sign(SEEDS[name], content(callback))).decode()


def signed(name, body, keys=("current",), webhook_id="019c0b8e-3c00-7000-8000-000000000001"):
    callback = {
        "name": name,
        "sharedKey": SHARED_KEY,
        "body": body,
        "webhookId": webhook_id,
        "webhookTimestamp": TIMESTAMP,
        "keyId": KIDS[keys[0]],
    }
    callback["hmac"] = hmac.new(SHARED_KEY.encode(), body.encode(), hashlib.sha256).hexdigest()
    entries = [v1(callback), *(v1a(callback, key) for key in keys)]
    return {**callback, "webhookSignature": " ".join(entries)}


def added_order(entry):
    raw = base64.b64decode(entry.split(",")[1])
    s = int.from_bytes(raw[32:], "little") + ORDER
    return "v1a," + base64.b64encode(raw[:32] + s.to_bytes(32, "little")).decode()


def forgeries(good):
    hmac_entry, entry = good["webhookSignature"].split(" ")
    other = {**good, "webhookTimestamp": TIMESTAMP + 1}
    cases = {
        "the body has one byte more": {"body": good["body"] + "\n"},
        "signed at another time": {"webhookTimestamp": TIMESTAMP + 1},
        "signed for another event": {"webhookId": "019c0b8e-3c00-7000-8000-000000000002"},
        "signed with a key that is not published": {"webhookSignature": v1a(good, "strange")},
        "signed over another time": {"webhookSignature": v1a(other, "current")},
        "an HMAC that is called v1a": {"webhookSignature": "v1a," + hmac_entry[3:]},
        "a signature that is called v1": {"webhookSignature": "v1," + entry[4:]},
        "no v1a": {"webhookSignature": hmac_entry},
        "cut off": {"webhookSignature": entry[:-4]},
        "S plus the order of the group, which RFC 8032 refuses": {
            "webhookSignature": added_order(entry)
        },
        "nothing but zeros": {"webhookSignature": "v1a," + "A" * 86 + "=="},
    }
    return [{**good, **changes, "name": name} for name, changes in cases.items()]


with open(HERE / "signatures.json", encoding="utf-8") as file:
    bodies = {one["name"]: one["body"] for one in json.load(file)["callbacks"]}

plain = bodies["ASCII key and body"]
callbacks = [
    signed("ASCII body", plain),
    signed("non-ASCII body", bodies["non-ASCII body"]),
    signed("a body with a document", bodies["a body with a document"]),
    signed("an empty body", ""),
    signed("for 7 days after a rotation two keys sign", plain, ("current", "previous")),
    signed("from before a rotation", plain, ("previous",)),
]
rfc8032 = [
    {
        "name": f"RFC 8032, section 7.1, test {number}",
        "seedHex": seed,
        "publicHex": public,
        "messageHex": message,
        "signatureHex": signature,
    }
    for number, seed, public, message, signature in [
        (
            1,
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555"
            "fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            2,
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da0"
            "85ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
        (
            3,
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac1"
            "8ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    ]
]
about = (
    "Made by make-asymmetric-signatures.py with OpenSSL. v1a of webhookSignature is Ed25519 over "
    "webhookId.webhookTimestamp.body; v1 and hmac are those of signatures.json. Callbacks hold under the keys "
    "current and previous, forgeries under none. The private parts (d) are for tests and nothing else."
)
with open(HERE / "asymmetric-signatures.json", "w", encoding="utf-8") as file:
    keys = [key for _, key in KEYS]
    out = {
        "about": about,
        "keys": keys,
        "callbacks": callbacks,
        "forgeries": forgeries(callbacks[0]),
        "rfc8032": rfc8032,
    }
    json.dump(out, file, indent=2, ensure_ascii=False)
    file.write("\n")
