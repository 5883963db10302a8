#!/bin/sh
# Makes the certificates of the sender's tests again. Test only: the key is public, and no product
# code trusts any of these. Valid from 2020 to 2126, but for the expired one. The authorities' keys
# are not kept, so that no more can be signed.
set -eu
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# `openssl ca`, for all its ceremony, is the one command of OpenSSL 3.0 that takes both dates.
cat >"$scratch/ca.cnf" <<END
[ca]
default_ca = test
[test]
database = $scratch/index
new_certs_dir = $scratch
rand_serial = yes
unique_subject = no
policy = any
[any]
commonName = supplied
[req]
distinguished_name = dn
[dn]
END
: >"$scratch/index"

sign() { # output, digest, last day, extensions, then who signs
  output=$1 digest=$2 last=$3 extensions=$4
  shift 4
  printf '%b\n' "$extensions" >"$scratch/extensions"
  openssl ca -batch -notext -config "$scratch/ca.cnf" -md "$digest" -startdate 20200101000000Z \
    -enddate "$last" -extfile "$scratch/extensions" -in "$scratch/request" -out "$output" "$@"
}
request() { # key, common name
  openssl req -new -config "$scratch/ca.cnf" -key "$1" -subj "/CN=$2" -out "$scratch/request"
}
authority() { # name, common name
  openssl ecparam -name prime256v1 -genkey -noout -out "$scratch/$1.key"
  request "$scratch/$1.key" "$2"
  sign "$scratch/$1.pem" sha256 "$forever" 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\nsubjectKeyIdentifier=hash' \
    -selfsign -keyfile "$scratch/$1.key"
}
leaf() { # output, authority, alternative names, digest, last day
  request server.key 'Paybell test receiver'
  sign "$1" "$4" "$5" "subjectAltName=$3\nextendedKeyUsage=serverAuth\nauthorityKeyIdentifier=keyid" \
    -cert "$scratch/$2.pem" -keyfile "$scratch/$2.key"
}

forever=21260101000000Z
names='DNS:receiver.example.test,DNS:localhost,IP:127.0.0.1,IP:::1'
openssl ecparam -name prime256v1 -genkey -noout -out server.key
authority ca 'Paybell test authority'
authority unknown 'An authority nobody knows'
cp "$scratch/ca.pem" ca.pem
leaf good.pem ca "$names" sha256 "$forever"
leaf expired.pem ca "$names" sha256 20210101000000Z
leaf wrong-name.pem ca 'DNS:other.example.test' sha256 "$forever"
leaf unknown-ca.pem unknown "$names" sha256 "$forever"
leaf sha1.pem ca "$names" sha1 "$forever"
request server.key 'Paybell test receiver'
sign self-signed.pem sha256 "$forever" "subjectAltName=$names" -selfsign -keyfile server.key
chmod 644 server.key
