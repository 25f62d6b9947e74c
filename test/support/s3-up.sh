#!/usr/bin/env bash
# A real S3 server for the tests: one Ceph cluster (monitor, object store in memory, radosgw) in a folder, on loopback.
#   apt-get install -y --no-install-recommends radosgw ceph-mon ceph-osd
#   s3-up.sh start FOLDER [PORT]     as root; S3 listens on PORT (7480), the monitor on the two ports after it
#   s3-up.sh stop FOLDER             ends what was started in FOLDER
# Two users: `drillproof-test` with the secret `drillproof-secret` may make buckets; `stranger` with
# `stranger-secret` owns nothing.
set -Eeuo pipefail

usage() { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }

stop() {
  local name pid
  for name in client.rgw.s3 osd.0 mon.s3; do
    pid=$(cat "$home/run/$name.pid" 2>/dev/null) || continue
    kill "$pid" 2>/dev/null || continue
    for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -9 "$pid" 2>/dev/null || true
  done
}

# `until_true SECONDS COMMAND…` asks twice a second.
until_true() {
  local tries=$(($1 * 2))
  shift
  while ! "$@" >/dev/null 2>&1; do
    ((tries-- > 0)) || { echo "s3-up: gave up waiting for: $*" >&2; return 1; }
    sleep 0.5
  done
}

answers() { (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

configure() {
  cat >"$home/ceph.conf" <<CONF
[global]
fsid = $cluster
mon host = $monitor
public addr = 127.0.0.1
keyring = $home/keyring
run dir = $home/run
pid file = $home/run/\$name.pid
admin socket = $home/run/\$name.sock
log file = $home/log/\$name.log
mon data = $home/mon
osd data = $home/osd
rgw data = $home/rgw
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
mon allow pool size one = true
osd objectstore = memstore
memstore device bytes = 2147483648
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pg autoscale mode = off
[client.rgw.s3]
rgw frontends = beast endpoint=127.0.0.1:$port tcp_nodelay=1
rgw dns name = 127.0.0.1
rgw thread pool size = 32
CONF
}

credential() { ceph-authtool "$home/keyring" --gen-key -n "$@" >/dev/null; }

credentials() {
  ceph-authtool "$home/keyring" --create-keyring --gen-key -n mon. --cap mon 'allow *' >/dev/null
  credential client.admin --cap mon 'allow *' --cap osd 'allow *'
  credential osd.0 --cap mon 'allow profile osd' --cap osd 'allow *'
  credential client.rgw.s3 --cap mon 'allow rwx' --cap osd 'allow rwx'
}

start_monitor() {
  monmaptool --create --fsid "$cluster" --addv s3 "$monitor" "$home/monmap" >/dev/null
  ceph-mon --mkfs -i s3 --monmap "$home/monmap" --keyring "$home/keyring"
  ceph-mon -i s3
}

start_object_store() {
  local uuid
  uuid=$(cat /proc/sys/kernel/random/uuid)
  timeout 30 ceph osd new "$uuid" >/dev/null
  timeout 30 ceph auth import -i "$home/keyring" >/dev/null 2>&1
  cp "$home/keyring" "$home/osd/keyring"
  ceph-osd -i 0 --mkfs --osd-uuid "$uuid"
  timeout 30 ceph osd crush add osd.0 1.0 root=default host=local >/dev/null 2>&1
  ceph-osd -i 0
  until_true 30 bash -c 'timeout 10 ceph osd stat | grep -q "1 up"'
}

user() { timeout 60 radosgw-admin user create --uid="$1" --display-name="$1" --access-key="$1" --secret="$2" >/dev/null 2>&1; }

start() {
  if [[ -n $(ls -A "$home" 2>/dev/null) && ! -f $home/ceph.conf ]]; then
    echo "s3-up: $home holds something else" >&2
    exit 2
  fi
  if answers; then
    echo "s3-up: something else listens on port $port" >&2
    exit 1
  fi
  rm -rf "$home"
  mkdir -p "$home"/{mon,osd,rgw,run,log}
  cluster=$(cat /proc/sys/kernel/random/uuid)
  monitor="[v2:127.0.0.1:$((port + 1)),v1:127.0.0.1:$((port + 2))]"
  configure
  export CEPH_CONF=$home/ceph.conf
  trap stop ERR
  credentials
  start_monitor
  start_object_store
  radosgw -n client.rgw.s3
  until_true 60 answers
  user drillproof-test drillproof-secret
  user stranger stranger-secret
  echo "http://127.0.0.1:$port"
}

[[ $# -ge 2 && $# -le 3 ]] || usage
home=$(realpath -m "$2")
port=${3:-7480}
case $1 in
  start) start ;;
  stop) stop ;;
  *) usage ;;
esac
