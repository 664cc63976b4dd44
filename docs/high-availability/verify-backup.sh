#!/bin/sh
# verify-backup.sh [folder of node_exporter] [folder with room for the database]
# Restores the newest backup beside everything, replays the archived log to its end, and checks every table and index.
# If all is well, it writes when that backup was made; ParcelhookBackupOld watches that. Runs as postgres.
set -eu
textfiles=${1:-/var/lib/prometheus/node-exporter}
bin=/usr/lib/postgresql/15/bin
scratch=$(mktemp -d "${2:-/var/tmp}/verify-backup.XXXXXX")
data=$scratch/data
end() {
  [ ! -e "$data/postmaster.pid" ] || "$bin/pg_ctl" --silent --pgdata="$data" --mode=immediate stop || :
  rm -rf "$scratch"
}
trap end EXIT
trap 'exit 1' HUP INT TERM

backups=$(pgbackrest --stanza=parcelhook --output=json info)
newest() { printf '%s' "$backups" | grep -o "\"$1\":\"\?[0-9][0-9A-Z_-]*" | tail -n 1 | grep -o '[0-9][0-9A-Z_-]*$'; }
label=$(newest label)
made_at=$(newest stop)
last=$(newest max)

mkdir -m 700 "$data"
# It never archives: what it writes is not of the primary's log.
pgbackrest --stanza=parcelhook --set="$label" --pg1-path="$data" --archive-mode=off restore
# Only this script reaches it. Without hot_standby it takes connections once the whole log is replayed.
printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$scratch'" 'hot_standby = off' >"$data/postgresql.conf"
echo 'local all postgres trust' >"$data/pg_hba.conf"
export PGHOST="$scratch" PGUSER=postgres
"$bin/pg_ctl" --silent --pgdata="$data" --log="$scratch/log" start || :
until "$bin/pg_isready" --quiet; do
  "$bin/pg_ctl" --silent --pgdata="$data" status >/dev/null || {
    tail "$scratch/log" >&2
    exit 1
  }
  sleep 1
done
"$bin/pg_amcheck" --install-missing --heapallindexed --parent-check --jobs=2 parcelhook
# A segment that is missing from the archive ends the replay, without an error.
is_whole="substr(pg_walfile_name(pg_last_wal_replay_lsn()), 9) >= substr('$last', 9)"
if [ "$("$bin/psql" --no-psqlrc -At --command "select $is_whole" parcelhook)" != t ]; then
  echo "The archived log has a gap before $last." >&2
  exit 1
fi

echo "parcelhook_backup_verified_timestamp_seconds $made_at" >"$textfiles/backup.prom.new"
chmod 644 "$textfiles/backup.prom.new"
mv "$textfiles/backup.prom.new" "$textfiles/backup.prom"
echo "Backup $label is verified, with the log up to $last."
