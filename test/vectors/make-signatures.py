"""Makes signatures.json with Python's own hmac: a second implementation, which shares nothing with the
server. Run it by hand when cases are added: python3 test/vectors/make-signatures.py"""

import base64
import hashlib
import hmac
import json
import pathlib

PAYMENT = (
    '{"id":"5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a01","status":{"state":"DUE"},"complete":false,'
    '"createdAt":"2026-01-31T09:30:00Z","externalId":"EXT-1",'
    '"quoteId":"5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a02","amount":{"amount":100.00,"currency":"EUR"},'
    '"reference":"%s","purposeOfPayment":"OTHER",'
    '"beneficiaryId":"5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a03"%s}'
)
PLAIN = PAYMENT % ("Invoice 17", "")
WITH_DOCUMENT = PAYMENT % (
    "Invoice 17",
    ',"document":{"mediaType":"application/pdf","name":"receipt.pdf","base64EncodedFile":"JVBERi0="}',
)
NON_ASCII = PAYMENT % ("Überweisung für 東京 🔔", "")
ID = "019c0b8e-3c00-7000-8000-000000000001"
AT = 1769851800

CASES = [
    ("ASCII key and body", "a shared key of the client", PLAIN),
    ("non-ASCII body", "a shared key of the client", NON_ASCII),
    ("a body with a document", "a shared key of the client", WITH_DOCUMENT),
    ("an empty body", "a shared key of the client", ""),
    ("a key with spaces at the ends", "  spaces  ", PLAIN),
    ("a key with quotes", "\"double\" and 'single'", PLAIN),
    ("a key with percent signs", "100%25%", PLAIN),
    ("a key with é, composed", "caf\u00e9", PLAIN),
    ("a key with é, decomposed: another key", "cafe\u0301", PLAIN),
    ("a key of one character", "k", PLAIN),
    ("a key of 256 characters", "0123456789abcdef" * 16, PLAIN),
    ("a key of 256 characters of four bytes", "\U0001f514" * 256, NON_ASCII),
    ("a key that looks like base64", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", PLAIN),
    ("a key that looks like a Standard Webhooks secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", PLAIN),
]

# RFC 4231, section 4: keys and data in hexadecimal, HMAC-SHA-256 as printed there.
RFC_4231 = [
    ("1", "0b" * 20, "4869205468657265", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    ("2", "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    ("3", "aa" * 20, "dd" * 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    ("4", "0102030405060708090a0b0c0d0e0f10111213141516171819", "cd" * 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    ("6", "aa" * 131, "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374", "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
    ("7", "aa" * 131, "5468697320697320612074657374207573696e672061206c6172676572207468616e20626c6f636b2d73697a65206b657920616e642061206c6172676572207468616e20626c6f636b2d73697a6520646174612e20546865206b6579206e6565647320746f20626520686173686564206265666f7265206265696e6720757365642062792074686520484d414320616c676f726974686d2e", "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
]


def case(name, key, body):
    secret = key.encode("utf-8")
    bytes_ = body.encode("utf-8")
    signed = f"{ID}.{AT}.".encode() + bytes_
    return {
        "name": name,
        "sharedKey": key,
        "body": body,
        "webhookId": ID,
        "webhookTimestamp": AT,
        "hmac": hmac.new(secret, bytes_, hashlib.sha256).hexdigest(),
        "webhookSignature": "v1," + base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode(),
    }


def rfc_case(number, key, data, expected):
    made = hmac.new(bytes.fromhex(key), bytes.fromhex(data), hashlib.sha256).hexdigest()
    assert made == expected, number
    return {"name": f"RFC 4231, test case {number}", "keyHex": key, "dataHex": data, "hmac": expected}


vectors = {
    "about": "Made by make-signatures.py with Python's hmac. hmac is X-Paybell-Hmac; the key is the UTF-8 of sharedKey.",
    "callbacks": [case(*each) for each in CASES],
    "rfc4231": [rfc_case(*each) for each in RFC_4231],
}
path = pathlib.Path(__file__).with_name("signatures.json")
path.write_text(json.dumps(vectors, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
