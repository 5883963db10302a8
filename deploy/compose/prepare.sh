#!/bin/sh
# Makes what compose.yml needs: .env with the name, and each secret in a file that only its reader can read.
#   sudo ./prepare.sh payments.example.com
# What exists already stays as it is: a master key that is replaced opens nothing that was sealed before.
set -eu
cd "$(dirname "$0")"
host=${1:?'say under which name clients reach the service: prepare.sh payments.example.com'}
umask 077
mkdir -p secrets

# Writes what comes in to secrets/$1, for the user $2 of its container.
keep() {
  if [ -e "secrets/$1" ]; then
    cat >/dev/null
  else
    cat >"secrets/$1"
    chmod 400 "secrets/$1"
  fi
  chown "$2" "secrets/$1"
}
random() { head -c "$1" /dev/urandom | od -An -vtx1 | tr -d ' \n'; }

# By the numbers that their images give postgres, paybell and grafana.
random 24 | keep postgres_password 999
printf 'postgres://paybell:%s@postgres/paybell' "$(cat secrets/postgres_password)" | keep database_url 10001
head -c 32 /dev/urandom | base64 | keep master_key 10001
random 32 | keep operator_key 10001
random 16 | keep grafana_password 472

[ -e .env ] || printf 'PAYBELL_HOST=%s\n' "$host" >.env
chmod 644 .env
echo "Ready. Keep a copy of $(pwd)/secrets/master_key apart from the database's backups, then: docker compose up -d"
